# SPDX-License-Identifier: BSL-1.0
"""What tests of quern.tree share: trees on quern._core, where it is built, and on reference_tree."""

import contextlib
import os
import sys
import types

import numpy as np

PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "quern")

try:
    import quern
    from quern import _core as compiled_core
except ImportError as error:
    if not isinstance(error, ModuleNotFoundError) and "cannot import name" not in str(error):
        raise  # it is built, and broken
    # The front end needs nothing compiled: it is tested on reference_tree alone.
    compiled_core = None
    for name in [n for n in sys.modules if n == "quern" or n.startswith("quern.")]:
        del sys.modules[name]
    quern = types.ModuleType("quern")
    quern.__path__ = [PACKAGE]
    sys.modules["quern"] = quern
    from quern.tree import TreeError, prange, tree
    quern.tree, quern.prange, quern.TreeError = tree, prange, TreeError

import reference_tree  # noqa: E402  (it needs the package)
from quern.frontend import backend  # noqa: E402
from quern.tree import Tree, TreeError, prange, tree  # noqa: E402, F401

CORES = {"reference": reference_tree} | ({"quern": compiled_core} if compiled_core is not None else {})


@contextlib.contextmanager
def on(core):
    """Trees that are made and compiled here run on this core."""
    backend.use(CORES[core])
    try:
        yield
    finally:
        backend.use(None)


def same(a, b, exact=True):
    """Whether two results are equal: type, dtype, shape, and elements, NaN equal to NaN."""
    if isinstance(b, tuple):
        return isinstance(a, tuple) and len(a) == len(b) and all(same(x, y, exact) for x, y in zip(a, b, strict=True))
    if isinstance(b, (np.ndarray, np.generic)):
        if isinstance(b, np.ndarray) and b.ndim == 0 and isinstance(a, np.generic):
            b = b[()]  # a tree gives a scalar where some functions of NumPy give an array without dimensions
        if not isinstance(a, (np.ndarray, np.generic)) or a.dtype != b.dtype or a.shape != b.shape:
            return False
        if isinstance(b, np.generic) != isinstance(a, np.generic):
            return False
        if exact or b.dtype.kind not in "f":
            return bool(np.array_equal(a, b, equal_nan=b.dtype.kind == "f"))
        return bool(np.allclose(a, b, rtol=1e-12 if b.dtype == np.float64 else 1e-5, atol=1e-300, equal_nan=True))
    if type(a) is not type(b):
        return False
    return a == b or (a != a and b != b)


def copied(args):
    """Arguments of their own: functions may write to arrays."""
    return tuple(a.copy(order="K") if isinstance(a, np.ndarray) else a for a in args)
