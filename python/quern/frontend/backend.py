# SPDX-License-Identifier: BSL-1.0
"""What trees run on: quern._core, or in tests a module that does the same with NumPy."""

import ast
import functools

_core = None


def core():
    """The module with Tree and primitives()."""
    global _core
    if _core is None:
        from quern import _core as compiled
        _core = compiled
    return _core


def use(module):
    """Takes another module; None: quern._core again. For tests."""
    global _core
    _core = module
    parameters.cache_clear()
    all_parameters.cache_clear()


@functools.cache
def all_parameters():
    return dict(core().primitives())


@functools.cache
def parameters(name):
    """[(parameter, has a default, default)] of a primitive, or None where there is none of that name."""
    text = all_parameters().get(name)
    if text is None:
        return None
    arguments = ast.parse(f"def f({text}): pass").body[0].args
    names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    positional = [None] * (len(names) - len(arguments.kwonlyargs) - len(arguments.defaults)) + list(arguments.defaults)
    defaults = positional + list(arguments.kw_defaults)
    return [(n, d is not None, None if d is None else default_of(d)) for n, d in zip(names, defaults, strict=True)]


def default_of(node):
    """The value of a default in a primitive's parameters; names such as float64 are dtypes."""
    if isinstance(node, ast.Name):
        return {"inf": float("inf"), "newaxis": None}.get(node.id, node.id)
    return ast.literal_eval(node)


def first_of(*names):
    """The first of these primitives that there is, or None."""
    known = all_parameters()
    return next((name for name in names if name in known), None)
