# SPDX-License-Identifier: BSL-1.0
"""What the examples share: the decorator, or nothing with --plain; options; times; the comparison with plain NumPy."""

import argparse
import sys
import time
import types

import numpy as np

PLAIN = "--plain" in sys.argv

if PLAIN:
    prange = range

    def tree(function):
        """The function as it is."""
        return function
else:
    from quern import prange, tree  # noqa: F401


def options(description, **sizes):
    """Reads the command line: each of `sizes` is an option with this default."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--plain", action="store_true", help="plain NumPy, without quern")
    parser.add_argument("--explain", action="store_true", help="print what the nodes of the tree did")
    parser.add_argument("--view", metavar="FILE", help="write a page that shows the tree")
    parser.add_argument("--repeat", type=int, default=3, help="runs; the shortest time counts")
    for name, value in sizes.items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(value), default=value)
    return parser.parse_args()


def plain(function):
    """The function of a tree, which calls the functions of other trees and not these."""
    inner = function.function
    called = {name: plain(inner.__globals__[name]) for name in inner.__code__.co_names
              if hasattr(inner.__globals__.get(name), "explain")}
    return types.FunctionType(inner.__code__, inner.__globals__ | called, inner.__name__, inner.__defaults__, inner.__closure__)


def run(function, arguments, given, tolerance=1e-9):
    """Calls function(*arguments()) and prints its time; without --plain also that of plain NumPy, with the largest relative
    difference. Ends the program with status 1 if that is above the tolerance."""
    result, seconds = timed(function, arguments, given.repeat)
    if PLAIN:
        print(f"{function.__name__}: {1e3 * seconds:.2f} ms in NumPy")
        return result
    expected, plain_seconds = timed(plain(function), arguments, given.repeat)
    difference = largest_difference(result, expected)
    print(f"{function.name}: {1e3 * seconds:.2f} ms as a tree, {1e3 * plain_seconds:.2f} ms in NumPy "
          f"({seconds / plain_seconds:.2f} x); largest difference {difference:.1e}")
    if given.explain:
        print(function.explain())
    if given.view:
        print("written:", function.view(given.view))
    if not difference <= tolerance:
        sys.exit(f"{function.name}: the difference is above {tolerance}")
    return result


def timed(function, arguments, repeat):
    """The result of the last call, and the shortest time. Each call has arguments of its own."""
    best = float("inf")
    for _ in range(repeat):
        own = arguments()
        start = time.perf_counter()
        result = function(*own)
        best = min(best, time.perf_counter() - start)
    return result, best


def largest_difference(a, b):
    """Relative to the largest element."""
    if isinstance(b, tuple):
        return max(largest_difference(x, y) for x, y in zip(a, b, strict=True))
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return float("inf")
    if b.size == 0:
        return 0.0
    return float(np.max(np.abs(a - b)) / max(1e-300, float(np.max(np.abs(b)))))
