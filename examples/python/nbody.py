#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Bodies that attract each other: all pairs, leapfrog steps."""

import numpy as np
from example import options, run, tree


@tree
def accelerations(position, mass, softening):
    apart = position[None, :, :] - position[:, None, :]
    squares = (apart * apart).sum(axis=2) + softening * softening
    weight = mass / (squares * np.sqrt(squares))
    return (weight[:, :, None] * apart).sum(axis=1)


@tree
def nbody(position, velocity, mass, time_step, steps, softening=0.05):
    acceleration = accelerations(position, mass, softening)
    for _ in range(steps):
        velocity = velocity + 0.5 * time_step * acceleration
        position = position + time_step * velocity
        acceleration = accelerations(position, mass, softening)
        velocity = velocity + 0.5 * time_step * acceleration
    return position, velocity


def energy(position, velocity, mass, softening=0.05):
    apart = position[None, :, :] - position[:, None, :]
    distance = np.sqrt((apart ** 2).sum(axis=2) + softening ** 2)
    pairs = mass[:, None] * mass[None, :] / distance
    return 0.5 * (mass * (velocity ** 2).sum(axis=1)).sum() - 0.5 * (pairs.sum() - np.trace(pairs))


def main():
    given = options(__doc__, bodies=500, steps=10, time_step=0.001)
    generator = np.random.default_rng(1)
    position, velocity = generator.normal(size=(given.bodies, 3)), generator.normal(size=(given.bodies, 3)) * 0.3
    mass = np.full(given.bodies, 1.0 / given.bodies)
    result = run(nbody, lambda: (position, velocity, mass, given.time_step, given.steps), given)
    print(f"  energy {energy(position, velocity, mass):.6f}, then {energy(*result, mass):.6f}")


if __name__ == "__main__":
    main()
