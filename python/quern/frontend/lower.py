# SPDX-License-Identifier: BSL-1.0
"""From the ast of a function to nodes: what the parts share."""

import ast
import types

from .calls import Calls
from .errors import TreeError, refuse
from .expressions import Expressions
from .iteration import Iteration
from .names import MISSING, NOT_STATIC, Later, Names, Unresolved
from .nodes import Node
from .python_calls import PythonCalls
from .statements import Statements
from .variables import stored_names


class Lowering(Statements, Iteration, Expressions, Calls, PythonCalls):
    """One function on its way to a tree. `fallback`: "error" or "python". `complete`: a name that has no value yet is an
    error when it is read, rather than a reason to compile later."""

    def __init__(self, source, fallback, complete):
        self.source = source
        self.fallback = fallback
        self.complete = complete
        self.names = Names(source.function)
        definition = source.definition
        arguments = definition.args
        self.parameters = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
        self.locals = set(self.parameters) | set(stored_names(definition.body))
        self.locals -= declared_outside(definition)
        self.assigned = set(self.parameters)  # names that may have a value at this place
        self.lost = {}                        # names stored by a prange: the loop, until they are stored again
        self.from_python = set()              # variables whose values may be objects of Python alone
        self.loops = []
        self.callees = []                     # trees that are called
        self.in_python = []                   # (line, text): what calls Python
        self.unresolved = []
        self.temporaries = 0

    def lower(self):
        """The root node of the function."""
        return self.function_body(self.source.definition)

    def refuse(self, node, construct, instead):
        return refuse(self.source, node, construct, instead)

    def where(self, node):
        return self.source.range_of(node)

    def temporary(self):
        """The name of a variable that the program cannot name: it has a space."""
        self.temporaries += 1
        return f"value {self.temporaries}"

    # Nodes of one kind; `at` is the ast node that they come from.

    def constant(self, value, at):
        return Node("constant", [], self.where(at), payload=value)

    def load(self, variable, at):
        return Node("load", [], self.where(at), name=variable, variable=variable)

    def store(self, variable, value, at):
        return Node("store", [value], self.where(at), name=variable, variable=variable)

    def block(self, nodes, at):
        return nodes[0] if len(nodes) == 1 else Node("block", nodes, self.where(at))

    def branch(self, test, then, otherwise, at):
        return Node("branch", [test, then] + ([otherwise] if otherwise else []), self.where(at))

    def tuple_of(self, nodes, at):
        return Node("make_tuple", nodes, self.where(at))

    def static(self, node):
        """The object that a name or an attribute of a module means, or NOT_STATIC for what is known only when it runs."""
        if isinstance(node, ast.Name) and node.id not in self.locals:
            try:
                return self.names.lookup(node.id)
            except Unresolved:
                return self.without_value(node.id, node)
        if isinstance(node, ast.Attribute):
            base = self.static(node.value)
            if isinstance(base, types.ModuleType):
                try:
                    return self.names.attribute(base, node.attr)
                except Unresolved as error:
                    raise self.refuse(node, f"the name {error.name}", "there is none") from None
        return NOT_STATIC

    def without_value(self, name, node):
        """A global that has no value yet: the tree is compiled at the first call."""
        if not self.complete:
            self.unresolved.append(name)
        if name in self.names.closure:
            self.names.cells.append((self.names.closure[name], MISSING))
        else:
            self.names.guards.append((self.names.globals, name, MISSING))
        return Later(name)

    def check_value(self, node):
        """With fallback="python": what a call of Python has given may be a dict or a list, and stays with Python."""
        if self.fallback == "python" and isinstance(node, ast.Name) and node.id in self.from_python:
            raise self.refuse(node, f"an operation on {node.id}, which a call of Python gave,", "it calls Python")

    def attempt(self, handler, in_python, node):
        """Lowers by `handler`; where that is refused and fallback is "python", by `in_python`."""
        if self.fallback != "python":
            return handler(node)
        before = (set(self.assigned), dict(self.lost), list(self.loops), len(self.in_python))
        try:
            return handler(node)
        except TreeError:
            self.assigned, self.lost, self.loops = before[:3]
            del self.in_python[before[3]:]
            return in_python(node)


def declared_outside(definition):
    return {name for node in ast.walk(definition) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
