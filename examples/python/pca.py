#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Principal component analysis: the directions in which points vary most."""

import numpy as np
from example import options, run, tree


@tree
def pca(points, count):
    centred = points - points.mean(axis=0)
    covariance = centred.T @ centred / (len(points) - 1)
    values, vectors = np.linalg.eigh(covariance)
    order = np.argsort(values)[::-1][:count]
    components = vectors[:, order]
    # An eigenvector is one up to its sign: the sum of each becomes positive.
    components = components * np.where(components.sum(axis=0) < 0, -1.0, 1.0)
    return values[order], components, centred @ components


def main():
    given = options(__doc__, points=100_000, dimensions=40, components=3)
    generator = np.random.default_rng(1)
    points = generator.normal(size=(given.points, given.dimensions)) * np.linspace(3.0, 0.1, given.dimensions)
    values, _, _ = run(pca, lambda: (points, given.components), given, tolerance=1e-6)
    print("  variances:", np.round(values, 3))


if __name__ == "__main__":
    main()
