# SPDX-License-Identifier: BSL-1.0
"""Calls: of NumPy's functions, methods of arrays, built-in functions, other trees."""

import ast
import difflib
import functools
import inspect
import math
import types

import numpy as np

from . import backend, builtin_calls
from .names import (NOT_STATIC, Later, constant_of, is_constant, is_dtype, is_random_of_numpy, name_in_numpy,
                    primitive_names)
from .nodes import Node
from .refused import RANDOM, describe
from .tables import METHODS, OTHER_METHODS


class Calls:
    """Part of Lowering."""

    def on_Call(self, node):
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                raise self.refuse(argument, f"the starred argument {ast.unparse(argument)}", "write each argument")
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.refuse(keyword, f"the starred argument **{ast.unparse(keyword.value)}", "write each keyword")
        found = self.static(node.func)
        if found is not NOT_STATIC:
            return self.call_of_object(found, node)
        if isinstance(node.func, ast.Attribute):
            return self.method(node)
        what = ast.unparse(node.func)
        raise self.refuse(node, f"a call of {what}, which is known only when it runs,",
                          "call a function of NumPy, a built-in one or another tree by its name")

    def call_of_object(self, found, node):
        if isinstance(found, Later):
            return self.python_node(node) if self.complete else self.constant(None, node)
        name = ast.unparse(node.func)
        if isinstance(found, TreeLike):
            return self.call_of_tree(found, node)
        for argument in node.args:
            self.check_value(argument)
        if is_random_of_numpy(found):
            raise self.refuse(node, name, RANDOM)
        primitive = getattr(found, "quern_primitive", None)
        if primitive is not None:
            return self.bound(primitive, name, node)
        builtin = builtin_calls.handler_of(found)
        if builtin is not None:
            return builtin(self, node)
        if is_dtype(found):
            return self.bound_with(("asarray", "array"), name, node, {"dtype": self.constant(constant_of(found), node)})
        if name_in_numpy(found)[0] is not None:
            return self.call_of_numpy(found, name, node)
        if found is getattr(math, getattr(found, "__name__", ""), None):
            return self.call_of_math(found, name, node)
        return self.call_refused(found, name, node)

    def call_refused(self, found, name, node):
        builtin_calls.refuse_builtin(self, found, node)
        if isinstance(found, types.FunctionType):
            raise self.refuse(node, f"the plain Python function {name}", f"decorate {name} with @quern.tree")
        if getattr(found, "__name__", "") == "prange":
            raise self.refuse(node, f"{name} outside of a for loop", f"write for i in {name}(n)")
        raise self.refuse(node, f"a call of {describe(found)} {name}",
                          "call a function of NumPy, a built-in one or another tree")

    def call_of_math(self, found, name, node):
        arguments = [self.expression(a) for a in node.args]
        if arguments and not node.keywords and all(a.kind == "constant" for a in arguments):
            value = found(*(a.payload for a in arguments))
            if is_constant(value):
                return self.constant(value, node)
        instead = found.__name__ if hasattr(np, found.__name__) else None
        raise self.refuse(node, f"the function {name}", f"write np.{instead}" if instead else "write it with NumPy")

    def call_of_numpy(self, found, name, node):
        names = primitive_names(found)
        primitive = backend.first_of(*names)
        if primitive is None and found in CALLED_IN_PYTHON:
            return self.call_of_numpy_in_python(found, node, [])
        if primitive is None:
            close = difflib.get_close_matches(names[-1], backend.all_parameters(), 1, 0.75)
            hint = f"; the nearest that there is: {close[0]}" if close else ""
            raise self.refuse(node, f"the function {name}", f"there is no primitive for it{hint}")
        return self.bound(primitive, name, node, function=found)

    def call_of_numpy_in_python(self, found, node, first):
        """A call of a function of NumPy without a primitive, as a call of Python. first: the array whose method it is."""
        parameters = inspect.signature(found).parameters
        try:
            given = inspect.signature(found).bind(*first, *node.args, **{k.arg: k for k in node.keywords}).arguments
        except TypeError as error:
            raise self.refuse(node, f"{ast.unparse(node.func)}: {error}", f"it takes {', '.join(parameters)}") from None
        for keyword in node.keywords:
            if keyword.arg == "out":
                raise self.refuse(keyword, f"the keyword out of {ast.unparse(node.func)}",
                                  self.keyword_hint("out", ast.unparse(node.func), parameters))
        if "out" in given:
            raise self.refuse(node, f"the argument out of {ast.unparse(node.func)}",
                              self.keyword_hint("out", ast.unparse(node.func), parameters))
        values = [*first, *[self.expression(a) for a in node.args], *[self.expression(k.value) for k in node.keywords]]
        names = [k.arg for k in node.keywords]
        self.note_python(node)
        return Node("call_foreign", values, self.where(node), name=ast.unparse(node.func), payload=with_keywords(found, names))

    # Arguments and parameters.

    def bound(self, primitive, name, node, first=None, function=None):
        """A call of a primitive with the arguments of a call. first: the array whose method it is; function: NumPy's, whose
        order the arguments have."""
        values = [] if first is None else [first]
        values += [self.display(a) for a in node.args]
        keywords = {k.arg: (self.display(k.value), k) for k in node.keywords}
        order = positional_names(function)
        if order is not None and len(values) > 1:
            values, more = self.in_order(primitive, name, node, values, order)
            keywords = more | keywords if not more.keys() & keywords.keys() else keywords
        return self.bound_values(primitive, name, node, values, keywords)

    def in_order(self, primitive, name, node, values, order):
        """Takes apart positional arguments: those whose place is the primitive's, and others by keyword. NumPy's sum has
        dtype third, the primitive keepdims."""
        names = [parameter for parameter, _, _ in backend.parameters(primitive)]
        count = 0
        while count < len(values) and count < len(order) and count < len(names) and (
                names[count] == order[count] or names[count] not in order):
            count += 1
        keywords = {}
        for wanted, value in zip(order[count:], values[count:], strict=False):
            if wanted not in names:
                raise self.refuse(node, f"the argument {wanted} of {name}", self.keyword_hint(wanted, name, names))
            keywords[wanted] = (value, node)
        return (values[:count], keywords) if len(values) <= len(order) else (values, {})

    def bound_values(self, primitive, name, node, values, keywords):
        wanted = None if primitive is None else backend.parameters(primitive)
        if wanted is None:
            raise self.refuse(node, f"the function {name}", "there is no primitive for it")
        names = [parameter for parameter, _, _ in wanted]
        if len(values) > len(names):
            raise self.refuse(node, f"{name} with {len(values)} arguments",
                              f"it takes at most {len(names)}: {', '.join(names)}")
        given = dict(zip(names, values, strict=False))
        for keyword, (value, at) in keywords.items():
            if keyword not in names:
                raise self.refuse(at, f"the keyword {keyword} of {name}", self.keyword_hint(keyword, name, names))
            if keyword in given:
                raise self.refuse(at, f"{name} with two values of {keyword}", "give it once")
            given[keyword] = value
        return Node("call", self.operands_of(wanted, given, name, node), self.where(node), name=primitive)

    def operands_of(self, wanted, given, name, node):
        """The operands in the order of the parameters, up to the last that is given: the others have their defaults."""
        operands, last = [], max((i for i, (p, _, _) in enumerate(wanted) if p in given), default=-1)
        for i, (parameter, has_default, default) in enumerate(wanted):
            if parameter in given:
                operands.append(given[parameter])
            elif not has_default:
                raise self.refuse(node, f"{name} without {parameter}", f"it takes {', '.join(p for p, _, _ in wanted)}")
            elif i < last:
                operands.append(self.constant(constant_of(default), node))
        return operands

    def keyword_hint(self, keyword, name, names):
        if keyword == "out":
            return f"write x[...] = {name}(...)"
        if keyword == "where":
            return "write np.where, or select with x[mask]"
        return "accepted are " + ", ".join(names)

    def bound_with(self, names, written, node, extra):
        """As bound, with further values by keyword."""
        primitive = backend.first_of(*names)
        if primitive is None:
            raise self.refuse(node, f"the function {written}", f"there is no primitive {names[0]}")
        keywords = {key: (value, node) for key, value in extra.items()}
        return self.bound_values(primitive, written, node, [self.display(a) for a in node.args], keywords)

    def array_of(self, values, node):
        """np.array of a tuple."""
        return self.bound_values(backend.first_of("array", "asarray"), "np.array", node, [values], {})

    # Methods.

    def method(self, node):
        name = node.func.attr
        self.check_value(node.func.value)
        special = SPECIAL_METHODS.get(name)
        if special is not None:
            return special(self, node)
        names = METHODS.get(name)
        if name == "round" and backend.first_of(*names) is None:
            return self.call_of_numpy_in_python(np.round, node, [self.expression(node.func.value)])
        if names is None or backend.first_of(*names) is None:
            close = difflib.get_close_matches(name, METHODS, 1)
            instead = OTHER_METHODS.get(name) or ("call a function of NumPy, or give fallback=\"python\""
                                                  + (f"; the nearest that there is: .{close[0]}()" if close else ""))
            raise self.refuse(node, f"the method .{name}()", instead)
        return self.bound(backend.first_of(*names), f"the method .{name}()", node, self.expression(node.func.value),
                          getattr(np, name, None))

    def many_as_tuple(self, node):
        """x.reshape(2, 3) as x.reshape((2, 3)); the same for transpose."""
        base = self.expression(node.func.value)
        values = [self.display(a) for a in node.args]
        if len(values) > 1:
            values = [self.tuple_of(values, node)]
        keywords = {k.arg: (self.display(k.value), k) for k in node.keywords}
        name = node.func.attr
        return self.bound_values(backend.first_of(name), f"the method .{name}()", node, [base, *values], keywords)

    def fill(self, node):
        """x.fill(v) as x[...] = v."""
        if len(node.args) != 1 or node.keywords:
            raise self.refuse(node, "the method .fill() without one value", "write x[...] = value")
        operands = [self.expression(node.func.value), self.constant(Ellipsis, node), self.expression(node.args[0])]
        return self.primitive(("setitem",), operands, node, "the method .fill()")

    def flatten(self, node):
        """x.flatten() is always a copy."""
        if node.args or node.keywords:
            raise self.refuse(node, "the method .flatten() with arguments", "write x.flatten()")
        copied = self.primitive(("copy",), [self.expression(node.func.value)], node, "the method .flatten()")
        return self.bound_values(backend.first_of("ravel"), "the method .flatten()", node, [copied], {})

    def sort_in_place(self, node):
        raise self.refuse(node, "the method .sort(), which gives nothing,", "write x = np.sort(x)")

    # Other trees.

    def call_of_tree(self, other, node):
        """A call of a tree with Python's binding of its arguments."""
        signature = other.signature
        try:
            bound = signature.bind(*node.args, **{k.arg: k.value for k in node.keywords})
        except TypeError as error:
            raise self.refuse(node, f"{other.name}(): {error}", f"its parameters are {signature}") from None
        operands = []
        for name, parameter in signature.parameters.items():
            if name in bound.arguments:
                operands.append(self.expression(bound.arguments[name]))
            elif is_constant(parameter.default) and parameter.default is not inspect.Parameter.empty:
                operands.append(self.constant(constant_of(parameter.default), node))
            else:
                raise self.refuse(node, f"the default of {other.name}({name})", "give the argument")
        self.callees.append(other)
        return Node("call_tree", operands, self.where(node), name=other.name, payload=other)


@functools.cache
def positional_names(function):
    """The parameters of a function of NumPy that may be given by position, or None where they are not known."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


# Functions of NumPy that trees call in Python where they have no primitive.
CALLED_IN_PYTHON = (np.round, np.around)


def with_keywords(function, names):
    """The function with its last arguments by these keywords."""
    if not names:
        return function

    def call(*values):
        count = len(values) - len(names)
        return function(*values[:count], **dict(zip(names, values[count:], strict=True)))
    return call


class TreeLike:
    """Base of quern.tree's objects, so that this module needs no import of them."""


SPECIAL_METHODS = {
    "reshape": Calls.many_as_tuple, "transpose": Calls.many_as_tuple, "fill": Calls.fill, "sort": Calls.sort_in_place,
    "flatten": Calls.flatten,
}
