# SPDX-License-Identifier: BSL-1.0
"""Values that cross into the layer arrays and back."""

import gc
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import quern
from quern import _core

HERE = (1, 0, 1, 1)


def identity(parameters=1):
    tree = _core.Tree("identity", __file__, [f"p{i}" for i in range(parameters)])
    loads = [tree.node("load", [], HERE, slot=i) for i in range(parameters)]
    inner = loads[0] if parameters == 1 else tree.node("make_tuple", loads, HERE)
    tree.finish(tree.node("result", [inner], HERE))
    return tree


def calling(name, parameters):
    tree = _core.Tree(name, __file__, [f"p{i}" for i in range(parameters)])
    loads = [tree.node("load", [], HERE, slot=i) for i in range(parameters)]
    tree.finish(tree.node("result", [tree.node("call", loads, HERE, name=name)], HERE))
    return tree


TYPES = [np.bool_, np.int32, np.int64, np.float32, np.float64]


@pytest.mark.parametrize("dtype", TYPES)
def test_arrays_cross_without_a_copy(dtype):
    base = np.arange(24).reshape(4, 6).astype(dtype)
    for given in (base, base[::2, ::-1], base.T, base[:, 1:1], base[1], base[..., np.newaxis]):
        back = identity().run((given,))
        assert back is given
    fixed = base.copy()
    fixed.flags.writeable = False
    assert identity().run((fixed,)) is fixed


@pytest.mark.parametrize("dtype", TYPES)
def test_numpy_scalars(dtype):
    back = identity().run((dtype(1),))
    assert type(back) is dtype and back == 1
    assert type(identity().run((np.array(1, dtype),))) is dtype


@pytest.mark.parametrize("given", [None, True, False, 0, -2**63, 2**63 - 1, 1.5, "text", (1, (2.0, "x")), slice(1, None, -2), ...])
def test_python_values(given):
    back = identity().run((given,))
    assert back == given and type(back) is type(given)


def test_lists_become_tuples_and_types_dtypes():
    assert identity().run(([1, 2],)) == (1, 2)
    for given in (np.float32, np.dtype("float32"), "float32"):
        assert identity().run((given,)) == np.dtype("float32")
    assert identity().run((float,)) == np.dtype("float64")
    assert identity().run((int,)) == np.dtype("int64")


def test_other_objects_pass_as_they_are():
    thing = object()
    assert identity().run((thing,)) is thing


@pytest.mark.parametrize("dtype", ["complex128", "object", "int8", "uint64", "float16", "U3"])
def test_types_that_are_refused(dtype):
    with pytest.raises(TypeError, match="accepted: bool, int32, int64, float32, float64"):
        identity().run((np.zeros(3, dtype),))


def test_integers_that_do_not_fit():
    with pytest.raises(OverflowError):
        identity().run((2**63,))


def test_other_byte_order_is_copied():
    given = np.arange(3, dtype=">f8")
    back = identity().run((given,))
    assert back.dtype == np.float64 and (back == given).all()


def test_results_own_their_memory_and_arguments_are_released():
    a = np.ones(1000)
    before = sys.getrefcount(a)
    result = calling("add", 2).run((a, a))
    assert (result == 2).all() and result.flags.writeable
    assert sys.getrefcount(a) == before
    del a
    gc.collect()
    assert (result == 2).all()
    result += 1


@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "divide", "less"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_loops_are_numpys(name, dtype):
    rng = np.random.default_rng(1)
    a, b = (rng.uniform(1, 100, (37, 53)).astype(dtype) for _ in range(2))
    expected = getattr(np, name)(a, b)
    result = calling(name, 2).run((a, b))
    assert result.dtype == expected.dtype and np.array_equal(result, expected)


def test_errors_become_pythons():
    with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(2,3\) \(4,\)"):
        calling("add", 2).run((np.ones((2, 3)), np.ones(4)))
    with pytest.raises(np.linalg.LinAlgError):
        calling("inv" if "inv" in _core.primitives() else "inverse", 1).run((np.zeros((2, 2)),))


def test_python_functions_in_trees():
    tree = _core.Tree("foreign", __file__, ["x"])
    seen = []

    def double(x):
        seen.append(x)
        return x * 2

    load = tree.node("load", [], HERE, slot=0)
    tree.finish(tree.node("result", [tree.foreign(double, "double", [load], HERE)], HERE))
    a = np.arange(3)
    assert (tree.run((a,)) == a * 2).all() and seen[0] is a

    failing = _core.Tree("failing", __file__, ["x"])
    load = failing.node("load", [], HERE, slot=0)
    failing.finish(failing.node("result", [failing.foreign(lambda x: x[5], "item", [load], HERE)], HERE))
    with pytest.raises(IndexError) as caught:
        failing.run((a,))
    assert caught.traceback[-1].name == "<lambda>"


def test_trees_that_call_trees_through_python():
    inner = calling("add", 2)
    tree = _core.Tree("outer", __file__, ["x"])
    load = tree.node("load", [], HERE, slot=0)
    again = tree.foreign(lambda x: inner.run((x, x)), "again", [load], HERE)
    tree.finish(tree.node("result", [again], HERE))
    for _ in range(100):
        assert tree.run((1.5,)) == 3.0


def test_references_over_many_calls():
    tree, a = calling("add", 2), np.ones(10)
    tree.run((a, a))
    before = sys.getrefcount(a), sys.getrefcount(tree)
    for _ in range(100_000):
        tree.run((a, 1.0))
    assert (sys.getrefcount(a), sys.getrefcount(tree)) == before


def test_unknown_names():
    tree = _core.Tree("t", __file__, [])
    with pytest.raises(ValueError, match="a node of kind 'lod'; accepted: constant, load"):
        tree.node("lod", [], HERE)
    with pytest.raises(ValueError, match="inlining 'often'; accepted: settings, never"):
        identity().run((1,), "often")


def test_ctrl_c_in_a_tree():
    tree = _core.Tree("endless", __file__, ["x"])
    i = tree.variable("i")
    add = tree.node("call", [tree.node("load", [], HERE, slot=0), tree.node("load", [], HERE, slot=0)], HERE, name="add")
    body = tree.node("store", [add], HERE, slot=i)
    tree.finish(tree.node("block", [tree.node("loop", [tree.constant(True, HERE), body], HERE)], HERE))
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        tree.run((np.ones(10),))
    assert time.monotonic() - begun < 10
    while _core.unfinished() != 0:  # the tree stops after it was asked to
        time.sleep(0.01)


def test_trees_from_eight_threads_and_in_functions_on_workers():
    tree, a = calling("add", 2), np.arange(100.0)
    wrong = []

    def thread():
        for _ in range(1000):
            if not np.array_equal(tree.run((a, a)), a + a):
                wrong.append(1)

    threads = [threading.Thread(target=thread) for _ in range(8)]
    for each in threads:
        each.start()
    futures = [quern.spawn(thread) for _ in range(4)]
    for each in threads + futures:
        each.join() if isinstance(each, threading.Thread) else each.result()
    assert not wrong
