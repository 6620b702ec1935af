#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Logistic regression by gradient descent."""

import numpy as np
from example import options, run, tree


@tree
def logistic_regression(x, y, rate, iterations):
    weights = np.zeros(x.shape[1])
    for _ in range(iterations):
        probability = 1.0 / (1.0 + np.exp(-(x @ weights)))
        weights = weights - rate / len(y) * (x.T @ (probability - y))
    return weights


def main():
    given = options(__doc__, rows=200_000, features=20, iterations=20, rate=0.5)
    generator = np.random.default_rng(1)
    x = generator.normal(size=(given.rows, given.features))
    y = (x @ generator.normal(size=given.features) + generator.normal(size=given.rows) > 0).astype(float)
    weights = run(logistic_regression, lambda: (x, y, given.rate, given.iterations), given)
    print(f"  right: {100 * np.mean((x @ weights > 0) == (y > 0)):.1f} %")


if __name__ == "__main__":
    main()
