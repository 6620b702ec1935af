#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""k-means: points join the nearest centre, centres move to the mean of their points."""

import numpy as np
from example import options, run, tree


@tree
def kmeans(points, centres, iterations):
    for _ in range(iterations):
        squares = (centres * centres).sum(axis=1) - 2.0 * (points @ centres.T)
        nearest = np.argmin(squares, axis=1)
        for k in range(len(centres)):
            members = points[nearest == k]
            if len(members) > 0:
                centres[k] = members.mean(axis=0)
    return centres, nearest


def main():
    given = options(__doc__, points=100_000, dimensions=8, clusters=10, iterations=10)
    generator = np.random.default_rng(1)
    middles = generator.normal(size=(given.clusters, given.dimensions)) * 5
    points = middles[generator.integers(0, given.clusters, given.points)] + generator.normal(
        size=(given.points, given.dimensions))
    run(kmeans, lambda: (points, points[:given.clusters].copy(), given.iterations), given)


if __name__ == "__main__":
    main()
