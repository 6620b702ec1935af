# SPDX-License-Identifier: BSL-1.0
"""Nodes before they are given to quern._core.Tree: made freely, thrown away where a part is refused, emitted once."""


class Node:
    """One node: `kind` is a name of arrays::node_kind; `payload` a constant's value, a foreign callable or another tree."""

    __slots__ = ("kind", "operands", "where", "name", "slot", "variable", "payload")

    def __init__(self, kind, operands, where, name="", slot=0, variable=None, payload=None):
        self.kind = kind
        self.operands = operands
        self.where = where
        self.name = name
        self.slot = slot
        self.variable = variable
        self.payload = payload


def emit(node, tree):
    """Adds the node with its operands to a Tree; its number there."""
    operands = [emit(operand, tree) for operand in node.operands]
    if node.kind == "constant":
        return tree.constant(node.payload, node.where)
    if node.kind == "call_foreign":
        return tree.foreign(node.payload, node.name, operands, node.where)
    if node.kind == "call_tree":
        target = node.payload.target()
        if target is None:
            return tree.foreign(node.payload.function, node.name, operands, node.where)
        return tree.call_of(target, operands, node.where)
    slot = node.slot if node.variable is None else tree.variable(node.variable)
    return tree.node(node.kind, operands, node.where, node.name, slot)


def all_nodes(node):
    """The node and those below it."""
    yield node
    for operand in node.operands:
        yield from all_nodes(operand)


def is_simple(node):
    """Whether evaluating it twice, or after its neighbours, makes no difference."""
    return node.kind in ("constant", "load")
