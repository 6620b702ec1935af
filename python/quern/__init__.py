# SPDX-License-Identifier: BSL-1.0
"""Quern for Python: NumPy functions as trees of tasks, and Python functions as tasks. See docs/python.md."""

from . import _core, random
from ._core import future
from .loops import map, parallel_for, reduce
from .runtime import counters, info, settings, start, stop, trace
from .tasks import spawn, task, taskwait, when_all
from .tree import TreeError, prange, tree

__version__ = _core.version
__all__ = [
    "TreeError", "counters", "future", "info", "map", "parallel_for", "prange", "random", "reduce", "settings", "spawn", "start", "stop",
    "task", "taskwait", "trace", "tree", "when_all",
]
