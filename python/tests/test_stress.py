# SPDX-License-Identifier: BSL-1.0
"""Trees, Python functions, functions in trees, trees in functions, and tasks on arrays, from several threads at the same time."""

import random
import threading
import time

import numpy as np
import pytest

import quern
from quern import _core

HERE = (1, 0, 1, 1)


def calling(name):
    tree = _core.Tree(name, __file__, ["a", "b"])
    loads = [tree.node("load", [], HERE, slot=i) for i in range(2)]
    tree.finish(tree.node("result", [tree.node("call", loads, HERE, name=name)], HERE))
    return tree


add, matmul = calling("add"), calling("matmul")
ones = np.ones((200, 200))


def trees_in_functions(x):
    return quern.map(lambda k: add.run((x, k)), [1, 2, 3])[2]


functions_in_trees = _core.Tree("functions_in_trees", __file__, ["x"])
functions_in_trees.finish(functions_in_trees.node(
    "result", [functions_in_trees.foreign(trees_in_functions, "f", [functions_in_trees.node("load", [], HERE, slot=0)], HERE)], HERE))


@quern.task(inout="a")
def add_one(a):
    a[...] = add.run((a, 1.0))


def small_tree():
    a = np.arange(64.0)
    return np.array_equal(add.run((a, a)), 2 * a)


def large_tree():
    return matmul.run((ones, ones))[0, 0] == 200


def functions():
    return [each.result() for each in [quern.spawn(trees_in_functions, 2.0) for _ in range(5)]] == [5.0] * 5


def function_in_tree():
    return functions_in_trees.run((1.0,)) == 4.0


def tasks_on_arrays():
    b = np.zeros(1000)
    for _ in range(10):
        add_one(b[:500])
        add_one(b[500:])
    quern.taskwait()
    return (b == 10).all()


@pytest.mark.parametrize("threads", [1, 5])
def test_everything_at_once(threads):
    wrong, end = [], time.monotonic() + 3
    kinds = [small_tree, large_tree, functions, function_in_tree, tasks_on_arrays]

    def run(seed):
        choice = random.Random(seed)
        while time.monotonic() < end:
            kind = choice.choice(kinds)
            if not kind():
                wrong.append(kind.__name__)

    others = [threading.Thread(target=run, args=(seed,)) for seed in range(1, threads)]
    for each in others:
        each.start()
    run(0)
    for each in others:
        each.join()
    assert not wrong
