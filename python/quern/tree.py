# SPDX-License-Identifier: BSL-1.0
"""quern.tree: a function over arrays as a tree of tasks."""

import functools
import inspect
import threading

import numpy as np

from . import random as _random  # noqa: F401  (trees find it as quern.random)
from .frontend import backend, source, view
from .frontend.calls import TreeLike
from .frontend.errors import TreeError
from .frontend.iteration import prange
from .frontend.lower import Lowering
from .frontend.names import MISSING
from .frontend.nodes import all_nodes, emit
from .frontend.small import Chooser, entry

__all__ = ["Tree", "TreeError", "prange", "tree"]

INLININGS = ("settings", "never", "always", "baseline", "adaptive", "quern")
FALLBACKS = ("error", "python")
SMALL = ("python", "tree")

# Trees are compiled one at a time: those that call each other are compiled together.
_compiling = threading.RLock()


def tree(function=None, /, *, fallback="error", inlining="settings", small="python"):
    """Makes a tree of a function over NumPy arrays: its calls of NumPy run as tasks, with NumPy's results.

        import numpy as np
        import quern

        @quern.tree
        def distance(a, b):
            d = a - b
            return np.sqrt(np.sum(d * d))

        print(distance(np.arange(4.0), np.ones(4)))

    fallback: "error": what has no node is a TreeError when the function is decorated; "python": it calls Python.
    inlining: the rule that decides which nodes run as tasks, as in docs/inlining.md.
    small: "python": calls that are faster in NumPy run the function itself, after both were measured; "tree": never.

    Errors: TreeError with the place and what to write instead; TypeError and ValueError for wrong arguments.
    Thread safety: trees may be called from several threads at the same time. Cost: decoration about 1 ms.
    """
    check_option("fallback", fallback, FALLBACKS)
    check_option("inlining", inlining, INLININGS)
    check_option("small", small, SMALL)
    if function is None:
        return functools.partial(tree, fallback=fallback, inlining=inlining, small=small)
    try:
        return Tree(function, fallback, inlining, small)
    except TreeError as error:
        raise error.with_traceback(None) from None  # the place is what matters, not the front end's calls


def check_option(name, value, accepted):
    if value not in accepted:
        words = ", ".join(f'"{each}"' for each in accepted)
        raise ValueError(f"quern.tree: {name} is one of {words}, not {value!r}")


class Tree(TreeLike):
    """A decorated function. Called like it; `function` is the original."""

    def __init__(self, function, fallback="error", inlining="settings", small="python"):
        self.source = source.Source(function)
        self.function = function
        self.fallback = fallback
        self.inlining = inlining
        self.name = function.__name__
        self.signature = inspect.signature(function)
        self.chooser = Chooser()
        self.compiled = None        # the quern._core.Tree
        self.building = None        # while it is made
        self.whole_function = None  # why the whole function calls Python
        self.in_python = []
        self.nodes = 0
        self._callees = []
        self._guards, self._cells = [], []
        self._keyword_only = any(p.kind is p.KEYWORD_ONLY for p in self.signature.parameters.values())
        functools.update_wrapper(self, function)
        del self.__wrapped__
        self.__signature__ = self.signature
        called = entry(function, self.signature, self.chooser if small == "python" else None, self._call)
        self.__class__ = type("Tree", (Tree,), {"__call__": staticmethod(called), "__module__": Tree.__module__})
        with _compiling:
            self._lower(complete=False)

    # Compiling.

    def _lower(self, complete):
        """The root node, or None where a name has no value yet. Throws TreeError."""
        lowering = Lowering(self.source, self.fallback, complete)
        try:
            root = lowering.lower()
        except TreeError as error:
            if self.fallback != "python":
                raise
            root, self.whole_function = None, str(error.msg)
        self.in_python = lowering.in_python
        self._own_guards, self._own_cells = lowering.names.guards, lowering.names.cells
        self._callees = list(dict.fromkeys(lowering.callees))
        return root

    def _compile(self):
        """Makes the tree that calls run, and those that it calls."""
        with _compiling:
            if self.compiled is None and self.whole_function is None:
                begun = []
                try:
                    self._begin(begun)
                    for each, root in begun:
                        each.building.finish(emit(root, each.building))
                    for each, _ in begun:
                        each.compiled = each.building
                finally:
                    for each, _ in begun:
                        each.building = None
            self._collect_guards()

    def _begin(self, begun):
        """Trees that call each other exist before their nodes are added. Callees come first in `begun`."""
        root = self._lower(complete=True)
        if root is None:
            return
        self.building = backend.core().Tree(self.name, self.source.filename, list(self.signature.parameters))
        for other in self._callees:
            if other.compiled is None and other.building is None and other.whole_function is None:
                other._begin(begun)
        self.nodes = sum(1 for _ in all_nodes(root))
        begun.append((self, root))

    def target(self):
        """What a call of this tree in another one calls."""
        if self.whole_function is not None:
            return None
        return self.building if self.compiled is None else self.compiled

    def _collect_guards(self):
        """What this tree and those that it calls have read from outside."""
        reached, todo = [], [self]
        while todo:
            each = todo.pop()
            if each not in reached:
                reached.append(each)
                todo += each._callees
        guards = {(id(d), k): (d, k, o) for each in reached for d, k, o in each._own_guards}
        cells = {id(c): (c, o) for each in reached for c, o in each._own_cells}
        self._reached = reached
        self._guards, self._cells = list(guards.values()), list(cells.values())

    def _current(self):
        """The compiled tree, compiled again when a constant of outside has changed."""
        for dictionary, key, found in self._guards:
            if dictionary.get(key, MISSING) is not found:
                return self._compile_again()
        for cell, found in self._cells:
            if contents(cell) is not found:
                return self._compile_again()
        if self.compiled is None and self.whole_function is None:
            self._compile()
        return self.compiled

    def _compile_again(self):
        with _compiling:
            for each in getattr(self, "_reached", [self]):
                each.compiled = each.whole_function = None
            self._compile()
        return self.compiled

    # Calling.

    # Calls enter the function of frontend/small.py that has the parameters of the original.

    def _call(self, args, key):
        """A call with all arguments in order; key: of the chooser."""
        compiled = self._current()
        if compiled is None or not self._accepts(args):
            return self._in_python(args)
        if key is None:
            return compiled.run(args, self.inlining)
        return self.chooser.call(key, lambda: compiled.run(args, self.inlining), lambda: self._in_python(args))

    def _accepts(self, args):
        """Whether the tree can run with these arguments; False if Python does instead."""
        for name, given in zip(self.signature.parameters, args, strict=True):
            if type(given) is np.ndarray:
                if self.fallback == "python" and (given.dtype.char not in "?ilqfd" or given.ndim > 8):
                    return False
            elif isinstance(given, np.ndarray) and not isinstance(given, np.memmap):
                if self.fallback == "python":
                    return False
                raise TypeError(f"{self.name}: {name} is a {type(given).__name__}, whose operators are its own; accepted: "
                                "numpy.ndarray, as np.asarray gives it")
        return True

    def _in_python(self, args):
        """The original function with arguments in the order of its parameters."""
        if not self._keyword_only:
            return self.function(*args)
        names = list(self.signature.parameters)
        count = self.function.__code__.co_argcount
        return self.function(*args[:count], **dict(zip(names[count:], args[count:], strict=True)))

    def run(self, *args, inlining=None, **kwargs):
        """A call as a tree, however small, by an inlining rule for this call."""
        rule = self.inlining if inlining is None else inlining
        check_option("inlining", rule, INLININGS)
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        args = tuple(bound.arguments.values())
        compiled = self._current()
        return compiled.run(args, rule) if compiled is not None and self._accepts(args) else self._in_python(args)

    # What it does.

    def explain(self):
        """Text: each node with its place, evaluations, times, whether it is inlined and why; what calls Python; which calls
        ran the function itself."""
        lines = []
        if self.whole_function is not None:
            lines.append(f"{self.name}: calls Python as a whole: {self.whole_function}")
        for line, text in self.in_python:
            lines.append(f"{self.source.filename}:{line}: calls Python: {text}")
        lines += self.chooser.explain()
        compiled = self._current()
        if compiled is not None:
            lines.append(compiled.explain().rstrip("\n"))
        return "\n".join(lines) + "\n"

    def tree(self, form="dot"):
        """The tree as text: "dot" for Graphviz, "newick", "json"."""
        check_option("tree", form, ("dot", "newick", "json"))
        compiled = self._current()
        if compiled is None:
            raise ValueError(f"{self.name} has no tree: it calls Python as a whole: {self.whole_function}")
        return getattr(compiled, form)()

    def statistics(self):
        """A dict for each node: evaluations, inlined, inclusive_ns, exclusive_ns; empty where the function calls Python."""
        compiled = self._current()
        return [] if compiled is None else compiled.statistics()

    def reset_statistics(self):
        """Sets the statistics of all nodes to 0."""
        compiled = self._current()
        if compiled is not None:
            compiled.reset_statistics()

    def view(self, path, compare=None):
        """Writes one page for a browser, which needs no network: the tree with times and decisions, beside the source.
        `compare`: the text of an earlier tree("json") whose times are shown beside these. Gives the path."""
        return view.write(self, path, compare)

    def _repr_html_(self):
        return view.fragment(self)

    def __repr__(self):
        return f"<quern.tree {self.name} of {self.source.filename}:{self.source.first_line}>"

    def __get__(self, instance, owner=None):
        return self


def contents(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING
