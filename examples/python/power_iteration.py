#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The largest eigenvalue of a matrix by power iteration."""

import numpy as np
from example import options, run, tree


@tree
def power_iteration(a, x, most, tolerance):
    value = 0.0
    for step in range(most):
        y = a @ x
        norm = np.sqrt((y * y).sum())
        x = y / norm
        if abs(norm - value) < tolerance * norm:
            break
        value = norm
    else:
        step = most
    return norm, x, step


def main():
    given = options(__doc__, size=1500, most=200, tolerance=1e-12)
    generator = np.random.default_rng(1)
    a = generator.random((given.size, given.size))
    a = a + a.T
    value, _, step = run(power_iteration, lambda: (a, np.ones(given.size), given.most, given.tolerance), given)
    print(f"  {value:.6f} after {step} steps")


if __name__ == "__main__":
    main()
