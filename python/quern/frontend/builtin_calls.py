# SPDX-License-Identifier: BSL-1.0
"""Python's built-in functions in a tree."""

import ast
import builtins

from . import backend
from .nodes import Node
from .refused import BUILTINS


def handler_of(found):
    """The function that lowers a call of a built-in one, or None."""
    try:
        return HANDLERS.get(found)
    except TypeError:
        return None


def refuse_builtin(lowering, found, node):
    name = getattr(found, "__name__", None)
    if name in BUILTINS and getattr(builtins, name, None) is found:
        raise lowering.refuse(node, f"the function {name}", BUILTINS[name])


def arguments(lowering, node, least, most):
    """The nodes of the arguments of a call without keywords."""
    if node.keywords:
        raise lowering.refuse(node.keywords[0], f"the keyword {node.keywords[0].arg} of {node.func.id}", "leave it out")
    if not least <= len(node.args) <= most:
        raise lowering.refuse(node, f"{ast.unparse(node.func)} with {len(node.args)} arguments",
                              f"give {least}" + (f" to {most}" if most != least else ""))
    return [lowering.expression(a) for a in node.args]


def length(lowering, node):
    return length_of(lowering, arguments(lowering, node, 1, 1)[0], node)


def length_of(lowering, value, at):
    name = backend.first_of("len")
    if name is not None:
        return Node("call", [value], lowering.where(at), name=name)
    shape = lowering.primitive(("shape",), [value], at, "len")
    return lowering.get_item(shape, lowering.constant(0, at), at)


def absolute(lowering, node):
    return lowering.primitive(("absolute", "abs"), arguments(lowering, node, 1, 1), node, "abs")


def total(lowering, node):
    values = arguments(lowering, node, 1, 2)
    name = backend.first_of("sum")
    result = lowering.bound_values(name, "sum", node, [values[0], lowering.constant(0, node)], {})
    return lowering.primitive(("add",), [result, values[1]], node, "sum") if len(values) == 2 else result


def power(lowering, node):
    return lowering.primitive(("power",), arguments(lowering, node, 2, 2), node, "pow")


def extreme(lowering, node, comparison, reduction):
    """min and max: of the elements of one array, or of several values one after the other as Python does."""
    if len(node.args) == 1:
        values = arguments(lowering, node, 1, 1)
        return lowering.bound_values(backend.first_of(*reduction), node.func.id, node, values, {})
    values = arguments(lowering, node, 2, 16)
    best, other = lowering.temporary(), lowering.temporary()
    steps = [lowering.store(best, values[0], node)]
    for value in values[1:]:
        test = lowering.primitive((comparison,), [lowering.load(other, node), lowering.load(best, node)], node, "min")
        steps.append(lowering.store(other, value, node))
        steps.append(lowering.branch(test, lowering.store(best, lowering.load(other, node), node), None, node))
    return lowering.value_after(steps, lowering.load(best, node), node)


def smallest(lowering, node):
    return extreme(lowering, node, "less", ("min", "amin"))


def largest(lowering, node):
    return extreme(lowering, node, "greater", ("max", "amax"))


def scalar(function):
    """float, int, bool, round: the primitive of that name, or Python's function."""
    name = function.__name__

    def lowered(lowering, node):
        most = 2 if function is round else 1
        values = arguments(lowering, node, 1, most)
        primitive = backend.first_of(f"to_{name}", f"python_{name}") if len(values) == 1 else None
        if primitive is not None:
            return Node("call", values, lowering.where(node), name=primitive)
        lowering.note_python(node)
        return Node("call_foreign", values, lowering.where(node), name=name, payload=function)
    return lowered


def truth(lowering, node):
    value = arguments(lowering, node, 1, 1)[0]
    inner = Node("negation", [value], lowering.where(node))
    return Node("negation", [inner], lowering.where(node))


def output(lowering, node):
    return lowering.python_node(node)


HANDLERS = {
    len: length, abs: absolute, sum: total, pow: power, min: smallest, max: largest, float: scalar(float),
    int: scalar(int), round: scalar(round), bool: truth, print: output,
}
