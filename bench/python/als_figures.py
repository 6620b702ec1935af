#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Alternating least squares (see examples/python/als.py) as a tree, beside NumPy, and beside Numba and, for the shapes, implicit
where they are installed. Figures: rules of inlining, many short iterations, matrices of several shapes. Every answer is compared
with NumPy's.

Usage: build/python/venv/bin/python bench/python/als_figures.py [--quick] [--repeat N] [--only FIGURE]
Prints a table for each figure: median, least and most of N runs in ms, and the median over NumPy's. All contenders of a figure
run in turn, N times; one run before that is not counted. Numba and implicit: pip install numba implicit.
"""

import argparse
import functools
import os
import statistics
import sys
import time
import types
import warnings

import numpy as np
import quern
from quern import prange

RULES = ("never", "always", "baseline", "adaptive", "quern")
FACTORS, ALPHA, REGULARIZATION, TOLERANCE = 10, 40.0, 0.1, 1e-6
# (figure, [(users, items, iterations)]), in full and with --quick.
FIGURES = {
    "rules": ([(400, 400, 10)], [(60, 40, 2)]),
    "short": ([(10, 5, n) for n in (2000, 3000, 4000, 5000)], [(10, 5, 50)]),
    "shapes": ([(100, 5000, 1), (500, 2000, 1), (500, 5000, 1)], [(20, 200, 1)]),
}


def als(ratings, X, Y, alpha, regularization, iterations):
    users, items = ratings.shape
    confidence = alpha * ratings
    preference = np.where(ratings != 0, 1.0, 0.0)
    weights = regularization * np.eye(X.shape[1])
    for _ in range(iterations):
        YtY = np.dot(Y.T, Y) + weights
        for u in prange(users):
            c = confidence[u]
            A = np.dot(Y.T * c, Y) + YtY
            X[u] = np.linalg.solve(A, np.dot(Y.T, (c + 1.0) * preference[u]))
        XtX = np.dot(X.T, X) + weights
        for i in prange(items):
            d = confidence[:, i]
            B = np.dot(X.T * d, X) + XtX
            Y[i] = np.linalg.solve(B, np.dot(X.T, (d + 1.0) * preference[:, i]))
    return X, Y


def with_prange(loop):
    """The function with another prange."""
    return types.FunctionType(als.__code__, {**als.__globals__, "prange": loop}, "als")


def of_rule(rule):
    tree = quern.tree(small="tree")(als)
    return lambda *args: tree.run(*args, inlining=rule)


@functools.cache
def of_numba():
    """Compiled once. None where Numba is not installed."""
    try:
        import numba
    except ImportError as error:
        print(f"without Numba: {error}")
        return None
    warnings.simplefilter("ignore", numba.NumbaPerformanceWarning)
    return numba.njit(parallel=True)(with_prange(numba.prange))


@functools.cache
def of_implicit():
    """None where implicit is not installed. It stores only the ratings that there are, and wants one thread of BLAS."""
    try:
        import scipy.sparse
        import threadpoolctl
        from implicit.cpu.als import AlternatingLeastSquares
    except ImportError as error:
        print(f"without implicit: {error}")
        return None

    def run(ratings, X, Y, alpha, regularization, iterations):
        given = scipy.sparse.csr_matrix(ratings)
        given.data = 1.0 + alpha * given.data  # its confidence has no 1 of its own
        with threadpoolctl.threadpool_limits(1, "blas"):
            model = AlternatingLeastSquares(factors=X.shape[1], regularization=regularization, alpha=1.0, dtype=np.float64,
                                            use_cg=False, iterations=iterations, num_threads=os.cpu_count() or 1)
            model.user_factors, model.item_factors = X, Y
            model.fit(given, show_progress=False)
        return model.user_factors, model.item_factors
    return run


def contenders_of(figure):
    """Name -> function; NumPy first."""
    found = {"NumPy": with_prange(range)}
    rules = RULES if figure == "rules" else ("never", "quern")
    found |= {f"tree, {rule}": of_rule(rule) for rule in rules}
    others = {"Numba": of_numba()} | ({"implicit": of_implicit()} if figure == "shapes" else {})
    return found | {name: function for name, function in others.items() if function is not None}


def arguments(users, items, iterations):
    """New arrays each time: the factors are written to. A tenth of the ratings is there, from 1 to 5."""
    random = np.random.default_rng(1)
    ratings = np.where(random.random((users, items)) < 0.1, random.integers(1, 6, (users, items)), 0).astype(float)
    return ratings, random.random((users, FACTORS)), random.random((items, FACTORS)), ALPHA, REGULARIZATION, iterations


def difference(a, b):
    """The largest one, relative to the largest element."""
    return max(float(np.max(np.abs(np.asarray(x) - y)) / np.max(np.abs(y))) for x, y in zip(a, b, strict=True))


def measure(contenders, size, repeat):
    """Name -> ([ms], difference from NumPy)."""
    expected = contenders["NumPy"](*arguments(*size))
    found = {}
    for name, function in contenders.items():
        found[name] = ([], difference(function(*arguments(*size)), expected))
    for _ in range(repeat):
        for name, function in contenders.items():
            given = arguments(*size)
            begun = time.perf_counter()
            function(*given)
            found[name][0].append(1e3 * (time.perf_counter() - begun))
    return found


def print_table(figure, size, found):
    users, items, iterations = size
    print(f"\n{figure}: {users} x {items}, {iterations} iterations, {FACTORS} factors; load {os.getloadavg()[0]:.1f}")
    print(f"{'':18} {'median':>10} {'least':>10} {'most':>10} {'/ NumPy':>8} {'difference':>11}")
    base = statistics.median(found["NumPy"][0])
    for name, (times, apart) in found.items():
        middle = statistics.median(times)
        print(f"{name:18} {middle:10.1f} {min(times):10.1f} {max(times):10.1f} {middle / base:8.2f} {apart:11.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that it works, measures little")
    parser.add_argument("--repeat", type=int, default=5, help="counted runs of each contender (default 5)")
    parser.add_argument("--only", choices=FIGURES, help="one figure")
    given = parser.parse_args()
    if given.repeat < 1:
        parser.error(f"--repeat is {given.repeat}; accepted: a whole number from 1 on")
    quern.start()
    print(f"{quern.info()['workers']} workers, NumPy {np.__version__}, Python {quern.info()['python']}")
    wrong = []
    for figure, sizes in FIGURES.items():
        if given.only in (None, figure):
            contenders = contenders_of(figure)
            for size in sizes[given.quick]:
                found = measure(contenders, size, given.repeat)
                print_table(figure, size, found)
                wrong += [f"{figure}, {name}" for name, (_, apart) in found.items() if not apart <= TOLERANCE]
    if wrong:
        sys.exit(f"the answer is not NumPy's: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
