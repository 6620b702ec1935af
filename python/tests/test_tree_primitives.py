# SPDX-License-Identifier: BSL-1.0
"""Each primitive of quern._core beside NumPy's function, called through a tree: types, shapes, strides, empty arrays, arrays
without dimensions, NaN and infinities, aliases."""

import importlib.util
import os
import tempfile
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, configuration, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tree_support import CORES, compiled_core, copied, on, tree

pytestmark = pytest.mark.skipif("quern" not in CORES, reason="quern._core is not built")
KNOWN = dict(compiled_core.primitives()) if compiled_core is not None else {}
DTYPES = [np.float64, np.float32, np.int64, np.int32, np.bool_]

UNARY = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "square", "reciprocal", "sin", "cos", "tan", "arcsin",
         "arccos", "arctan", "sinh", "cosh", "tanh", "floor", "ceil", "rint", "trunc", "sign", "negative", "positive",
         "absolute", "isnan", "isinf", "isfinite", "logical_not", "invert", "copy", "ravel", "transpose", "zeros_like",
         "ones_like", "nonzero", "unique", "flip", "shape", "size", "ndim", "tril", "triu", "diag", "trace"]
BINARY = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "minimum", "maximum", "fmin", "fmax",
          "hypot", "arctan2", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
          "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]
REDUCED = ["sum", "prod", "mean", "var", "std", "min", "max", "any", "all", "argmin", "argmax"]
ALONG = ["cumsum", "sort", "argsort"]
PRODUCTS = ["dot", "matmul", "outer", "inner"]


IN_PLACE = {"+=": "iadd", "-=": "isub", "*=": "imul", "/=": "itruediv", "//=": "ifloordiv", "%=": "imod", "**=": "ipow",
            "&=": "iand", "|=": "ior", "^=": "ixor", "<<=": "ilshift", ">>=": "irshift"}


def expressions():
    """name -> (parameters, expression)."""
    made = {name: ("a", f"np.{name}(a)") for name in UNARY}
    made |= {name: ("a, b", f"np.{name}(a, b)") for name in BINARY + PRODUCTS}
    made |= {name: ("a, axis, keepdims", f"np.{name}(a, axis=axis, keepdims=keepdims)") for name in REDUCED}
    made |= {name: ("a, axis", f"np.{name}(a, axis=axis)") for name in ALONG}
    made |= {"where": ("a, b", "np.where(a > 0, a, b)"), "clip": ("a, b", "np.clip(a, b, b)"),
             "getitem": ("a, index", "a[index]"), "reshape": ("a, shape", "a.reshape(shape), np.reshape(a, shape)"),
             "concatenate": ("a, b, axis", "np.concatenate((a, b), axis=axis)"),
             "stack": ("a, b, axis", "np.stack([a, b], axis=axis), np.vstack((a, b)), np.hstack((a, b))"),
             "swapaxes": ("a, i, j", "a.swapaxes(i, j), a.transpose(), a.T, a.copy(), a.flatten()"),
             "expand_dims": ("a, axis", "np.expand_dims(a, axis), np.squeeze(a)"),
             "tile": ("a, n", "np.tile(a, n), np.repeat(a, n)"),
             "roll": ("a, n", "np.roll(a, n), a.astype(np.float32), a.astype(int)"),
             "plus_number": ("a", "a + 1, a * 2.5, 1 - a, a / 2, True + a")}
    return {name: value for name, value in made.items() if name in KNOWN or name == "plus_number"}


def module_of_functions():
    path = os.path.join(tempfile.mkdtemp(), "primitive_functions.py")
    with open(path, "w") as file:
        file.write("import numpy as np\n")
        for name, (parameters, expression) in expressions().items():
            file.write(f"\n\ndef f_{name}({parameters}):\n    return {expression}\n")
        file.write("\n\ndef f_setitem(a, index, value):\n    a[index] = value\n    return a\n")
        for sign, name in IN_PLACE.items():
            file.write(f"\n\ndef f_{name}(a, b):\n    c = a\n    a {sign} b\n    return a, c\n")
    spec = importlib.util.spec_from_file_location("primitive_functions", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


configuration.set_hypothesis_home_dir(tempfile.mkdtemp())
FUNCTIONS = module_of_functions()
SETTINGS = settings(max_examples=25, deadline=None, derandomize=True,
                    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


def elements(dtype):
    if dtype is np.bool_:
        return st.booleans()
    if issubclass(dtype, np.integer):
        return st.integers(-9, 9) | st.sampled_from([np.iinfo(dtype).min, np.iinfo(dtype).max])
    width = 64 if dtype is np.float64 else 32
    return st.floats(-100, 100, width=width) | st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 2.0])


@st.composite
def views(draw, shape=None, dtypes=DTYPES):
    """An array: in C order, transposed, reversed, every second element, or broadcast."""
    dtype = draw(st.sampled_from(dtypes))
    if shape is None:
        shape = draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
    form = draw(st.sampled_from(["plain", "transposed", "reversed", "spaced"]))
    if form == "transposed":
        return draw(hnp.arrays(dtype, shape[::-1], elements=elements(dtype))).T
    if form == "spaced" and shape:
        wide = (*shape[:-1], 2 * shape[-1])
        return draw(hnp.arrays(dtype, wide, elements=elements(dtype)))[..., ::2]
    a = draw(hnp.arrays(dtype, shape, elements=elements(dtype)))
    return a[::-1] if form == "reversed" and shape else a


@st.composite
def pairs(draw):
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4, min_side=0))
    first, second = shapes.input_shapes
    return draw(views(first)), draw(views(second))


def compare(name, args, tolerance=0.0):
    """A call as a tree and in NumPy: the same value, or an error of the same class."""
    function = getattr(FUNCTIONS, "f_" + name)
    with on("quern"):
        if name not in TREES:
            TREES[name] = tree(small="tree")(function)
        as_tree = TREES[name]
        own, other = copied(args), copied(args)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected = function(*other)
            except Exception as error:
                if "has no identity" in str(error) and np.size(own[0]) == 0 and own[1] is not None:
                    return  # min and max of no elements along one axis: an error in NumPy, even for no results
                with pytest.raises(error_classes(error)):
                    as_tree(*own)
                return
            if not expressible(expected):
                return
            result = as_tree(*own)
        check(result, expected, tolerance)


TREES = {}


def error_classes(error):
    return (TypeError, ValueError) if isinstance(error, (TypeError, ValueError)) else type(error)


def expressible(value):
    if isinstance(value, tuple):
        return all(expressible(v) for v in value)
    return not isinstance(value, (np.ndarray, np.generic)) or value.dtype in [np.dtype(d) for d in DTYPES]


def check(result, expected, tolerance):
    if isinstance(expected, tuple):
        assert isinstance(result, tuple) and len(result) == len(expected)
        for a, b in zip(result, expected, strict=True):
            check(a, b, tolerance)
        return
    if isinstance(expected, np.ndarray) and expected.ndim == 0:
        expected = expected[()]  # a tree gives a scalar, as most functions of NumPy do
    assert type(result) is type(expected), (type(result), type(expected))
    if not isinstance(expected, (np.ndarray, np.generic)):
        assert result == expected
        return
    assert result.dtype == expected.dtype and result.shape == expected.shape, (result, expected)
    if expected.dtype.kind != "f" or tolerance == 0.0:
        np.testing.assert_array_equal(result, expected)
    else:
        wide = 1e9 if expected.dtype == np.float32 else 1.0
        np.testing.assert_allclose(result, expected, rtol=tolerance * wide, atol=tolerance * wide * 100, equal_nan=True)


def known(names):
    return [name for name in names if name in expressions()]


@pytest.mark.parametrize("name", known(UNARY))
@SETTINGS
@given(a=views())
def test_unary(name, a):
    compare(name, (a,), 4e-16)


@pytest.mark.parametrize("name", known(BINARY + ["where", "clip"]))
@SETTINGS
@given(pair=pairs())
def test_binary(name, pair):
    compare(name, pair, 4e-16)


@pytest.mark.parametrize("name", known(BINARY[:10]))
@SETTINGS
@given(a=views(shape=(4,)))
def test_binary_of_the_same_array(name, a):
    compare(name, (a, a), 4e-16)


@SETTINGS
@given(a=views())
def test_pythons_numbers_are_weak(a):
    compare("plus_number", (a,), 4e-16)


@pytest.mark.parametrize("name", known(REDUCED))
@SETTINGS
@given(a=views(), data=st.data())
def test_reductions(name, a, data):
    # Of arrays without dimensions NumPy's functions take axis 0 or refuse it, each in its own way.
    axis = data.draw(st.none() | st.integers(-a.ndim - 1, a.ndim)) if a.ndim > 0 else None
    compare(name, (a, axis, data.draw(st.booleans())), 1e-13)


@pytest.mark.parametrize("name", known(ALONG))
@SETTINGS
@given(a=views(), data=st.data())
def test_along_an_axis(name, a, data):
    if name == "argsort":
        a = a.reshape(-1)[:0] if a.size == 0 else np.random.default_rng(a.size).permutation(a.size).astype(a.dtype)
        if len(np.unique(a)) < a.size:
            return
    compare(name, (a, data.draw(st.integers(-a.ndim, max(0, a.ndim - 1)))), 1e-13)


@pytest.mark.parametrize("name", known(PRODUCTS))
@SETTINGS
@given(data=st.data())
def test_products(name, data):
    n, k, m = (data.draw(st.integers(0, 6)) for _ in range(3))
    left = data.draw(st.sampled_from([(n, k), (k,)]))
    right = data.draw(st.sampled_from([(k, m), (k,), (m, k)]))
    finite = [np.float64, np.float32, np.int64]
    a, b = data.draw(views(left, finite)), data.draw(views(right, finite))
    a, b = np.nan_to_num(a, posinf=1, neginf=-1) % 8, np.nan_to_num(b, posinf=1, neginf=-1) % 8
    compare(name, (a, b), 1e-13)


@pytest.mark.parametrize("name", list(IN_PLACE.values()))
@SETTINGS
@given(pair=pairs())
def test_in_place(name, pair):
    a, b = pair
    # A tree takes an array without dimensions as a scalar, which gets a new value.
    compare(name, (a[()] if a.ndim == 0 else a, b), 4e-16)


@st.composite
def indices(draw, a):
    """An index of an array: slices, integers, None and ... ; a mask; an array of integers; two of them."""
    form = draw(st.sampled_from(["basic", "basic", "mask", "integers", "two", "wrong"]))
    if form == "mask":
        return draw(hnp.arrays(np.bool_, a.shape))
    if form == "integers" and a.ndim > 0 and a.shape[0] > 0:
        return draw(hnp.arrays(np.int64, hnp.array_shapes(max_dims=2, max_side=3),
                               elements=st.integers(-a.shape[0], a.shape[0] - 1)))
    if form == "two" and a.ndim > 1 and min(a.shape[:2]) > 0:
        return tuple(draw(hnp.arrays(np.int64, 3, elements=st.integers(-n, n - 1))) for n in a.shape[:2])
    if form == "wrong":
        return draw(st.integers(-9, 9)), *[draw(st.integers(-9, 9))] * a.ndim
    return draw(hnp.basic_indices(a.shape, allow_newaxis=True, max_dims=5))


@settings(SETTINGS, max_examples=150)
@given(a=views(), data=st.data())
def test_subscripts(a, data):
    compare("getitem", (a, data.draw(indices(a))))


@settings(SETTINGS, max_examples=150)
@given(a=views(), data=st.data())
def test_assignment_to_subscripts(a, data):
    index = data.draw(indices(a))
    try:
        shape = a[index].shape
    except IndexError:
        shape = ()
    value = data.draw(st.sampled_from([1, 2.5, True]) | views(shape, [np.float64, np.int32]))
    if a.dtype.kind in "iu" and np.asarray(value).dtype.kind == "f":
        value = np.asarray(np.nan_to_num(value, posinf=1, neginf=1)).astype(np.int32)
    compare("setitem", (a, index, value))


@SETTINGS
@given(a=views(), data=st.data())
def test_shapes(a, data):
    small = st.integers(-4, 4)
    compare("reshape", (a, data.draw(st.sampled_from([(-1,), (a.size,), (1, a.size), (a.size, 1), (2, -1), a.shape[::-1]]))))
    compare("expand_dims", (a, data.draw(small)))
    compare("tile", (a, data.draw(st.integers(0, 3))))
    compare("roll", (a, data.draw(small)))
    if a.ndim > 0:
        compare("swapaxes", (a, data.draw(small), data.draw(small)))


@SETTINGS
@given(data=st.data())
def test_joining(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3))
    a, b = data.draw(views(shape)), data.draw(views(shape))
    compare("concatenate", (a, b, data.draw(st.integers(-3, 2))))
    compare("stack", (a, b, data.draw(st.integers(-3, 2))))
