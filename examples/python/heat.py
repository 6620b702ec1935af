#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Heat in a plate: each point moves towards the mean of its four neighbours."""

import numpy as np
from example import options, run, tree


@tree
def heat(plate, rate, steps):
    for _ in range(steps):
        inner = plate[1:-1, 1:-1]
        change = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:] - 4.0 * inner
        plate[1:-1, 1:-1] = inner + rate * change
    return plate


def main():
    given = options(__doc__, size=1000, steps=20, rate=0.2)

    def plate():
        made = np.zeros((given.size, given.size))
        made[0] = 100.0
        return made
    result = run(heat, lambda: (plate(), given.rate, given.steps), given)
    print(f"  mean {result.mean():.6f}")


if __name__ == "__main__":
    main()
