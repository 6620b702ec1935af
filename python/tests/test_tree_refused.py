# SPDX-License-Identifier: BSL-1.0
"""Each construct that trees refuse: the place and the exact message."""

import importlib.util
import itertools
import linecache
import textwrap

import numpy as np
import pytest
from tree_support import CORES, TreeError, on, tree

HEAD = """\
import contextlib
import math
import numpy as np
from tree_support import prange, tree

class Config:
    rate = 0.5

config = Config()
words = ["a"]
big = 2 ** 70
def plain(x): return x
@tree
def other(x, y=1): return x + y
"""
_count = itertools.count()


def module_of(text, folder):
    """A module with this text after HEAD."""
    path = folder / f"refused_{next(_count)}.py"
    path.write_text(HEAD + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# The body of `def f(a, b)`, what the caret stands under, and the message.
ITERATIONS = "iterations run at the same time: store into an array element and reduce the array after the loop"
OUTSIDE = ("what a tree reads from outside is a number, a string, an array, a dtype or a tuple of these; give others as "
           "arguments to Python")
REFUSED = [
    ("return [x for x in a]", "[x for x in a]",
     "a list comprehension in a tree: write a for loop that stores into an array"),
    ("return {x for x in a}", "{x for x in a}", "a set comprehension in a tree: write np.unique of an array"),
    ("return {x: x for x in a}", "{x: x for x in a}", "a dict comprehension in a tree: use one array for each value"),
    ("return np.array(x for x in a)", "(x for x in a)",
     "a generator expression in a tree: write np.sum, np.any or another function of an array"),
    ("return lambda: a", "lambda: a",
     "a lambda in a tree: write the expression in its place, or another function with @quern.tree"),
    ("return {'k': a}", "{'k': a}", "a dict in a tree: use one variable for each value"),
    ("return {1, 2}", "{1, 2}", "a set in a tree: write np.unique of an array"),
    ("return f'{a}'", "f'{a}'", "an f-string in a tree: give print the values, separated by commas"),
    ("return (c := a)", "c := a", "the operator := in a tree: write the assignment as a statement before"),
    ("return [a, b]", "[a, b]", "a list as a value in a tree: write a tuple, or np.array([...])"),
    ("return (*a, b)", "*a", "the starred *a in a tree: write each element"),
    ("return np.exp(*a)", "*a", "the starred argument *a in a tree: write each argument"),
    ("return np.sum(a, **b)", "**b", "the starred argument **b in a tree: write each keyword"),
    ("x, *y = a", "*y", "the starred target *y in a tree: name each element"),
    ("try:\n    return a\nexcept ValueError:\n    return b", "try:",
     "try in a tree: test the values by `if`; the caller can catch what a tree raises"),
    ("with contextlib.suppress(ValueError):\n    a = 1", "with contextlib",
     "with in a tree: open it around the call of the tree"),
    ("def inner(): pass", "def inner", "an inner function in a tree: write it outside, with @quern.tree"),
    ("class Inner: pass", "class Inner", "an inner class in a tree: write it outside"),
    ("import os", "import os", "import in a tree: import at the top of the file"),
    ("from os import path", "from os", "import in a tree: import at the top of the file"),
    ("global words\nwords = a", "global words", "global in a tree: return the value"),
    ("del a", "del a",
     "del in a tree: leave it out; memory is freed when the variable is stored again or the tree ends"),
    ("match a:\n    case 1: return b", "match a", "match in a tree: write if and elif"),
    ("return a in b", "a in b", "the operator in in a tree: write np.any(x == value)"),
    ("return a not in b", "a not in b", "the operator not in in a tree: write np.any(x == value)"),
    ("return a is b", "a is b", "the operator is in a tree: only `is None` and `is not None`; write =="),
    ("return a < b is None", "a < b is None", "the operator is in a chain in a tree: write the comparisons with `and`"),
    ("return 1j * a", "1j", "a constant of type complex in a tree: numbers are bool, int and float"),
    ("return b'x'", "b'x'", "a constant of type bytes in a tree: numbers are bool, int and float"),
    ("return a + 99999999999999999999", "99999999999999999999", "an integer of more than 64 bits in a tree: write a float"),
    ("return [0.0] * b", "[0.0] * b",
     "the operator * on a list in a tree: write it with arrays: np.array, np.full, np.concatenate"),
    ("return 'x' + a", "'x' + a",
     "the operator + on a string in a tree: write it with arrays: np.array, np.full, np.concatenate"),
    ("return a.real", "a.real",
     "the attribute .real in a tree: those of arrays are .T, .shape, .size, .ndim, .dtype"),
    ("a.shape = b", "a.shape", "assignment to the attribute .shape in a tree: write x = x.reshape(...)"),
    ("a.rate = b", "a.rate", "assignment to the attribute .rate in a tree: assign to a variable or to elements"),
    ("a.x += b", "a.x", "the operator += on the attribute .x in a tree: use a variable"),
    ("return a['k']", "a['k']", "a string as index in a tree: use one variable for each value"),
    ("return a.tolist()", "a.tolist()", "the method .tolist() in a tree: return the array; the caller calls tolist()"),
    ("a.sort()", "a.sort()", "the method .sort(), which gives nothing, in a tree: write x = np.sort(x)"),
    ("return a.summ()", "a.summ()",
     "the method .summ() in a tree: call a function of NumPy, or give fallback=\"python\"; the nearest that there is: "
     ".sum()"),
    ("a.fill()", "a.fill()", "the method .fill() without one value in a tree: write x[...] = value"),
    ("return a.sum(where=b)", "where=b", "the keyword where of the method .sum() in a tree: write np.where, or select with "
     "x[mask]"),
    ("return np.sum(a, 0, np.float32, None)", "np.sum(a, 0, np.float32, None)",
     "the argument dtype of np.sum in a tree: accepted are a, axis, keepdims"),
    ("return np.exp(a, out=b)", "out=b", "the keyword out of np.exp in a tree: write x[...] = np.exp(...)"),
    ("return np.round(a, out=b)", "out=b", "the keyword out of np.round in a tree: write x[...] = np.round(...)"),
    ("return np.round(a, 1, b)", "np.round(a, 1, b)", "the argument out of np.round in a tree: write x[...] = np.round(...)"),
    ("return np.argmax(a, order=b)", "order=b",
     "the keyword order of np.argmax in a tree: accepted are a, axis"),
    ("return np.dot(a)", "np.dot(a)", "np.dot without b in a tree: it takes a, b"),
    ("return np.dot(a, b, a)", "np.dot(a, b, a)", "the argument out of np.dot in a tree: write x[...] = np.dot(...)"),
    ("return np.linalg.inv(a, b)", "np.linalg.inv(a, b)",
     "np.linalg.inv with 2 arguments in a tree: it takes at most 1: a"),
    ("return np.argmax(a, a=b)", "a=b", "np.argmax with two values of a in a tree: give it once"),
    ("return np.einsum('ij->i', a)", "np.einsum('ij->i', a)",
     "the function np.einsum in a tree: there is no primitive for it"),
    ("return np.random.rand(3)", "np.random.rand(3)",
     "np.random.rand in a tree: write quern.random, whose numbers are the same for any number of workers"),
    ("return np.no_such(a)", "np.no_such", "the name numpy.no_such in a tree: there is none"),
    ("return math.sqrt(a)", "math.sqrt(a)", "the function math.sqrt in a tree: write np.sqrt"),
    ("return plain(a)", "plain(a)", "the plain Python function plain in a tree: decorate plain with @quern.tree"),
    ("return b(a)", "b(a)", "a call of b, which is known only when it runs, in a tree: call a function of NumPy, a "
     "built-in one or another tree by its name"),
    ("return Config()", "Config()",
     "a call of the class Config in a tree: call a function of NumPy, a built-in one or another tree"),
    ("return config.rate * a", "config.rate",
     "an attribute of the Config config in a tree: read it into a global or give it as an argument"),
    ("return np", "np", "the module np as a value in a tree: " + OUTSIDE),
    ("return words", "words", "the list words as a value in a tree: " + OUTSIDE),
    ("return big + a", "big", "the int big as a value in a tree: " + OUTSIDE),
    ("return other(a, 1, 2)", "other(a, 1, 2)",
     "other(): too many positional arguments in a tree: its parameters are (x, y=1)"),
    ("return list(a)", "list(a)", "the function list in a tree: write a tuple or an array"),
    ("return range(3)", "range(3)",
     "the function range in a tree: range stands in `for i in range(...)`; elsewhere write np.arange"),
    ("return sorted(a)", "sorted(a)", "the function sorted in a tree: write np.sort"),
    ("return isinstance(a, int)", "isinstance(a, int)",
     "the function isinstance in a tree: types are those of the arguments: decide it in the caller"),
    ("return max(a, key=b)", "key=b", "the keyword key of max in a tree: leave it out"),
    ("return len(a, b)", "len(a, b)", "len with 2 arguments in a tree: give 1"),
    ("for i in range(1, 2, 3, 4): pass", "range(1, 2, 3, 4)", "range(1, 2, 3, 4) in a tree: range takes 1 to 3 numbers"),
    ("for i, x in zip(range(0, 6, 2), a): pass", "range(0, 6, 2)",
     "range(0, 6, 2) in zip or enumerate in a tree: write np.arange, or use the index"),
    ("for i in zip(a, strict=True): pass", "zip(a, strict=True)",
     "zip(a, strict=True) in a tree: zip takes one array or more, and no keywords"),
    ("s = 0\nfor i in prange(b):\n    s += a[i]", "s += ", "reading s in a prange before the iteration stores it in a tree: "
     + ITERATIONS),
    ("s = 0\nfor i in prange(b):\n    if a[i] > 0:\n        s = 1\n    a[i] = s", "s@5",
     "reading s in a prange before the iteration stores it in a tree: " + ITERATIONS),
    ("for i in prange(b):\n    s = a[i]\nreturn s", "s@3",
     "reading s after the prange in line 17, whose iterations each have their own, in a tree: store it into an array "
     "element in the loop"),
    ("for i in prange(b):\n    if a[i] > 0:\n        break", "break",
     "break in a prange in a tree: write range, or let iterations do nothing"),
    ("for i in prange(b):\n    return a", "return a",
     "return in a prange in a tree: its iterations run at the same time: store into an array"),
    ("for i in prange(b):\n    a[i] = 1\nelse:\n    b = 1", "b = 1",
     "else of a prange in a tree: write the statements after the loop"),
    ("for i, j in prange(b):\n    a[i] = 1", "i, j",
     "a prange with several variables in a tree: write one: for i in quern.prange(n)"),
    ("x = prange(3)", "prange(3)", "prange outside of a for loop in a tree: write for i in prange(n)"),
    ("yield a", "yield a", "yield in a tree: return an array or a tuple"),
]


@pytest.mark.parametrize(("body", "place", "message"), REFUSED, ids=[body.split("\n")[0] for body, _, _ in REFUSED])
def test_place_and_message(body, place, message, tmp_path):
    with on("reference"), pytest.raises(TreeError) as caught:
        module_of("@tree\ndef f(a, b):\n" + textwrap.indent(body, "    ") + "\n", tmp_path)
    error = caught.value
    assert error.msg == message
    assert error.filename.startswith(str(tmp_path))
    assert error.text == linecache.getline(error.filename, error.lineno)
    first = HEAD.count("\n") + 3
    text, _, line = place.partition("@")
    lines = body.split("\n")
    row = int(line) - 1 if line else next(i for i, each in enumerate(lines) if text in each)
    column = lines[row].rindex(text) if line else lines[row].index(text)
    assert (error.lineno, error.offset) == (first + row, column + 5)


HEADERS = [
    ("@tree\ndef f(*args): pass", "the parameter *args in a tree: name each parameter"),
    ("@tree\ndef f(**kw): pass", "the parameter **kw in a tree: name each parameter"),
    ("@tree\nasync def f(): pass",
     "the async function f cannot become a tree: write def; a caller may await quern.spawn(f, ...)"),
    ("class C:\n    @tree\n    def f(self): pass",
     "the method C.f cannot become a tree: write a function outside the class and give it the arrays"),
    ("f = tree(lambda x: x)", "a lambda cannot become a tree: write def f(...): return ..."),
    ("import functools\ndef deco(f):\n    @functools.wraps(f)\n    def g(*a): return f(*a)\n    return g\n@tree\n@deco\n"
     "def f(): pass", "another decorator stands below @quern.tree of f: write @quern.tree directly above def"),
    ("space = {}\nexec('def f(x): return x', space)\ntree(space['f'])",
     "the source of f cannot be read: a tree needs a function written in a file or a notebook, not at a prompt or made by "
     "exec"),
]


@pytest.mark.parametrize(("text", "message"), HEADERS, ids=[m.split(":")[0] for _, m in HEADERS])
def test_functions_that_cannot_be_trees(text, message, tmp_path):
    with on("reference"), pytest.raises(TreeError) as caught:
        module_of(text + "\n", tmp_path)
    assert caught.value.msg == message


@pytest.mark.parametrize(("make", "error", "message"), [
    (lambda: tree(3), TypeError, "quern.tree takes a function defined by def, not int"),
    (lambda: tree(len), TypeError, "quern.tree takes a function defined by def, not builtin_function_or_method"),
    (lambda: tree(staticmethod(len)), TypeError,
     "quern.tree takes a function, not a staticmethod: write a function outside the class"),
    (lambda: tree(fallback="numpy"), ValueError, 'quern.tree: fallback is one of "error", "python", not \'numpy\''),
    (lambda: tree(small=1), ValueError, 'quern.tree: small is one of "python", "tree", not 1'),
    (lambda: tree(inlining="all"), ValueError,
     'quern.tree: inlining is one of "settings", "never", "always", "baseline", "adaptive", "quern", not \'all\''),
])
def test_wrong_arguments_of_the_decorator(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize("core", CORES)
def test_with_fallback_refused_bodies_call_python(core, tmp_path):
    """Whatever is refused can be decorated with fallback="python", and explain() says what calls Python."""
    for body, _, _ in REFUSED:
        if body.startswith(("yield", "return np.no_such")):
            continue
        with on(core):
            text = "@tree(fallback='python')\ndef f(a, b):\n" + textwrap.indent(body, "    ") + "\n"
            made = module_of(text, tmp_path).f
            assert "calls Python" in made.explain(), body


@pytest.mark.parametrize("core", CORES)
def test_fallback_gives_what_python_gives(core, tmp_path):
    text = """\
@tree(fallback="python", small="tree")
def f(a, n):
    table = {"x": a * 2, "n": n}
    parts = [v + 1 for v in table["x"]]
    try:
        total = sum(parts) / (n - 3)
    except ZeroDivisionError:
        total = -1
    with contextlib.suppress(ValueError):
        if n > 100:
            return "large", n
        raise ValueError
    for x in parts:
        if x > 100:
            break
        total += x
    return total, np.einsum("i,i->", a, a), plain(n), len(table)
"""
    a = np.arange(4.0)
    with on(core):
        f = module_of(text, tmp_path).f
        for n in (5, 200):
            assert f(a, n) == f.function(a, n)
        if core == "reference":
            assert f(a, 3) == f.function(a, 3)
