# SPDX-License-Identifier: BSL-1.0
"""Loops whose iterations are calls of a Python function."""

import functools

from . import _core

_PARTS_PER_WORKER = 4


def parallel_for(items, function, *, chunk=None):
    """Calls function(item) for each item, in any order, as tasks of `chunk` items each. Returns when all have ended.

        quern.parallel_for(range(len(rows)), lambda i: solve(rows[i]))

    Calls run at the same time where they leave the interpreter: in NumPy, in trees, in files. Raises what the first call in
    the order of the items has raised; parts that had not begun then are dropped.
    """
    _run(_each, function, items, chunk, "parallel_for")


def map(function, items, *, chunk=None):
    """The list of function(item) in the order of the items; otherwise as parallel_for.

        squares = quern.map(lambda x: x * x, range(10))
    """
    return [value for part in _run(_list, function, items, chunk, "map") for value in part]


_MISSING = object()


def reduce(function, items, initial=_MISSING, *, chunk=None):
    """functools.reduce by parts: `function` must be associative. The order of the items is kept.

        quern.reduce(operator.add, range(1000))
    """
    parts = _run(functools.reduce, function, items, chunk, "reduce")
    if initial is not _MISSING:
        return functools.reduce(function, parts, initial)
    return functools.reduce(function, parts)


def _each(function, items):
    for item in items:
        function(item)


def _list(function, items):
    return [function(item) for item in items]


def _run(how, function, items, chunk, name):
    if not callable(function):
        raise TypeError(f"quern.{name}: {function!r} is not callable; a function is accepted")
    if not hasattr(items, "__getitem__") or not hasattr(items, "__len__") or isinstance(items, dict):
        items = list(items)
    parts = _parts(items, chunk, name)
    run = functools.partial(how, function)
    functools.update_wrapper(run, function, assigned=("__name__", "__qualname__", "__module__"), updated=())
    futures = [_core.spawn(run, part) for part in parts[1:]]
    try:
        first = [run(part) for part in parts[:1]]
        return first + [each.result() for each in futures]
    except BaseException:
        for each in futures:
            each.cancel()
        for each in futures:
            _wait_quietly(each)
        raise


def _wait_quietly(each):
    """All parts have ended when the loop does, but for a second Ctrl-C."""
    each.exception()


def _parts(items, chunk, name):
    count = len(items)
    if chunk is None:
        chunk = max(1, -(-count // (_PARTS_PER_WORKER * _core.workers())))
    elif isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1:
        raise ValueError(f"quern.{name}: chunk is {chunk!r}; accepted: a whole number from 1 on")
    return [items[i:i + chunk] for i in range(0, count, chunk)]
