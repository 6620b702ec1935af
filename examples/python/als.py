#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Alternating least squares for implicit feedback, after Hu, Koren and Volinsky (2008).

Minimises sum of c (p - x y)^2 + regularization (|X|^2 + |Y|^2) over users x and items y, with p = 1 where there is a rating
and c = 1 + alpha * rating. Three forms: dense matrices as the method is written down; the same with users and items in
parallel; only the ratings that there are, with Cholesky. X is new when Y is computed from it.
"""

import numpy as np
from example import options, prange, run, tree


@tree
def als_dense(ratings, X, Y, alpha, regularization, iterations):
    users, items = ratings.shape
    confidence = alpha * ratings
    preference = np.where(ratings != 0, 1.0, 0.0)
    weights = regularization * np.eye(X.shape[1])
    one_user, one_item = np.eye(users), np.eye(items)
    for _ in range(iterations):
        YtY = np.dot(Y.T, Y) + weights
        for u in range(users):
            c = np.diag(confidence[u])
            A = np.dot(np.dot(Y.T, c), Y) + YtY
            b = np.dot(np.dot(Y.T, c + one_item), preference[u])
            X[u] = np.dot(np.linalg.inv(A), b)
        XtX = np.dot(X.T, X) + weights
        for i in range(items):
            c = np.diag(confidence[:, i])
            A = np.dot(np.dot(X.T, c), X) + XtX
            b = np.dot(np.dot(X.T, c + one_user), preference[:, i])
            Y[i] = np.dot(np.linalg.inv(A), b)
    return X, Y


@tree
def als_parallel(ratings, X, Y, alpha, regularization, iterations):
    users, items = ratings.shape
    confidence = alpha * ratings
    preference = np.where(ratings != 0, 1.0, 0.0)
    weights = regularization * np.eye(X.shape[1])
    one_user, one_item = np.eye(users), np.eye(items)
    for _ in range(iterations):
        YtY = np.dot(Y.T, Y) + weights
        for u in prange(users):
            c = np.diag(confidence[u])
            A = np.dot(np.dot(Y.T, c), Y) + YtY
            b = np.dot(np.dot(Y.T, c + one_item), preference[u])
            X[u] = np.dot(np.linalg.inv(A), b)
        XtX = np.dot(X.T, X) + weights
        for i in prange(items):
            c = np.diag(confidence[:, i])
            A = np.dot(np.dot(X.T, c), X) + XtX
            b = np.dot(np.dot(X.T, c + one_user), preference[:, i])
            Y[i] = np.dot(np.linalg.inv(A), b)
    return X, Y


@tree
def half_step(starts, columns, values, X, Y, alpha, regularization):
    """New rows of X from Y: row u has the ratings values[starts[u]:starts[u + 1]] of the items columns[...]."""
    YtY = Y.T @ Y + regularization * np.eye(X.shape[1])
    for u in prange(X.shape[0]):
        first, last = starts[u], starts[u + 1]
        Yu = Y[columns[first:last]]
        c = alpha * values[first:last]
        L = np.linalg.cholesky((Yu.T * c) @ Yu + YtY)
        b = Yu.T @ (c + 1.0)
        X[u] = np.linalg.solve(L.T, np.linalg.solve(L, b))


@tree
def als_sparse(by_user, by_item, X, Y, alpha, regularization, iterations):
    user_starts, user_columns, user_values = by_user
    item_starts, item_columns, item_values = by_item
    for _ in range(iterations):
        half_step(user_starts, user_columns, user_values, X, Y, alpha, regularization)
        half_step(item_starts, item_columns, item_values, Y, X, alpha, regularization)
    return X, Y


def objective(ratings, X, Y, alpha, regularization):
    """What the method makes small."""
    errors = (1.0 + alpha * ratings) * ((ratings != 0) - X @ Y.T) ** 2
    return errors.sum() + regularization * ((X ** 2).sum() + (Y ** 2).sum())


def rows_of(ratings):
    """(starts, columns, values) of the elements of a dense matrix that are not 0."""
    counts = (ratings != 0).sum(axis=1)
    rows, columns = np.nonzero(ratings)
    return np.concatenate(([0], np.cumsum(counts))), columns, ratings[rows, columns]


def make_ratings(users, items, density, seed=1):
    """Ratings from 1 to 5 at random places."""
    generator = np.random.default_rng(seed)
    return np.where(generator.random((users, items)) < density, generator.integers(1, 6, (users, items)), 0).astype(float)


def main():
    given = options(__doc__.splitlines()[0], users=100, items=80, factors=10, iterations=3, alpha=40.0, regularization=0.1,
                    density=0.1)
    ratings = make_ratings(given.users, given.items, given.density)
    numbers = (given.alpha, given.regularization, given.iterations)

    def factors():
        generator = np.random.default_rng(2)
        return generator.random((given.users, given.factors)), generator.random((given.items, given.factors))

    sparse = (rows_of(ratings), rows_of(ratings.T))
    before = objective(ratings, *factors(), *numbers[:2])
    for function, data in ((als_dense, (ratings,)), (als_parallel, (ratings,)), (als_sparse, sparse)):
        result = run(function, lambda data=data: (*data, *factors(), *numbers), given, tolerance=1e-6)
        print(f"  objective: {before:.1f}, then {objective(ratings, *result, *numbers[:2]):.6f}")


if __name__ == "__main__":
    main()
