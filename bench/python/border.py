#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The cost of a call from Python, beside concurrent.futures and, where it is installed, Numba: the table of docs/python.md.

Usage: build/python/venv/bin/python bench/python/border.py     prints the median of seven rounds, in microseconds
"""

import concurrent.futures
import os
import statistics
import time

import quern
from quern import _core

HERE = (1, 0, 1, 1)


def nothing():
    pass


def empty_tree():
    tree = _core.Tree("empty", __file__, ["x"])
    tree.finish(tree.node("result", [tree.node("load", [], HERE, slot=0)], HERE))
    return tree


def median_us(call, count):
    for _ in range(count // 10):
        call()
    rounds = []
    for _ in range(7):
        begun = time.perf_counter()
        for _ in range(count):
            call()
        rounds.append((time.perf_counter() - begun) / count * 1e6)
    return statistics.median(rounds)


def all_at_once(submit, count):
    def run():
        for each in [submit(nothing) for _ in range(count)]:
            each.result()

    return median_us(run, 10) / count


def of_numba():
    """The row of an empty compiled function; none where Numba is not installed."""
    try:
        import numba
    except ImportError as error:
        print(f"without Numba: {error}")
        return []
    empty = numba.njit(lambda x: x)
    return [("Numba: an empty compiled function", median_us(lambda: empty(1.0), 20_000))]


def main():
    tree = empty_tree()
    with concurrent.futures.ThreadPoolExecutor(quern.info()["workers"] or 2) as executor:
        rows = [
            ("a function called directly", median_us(nothing, 100_000)),
            ("an empty tree", median_us(lambda: tree.run((1.0,)), 20_000)),
            ("a native task with its result", median_us(_core.native_task, 20_000)),
            ("a Python function as a task: spawn(f).result()", median_us(lambda: quern.spawn(nothing).result(), 20_000)),
            ("concurrent.futures: submit(f).result()", median_us(lambda: executor.submit(nothing).result(), 2_000)),
            ("1000 functions spawned, then their results, each", all_at_once(quern.spawn, 1000)),
            ("concurrent.futures: the same", all_at_once(executor.submit, 1000)),
            *of_numba(),
        ]
    print(f"{quern.info()['workers']} workers, load {os.getloadavg()[0]:.1f}")
    for name, time_us in rows:
        print(f"{name:52} {time_us:8.2f} us")


main()
