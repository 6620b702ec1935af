# SPDX-License-Identifier: BSL-1.0
"""What names outside a function mean: constants, modules, functions of NumPy, other trees. Each read is remembered, so that
a tree is compiled again when one of them has changed."""

import builtins
import types

import numpy as np

MISSING = object()
NOT_STATIC = object()  # what is known only when a tree runs


class Unresolved(Exception):
    """A global name or a closure's variable that has no value yet."""

    def __init__(self, name):
        super().__init__(name)
        self.name = name


class Later:
    """In place of an object that a name does not have yet."""

    def __init__(self, name):
        self.name = name


class Names:
    """The globals, closure and built-in functions as one function sees them. `guards` are (dictionary, key, object) and
    `cells` (cell, object): what was read, and what it was."""

    def __init__(self, function):
        self.globals = function.__globals__
        self.builtins = function.__globals__.get("__builtins__", builtins)
        if isinstance(self.builtins, types.ModuleType):
            self.builtins = vars(self.builtins)
        self.closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        self.guards = []
        self.cells = []

    def lookup(self, name):
        """The object of a name; Unresolved where there is none."""
        if name in self.closure:
            cell = self.closure[name]
            try:
                found = cell.cell_contents
            except ValueError:
                raise Unresolved(name) from None
            self.cells.append((cell, found))
            return found
        if name in self.globals:
            found = self.globals[name]
            self.guards.append((self.globals, name, found))
            return found
        if name in self.builtins:
            self.guards.append((self.globals, name, MISSING))
            return self.builtins[name]
        raise Unresolved(name)

    def attribute(self, module, name):
        """An attribute of a module; Unresolved where there is none."""
        found = getattr(module, name, MISSING)
        if found is MISSING:
            raise Unresolved(f"{module.__name__}.{name}")
        if module is not np and not module.__name__.startswith("numpy."):
            self.guards.append((vars(module), name, found))
        return found


# Functions of NumPy whose primitive has another name; the first that exists is taken.
OTHER_NAMES = {
    "abs": ("absolute", "abs"), "absolute": ("absolute", "abs"), "fabs": ("fabs", "absolute"),
    "divide": ("divide", "true_divide"), "true_divide": ("true_divide", "divide"),
    "mod": ("remainder", "mod"), "remainder": ("remainder", "mod"),
    "pow": ("power",), "amax": ("max", "amax"), "amin": ("min", "amin"), "max": ("max", "amax"), "min": ("min", "amin"),
    "asarray": ("asarray", "array"), "ascontiguousarray": ("ascontiguousarray",), "concat": ("concatenate",),
    "bitwise_not": ("invert", "bitwise_not"), "invert": ("invert", "bitwise_not"),
    "permute_dims": ("transpose",), "round": ("round", "around"), "around": ("round", "around"),
    "inv": ("inv", "inverse"), "conjugate": ("conjugate",), "acos": ("arccos",), "asin": ("arcsin",), "atan": ("arctan",),
    "atan2": ("arctan2",), "identity": ("identity", "eye"),
}
NAMESPACES = ((np, ""), (np.linalg, "linalg_"))


def name_in_numpy(function):
    """("exp", "np.exp"): the name of a function of NumPy and how it is written, or (None, None)."""
    name = getattr(function, "__name__", None)
    if name is None or not callable(function):
        return None, None
    for space, _ in NAMESPACES:
        if getattr(space, name, None) is function:
            return name, ("np." if space is np else "np.linalg.") + name
    return None, None


def primitive_names(function):
    """The names that the primitive of a function of NumPy may have."""
    name = getattr(function, "__name__", "")
    prefix = next((p for space, p in NAMESPACES if getattr(space, name, None) is function), "")
    names = OTHER_NAMES.get(name, (name,))
    return tuple(prefix + n for n in names if prefix) + names


def is_random_of_numpy(item):
    """Whether an object is np.random or belongs to it."""
    module = getattr(item, "__module__", None) or getattr(type(item), "__module__", "") or ""
    if isinstance(item, types.ModuleType):
        return item.__name__.startswith("numpy.random")
    return module.startswith("numpy.random") or isinstance(getattr(item, "__self__", None), np.random.RandomState)


def is_dtype(item):
    """float, np.float32, np.dtype("int64") and their like."""
    return isinstance(item, np.dtype) or (isinstance(item, type) and (item in (bool, int, float)
                                                                      or issubclass(item, np.generic)))


def is_constant(item):
    """Whether an object can be a constant of a tree."""
    if item is None or item is Ellipsis or isinstance(item, (bool, float, str, np.ndarray, np.generic)):
        return True
    if isinstance(item, int):
        return -2**63 <= item < 2**63
    if isinstance(item, tuple):
        return all(is_constant(i) for i in item)
    if isinstance(item, slice):
        return all(is_constant(i) for i in (item.start, item.stop, item.step))
    return is_dtype(item)


def constant_of(item):
    """An object as Tree.constant takes it: dtypes as np.dtype."""
    return np.dtype(item) if is_dtype(item) else item
