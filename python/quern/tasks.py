# SPDX-License-Identifier: BSL-1.0
"""Python functions as tasks: spawn, futures, and tasks that are ordered by the arrays that they use."""

import asyncio
import difflib
import functools
import inspect

from . import _core
from ._core import future


def spawn(function, /, *args, **kwargs):
    """Runs function(*args, **kwargs) as a task, on a worker or by who waits first. Gives a quern.future.

        total = quern.spawn(sum, [1, 2, 3])
        print(total.result())

    Errors: TypeError for what cannot be called; RuntimeError while the interpreter ends.
    """
    return _core.spawn(function, *args, **kwargs)


def taskwait():
    """Returns when all calls of quern.task functions by this thread, or this task, have ended.

    Raises what the first of them that failed has raised; those that had not begun then were dropped.
    """
    _core.taskwait()


def when_all(*futures):
    """A future of the list of all results; it has the exception of the first, in their order, that has failed.

        both = quern.when_all(quern.spawn(f), quern.spawn(g))
        print(both.result())
    """
    if len(futures) == 1 and not isinstance(futures[0], future):
        futures = tuple(futures[0])
    for each in futures:
        if not isinstance(each, future):
            raise TypeError(f"quern.when_all: {each!r} is no quern.future")
    joined = future()
    left = list(range(len(futures)))  # pop() is atomic, also without the GIL: who takes 0 is the last

    def one_has_ended(_):
        if left.pop() == 0:
            _end_joined(joined, futures)

    if not futures:
        joined.set_result([])
    for each in futures:
        each.add_done_callback(one_has_ended)
    return joined


def _end_joined(joined, futures):
    try:
        results = [each.result() for each in futures]
    except BaseException as error:  # passed on to who waits
        if not joined.cancelled():
            joined.set_exception(error)
    else:
        if not joined.cancelled():
            joined.set_result(results)


def _await(self):
    """For `await`: the event loop is told when the future has ended."""
    if not self.done():
        loop = asyncio.get_running_loop()
        ended = loop.create_future()

        def tell():
            if not ended.done():
                ended.set_result(None)

        def tell_loop(_):
            if not loop.is_closed():
                loop.call_soon_threadsafe(tell)

        self.add_done_callback(tell_loop)
        yield from ended
    return self.result()


future.__await__ = _await


def task(function=None, /, *, in_=(), out=(), inout=()):
    """Makes calls of a function tasks that run in the order of the arrays that they use. A call gives a quern.future.

        @quern.task(in_="a", inout="b")
        def add(a, b):
            b += a

        add(x, y)
        add(y, z)      # after the first, which writes y
        quern.taskwait()

    in_, out, inout: names of parameters, whose arguments are NumPy arrays or have the buffer protocol. The memory of two
    arrays is compared, so that slices of one array that do not overlap are independent.
    Errors: ValueError for a name that is no parameter, or is given twice; TypeError and ValueError at the call.
    """
    if function is None:
        return functools.partial(task, in_=in_, out=out, inout=inout)
    signature = inspect.signature(function)
    accesses = [_names(given, kind, function, signature) for given, kind in ((in_, "in_"), (out, "out"), (inout, "inout"))]
    named = [name for names in accesses for name in names]
    for name in named:
        if named.count(name) > 1:
            raise ValueError(f"quern.task: {function.__qualname__}: '{name}' is named twice; use inout for what is read and "
                             "written")

    @functools.wraps(function)
    def call(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        reads, writes, updates = ([bound.arguments[name] for name in names] for names in accesses)
        return _core.spawn_dependent(function, args, kwargs, reads, writes, updates)

    return call


def _names(given, kind, function, signature):
    names = [name.strip() for name in given.split(",")] if isinstance(given, str) else list(given)
    for name in names:
        if name not in signature.parameters:
            near = difflib.get_close_matches(str(name), signature.parameters, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise ValueError(f"quern.task: {function.__qualname__} has no parameter '{name}', named in {kind}{hint}")
    return names
