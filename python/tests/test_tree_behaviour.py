# SPDX-License-Identifier: BSL-1.0
"""Decorated functions: names of outside, other trees, arguments, what calls Python."""

import inspect

import numpy as np
import pytest
from tree_support import CORES, Tree, on, quern, same, tree

RATE = 2.0


@pytest.fixture(params=CORES, autouse=True)
def core(request):
    with on(request.param):
        yield request.param


def scaled(a):
    return a * RATE


def test_a_global_is_read_again_when_it_has_changed(monkeypatch):
    f = tree(small="tree")(scaled)
    assert f(3.0) == 6.0
    monkeypatch.setitem(globals(), "RATE", 5.0)
    assert f(3.0) == 15.0
    monkeypatch.setitem(globals(), "RATE", np.array([1.0, 2.0]))
    assert same(f(3.0), np.array([3.0, 6.0]))


def test_a_variable_of_a_closure_is_read_again_when_it_has_changed():
    offset = 1

    @tree(small="tree")
    def f(a):
        return a + offset
    assert f(10) == 11
    offset = 2
    assert f(10) == 12


def test_a_name_without_value_is_pythons_error_when_it_is_read():
    @tree(small="tree")
    def f(a):
        if a > 0:
            return no_value_yet * a  # noqa: F821
        return a
    assert f(-1) == -1
    with pytest.raises(NameError, match="no_value_yet"):
        f(1)


def test_a_variable_without_value_is_an_error_with_its_name():
    @tree(small="tree")
    def f(a):
        if a > 0:
            b = a
        return b
    assert f(1) == 1
    with pytest.raises((UnboundLocalError, ValueError), match=r"\bb\b"):
        f(-1)


def test_trees_call_trees(core):
    @tree(small="tree")
    def inner(x, y=2, *, z=3):
        return x * 100 + y * 10 + z

    @tree(small="tree")
    def outer(x):
        return inner(x), inner(x, 5), inner(x, z=7), inner(y=1, x=x, z=0), inner(z=x, x=1)
    assert outer(4) == (423, 453, 427, 410, 124)


def test_trees_call_themselves_and_each_other():
    @tree(small="tree")
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    @tree(small="tree")
    def is_even(n):
        return True if n == 0 else is_odd(n - 1)

    @tree(small="tree")
    def is_odd(n):
        return False if n == 0 else is_even(n - 1)
    assert factorial(10) == 3628800
    assert is_even(10) is True and is_odd(10) is False
    assert is_odd(7) is True


def test_a_callee_that_is_replaced_is_called():
    @tree(small="tree")
    def inner(x):
        return x + 1

    @tree(small="tree")
    def outer(x):
        return inner(x)
    assert outer(1) == 2

    @tree(small="tree")
    def inner(x):  # noqa: F811
        return x + 10
    assert outer(1) == 11


def test_a_constant_of_a_callee_that_changes():
    rate = 2

    @tree(small="tree")
    def inner(x):
        return x * rate

    @tree(small="tree")
    def outer(x):
        return inner(x)
    assert outer(1) == 2
    rate = 3
    assert outer(1) == 3


def test_arguments_are_bound_as_pythons():
    @tree(small="tree")
    def f(a, b=2, *, c=3):
        return a, b, c
    assert f(1) == (1, 2, 3)
    assert f(1, c=5) == (1, 2, 5)
    assert f(b=1, a=0) == (0, 1, 3)
    for args, kwargs in (((), {}), ((1, 2, 3), {}), ((1,), {"d": 2}), ((1,), {"a": 2})):
        with pytest.raises(TypeError) as own:
            f(*args, **kwargs)
        assert "f()" in str(own.value) or "argument" in str(own.value)


def test_an_argument_that_is_written_to_is_the_callers():
    @tree(small="tree")
    def f(a):
        a[1] = 7
        a += 1
    a = np.zeros(3)
    assert f(a) is None
    assert same(a, np.array([1.0, 8.0, 1.0]))


def test_attributes_of_the_function_stay():
    @tree
    def f(a):
        """Twice a."""
        return a * 2
    assert f.__name__ == "f" and f.__doc__ == "Twice a." and isinstance(f, Tree)
    assert f.function(2) == 4
    assert str(inspect.signature(f)) == "(a)"
    assert repr(f).startswith("<quern.tree f of ")


def test_a_whole_function_in_python():
    @tree(fallback="python")
    def f(a):
        global RATE
        RATE = RATE
        return a
    assert f(3) == 3
    assert f.whole_function and "calls Python as a whole" in f.explain()
    with pytest.raises(ValueError, match="f has no tree"):
        f.tree()
    assert "calls Python" in f._repr_html_()


def test_random_numbers_in_a_tree_are_those_outside(core):
    if core == "reference":
        pytest.skip("random numbers are Quern's own")

    @tree(small="tree")
    def f(n):
        return quern.random.normal(1.0, 2.0, (n, 2), seed=3), quern.random.integers(0, 5, n, 7)
    normal, whole = f(4)
    assert same(normal, quern.random.normal(1.0, 2.0, (4, 2), 3))
    assert same(whole, quern.random.integers(0, 5, 4, 7)) and whole.dtype == np.int64


@pytest.mark.parametrize("make", [np.asmatrix, np.ma.masked_array])
def test_subclasses_with_operators_of_their_own_are_refused(make):
    @tree(small="tree")
    def f(a):
        return a * a
    with pytest.raises(TypeError, match=r"f: a is a \w+, whose operators are its own; accepted: numpy.ndarray"):
        f(make(np.ones((2, 2))))

    @tree(fallback="python")
    def g(a):
        return a * a
    assert type(g(make(np.ones((2, 2))))) is type(make(np.ones((2, 2))))


def test_with_fallback_other_types_of_elements_are_pythons():
    @tree(fallback="python")
    def f(a):
        return a * 2
    assert same(f(np.arange(3, dtype=np.complex128)), np.arange(3, dtype=np.complex128) * 2)
