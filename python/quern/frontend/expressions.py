# SPDX-License-Identifier: BSL-1.0
"""Expressions: one method for each class of ast."""

import ast
import operator

from . import backend
from .names import NOT_STATIC, Later, constant_of, is_constant
from .nodes import Node, is_simple
from .operators import BINARY, COMPARISONS, SIGNS, UNARY
from .refused import EXPRESSIONS, describe
from .tables import ATTRIBUTES

FOLDED = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.USub: operator.neg,
    ast.UAdd: operator.pos, ast.Invert: operator.invert,
}


class Expressions:
    """Part of Lowering."""

    def expression(self, node):
        """The node that gives the value of an expression."""
        return self.attempt(self.expression_in_tree, self.python_expression, node)

    def expression_in_tree(self, node):
        handler = getattr(self, "on_" + type(node).__name__, None)
        if handler is None or not isinstance(node, ast.expr):
            construct, instead = EXPRESSIONS.get(type(node), (type(node).__name__, "write it without"))
            raise self.refuse(node, construct, instead)
        return handler(node)

    def primitive(self, names, operands, at, written):
        """A call of the first primitive of these names that there is."""
        name = backend.first_of(*names)
        if name is None:
            raise self.refuse(at, written, f"there is no primitive {names[0]}")
        return Node("call", operands, self.where(at), name=name)

    def on_Constant(self, node):
        if isinstance(node.value, (complex, bytes)):
            raise self.refuse(node, f"a constant of type {type(node.value).__name__}",
                              "numbers are bool, int and float")
        if not is_constant(node.value):
            raise self.refuse(node, "an integer of more than 64 bits", "write a float")
        return self.constant(node.value, node)

    def on_Name(self, node):
        if node.id in self.locals:
            if node.id in self.lost:
                raise self.refuse(node, f"reading {node.id} after the prange in line "
                                  f"{self.where(self.lost[node.id])[0]}, whose iterations each have their own,",
                                  "store it into an array element in the loop")
            return self.load(node.id, node)
        return self.object(self.static(node), node)

    def object(self, found, node):
        """A constant of an object outside the function."""
        if isinstance(found, Later):
            return self.python_node(node) if self.complete else self.constant(None, node)
        if not is_constant(found):
            raise self.refuse(node, f"{describe(found)} {ast.unparse(node)} as a value",
                              "what a tree reads from outside is a number, a string, an array, a dtype or a tuple of "
                              "these; give others as arguments to Python")
        return self.constant(constant_of(found), node)

    def on_Attribute(self, node):
        found = self.static(node)
        if found is not NOT_STATIC:
            return self.object(found, node)
        base = self.static(node.value)
        if base is not NOT_STATIC and not isinstance(base, Later) and not is_constant(base):
            raise self.refuse(node, f"an attribute of {describe(base)} {ast.unparse(node.value)}",
                              "read it into a global or give it as an argument")
        self.check_value(node.value)
        names = ATTRIBUTES.get(node.attr)
        if names is None:
            raise self.refuse(node, f"the attribute .{node.attr}",
                              "those of arrays are " + ", ".join("." + name for name in ATTRIBUTES))
        return self.primitive(names, [self.expression(node.value)], node, f"the attribute .{node.attr}")

    def on_BinOp(self, node):
        for side in (node.left, node.right):
            if isinstance(side, ast.List) or (isinstance(side, ast.Constant) and isinstance(side.value, str)):
                what = "a list" if isinstance(side, ast.List) else "a string"
                raise self.refuse(node, f"the operator {SIGNS[type(node.op)]} on {what}",
                                  "write it with arrays: np.array, np.full, np.concatenate")
        left, right = self.expression(node.left), self.expression(node.right)
        folded = self.folded(node.op, (left, right), node)
        return folded or self.primitive(BINARY[type(node.op)], [left, right], node,
                                        f"the operator {SIGNS[type(node.op)]}")

    def on_UnaryOp(self, node):
        operand = self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            return Node("negation", [operand], self.where(node))
        folded = self.folded(node.op, (operand,), node)
        return folded or self.primitive(UNARY[type(node.op)], [operand], node, f"the operator {SIGNS[type(node.op)]}")

    def folded(self, op, operands, node):
        """The constant of an operation on numbers written in the source, or None."""
        if type(op) not in FOLDED or not all(o.kind == "constant" and type(o.payload) in (int, float) for o in operands):
            return None
        if isinstance(op, ast.Pow) and abs(operands[1].payload) > 64:
            return None
        try:
            value = FOLDED[type(op)](*(o.payload for o in operands))
        except ArithmeticError:
            return None
        return self.constant(value, node) if type(value) in (int, float) and is_constant(value) else None

    def on_BoolOp(self, node):
        kind = "both" if isinstance(node.op, ast.And) else "either"
        value = self.expression(node.values[-1])
        for part in reversed(node.values[:-1]):
            value = Node(kind, [self.expression(part), value], self.where(node))
        return value

    def on_IfExp(self, node):
        return self.branch(self.expression(node.test), self.expression(node.body), self.expression(node.orelse), node)

    def on_Compare(self, node):
        if len(node.ops) == 1:
            return self.comparison(node.ops[0], node.left, node.comparators[0], node)
        # a < b < c: b is evaluated once. All but the last are kept in variables, in their order.
        setup, reads = [], []
        for part in [node.left, *node.comparators]:
            value = self.expression(part)
            if not is_simple(value):
                variable = self.temporary()
                setup.append(self.store(variable, value, part))
                reads.append(lambda v=variable, p=part: self.load(v, p))
            else:
                reads.append(lambda n=value: Node(n.kind, [], n.where, n.name, n.slot, n.variable, n.payload))
        value = None
        for i in reversed(range(len(node.ops))):
            one = self.compare_nodes(node.ops[i], reads[i](), reads[i + 1](), node)
            value = one if value is None else Node("both", [one, value], self.where(node))
        return self.value_after(setup, value, node)

    def comparison(self, op, left, right, node):
        if isinstance(op, (ast.Is, ast.IsNot)):
            if not any(isinstance(side, ast.Constant) and side.value is None for side in (left, right)):
                raise self.refuse(node, f"the operator {SIGNS[type(op)]}", "only `is None` and `is not None`; write ==")
            return self.is_none(op, left if isinstance(right, ast.Constant) else right, node)
        if isinstance(op, (ast.In, ast.NotIn)):
            raise self.refuse(node, f"the operator {SIGNS[type(op)]}", "write np.any(x == value)")
        return self.compare_nodes(op, self.expression(left), self.expression(right), node)

    def compare_nodes(self, op, left, right, node):
        names = COMPARISONS.get(type(op))
        if names is None:
            raise self.refuse(node, f"the operator {SIGNS[type(op)]} in a chain", "write the comparisons with `and`")
        return self.primitive(names, [left, right], node, f"the operator {SIGNS[type(op)]}")

    def is_none(self, op, value, node):
        operand = self.expression(value)
        if operand.kind == "constant":
            return self.constant((operand.payload is None) == isinstance(op, ast.Is), node)
        name = backend.first_of("is_none")
        if name is not None:
            found = Node("call", [operand], self.where(node), name=name)
        else:
            self.note_python(node)
            found = Node("call_foreign", [operand], self.where(node), name="is None", payload=is_none)
        return Node("negation", [found], self.where(node)) if isinstance(op, ast.IsNot) else found

    def on_Subscript(self, node):
        self.check_value(node.value)
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            raise self.refuse(node, "a string as index", "use one variable for each value")
        return self.get_item(self.expression(node.value), self.index(node.slice), node)

    def get_item(self, base, index, at):
        return self.primitive(("getitem",), [base, index], at, "a subscript")

    def index(self, node):
        """What stands in brackets: a list is an array of integers or of bool."""
        if isinstance(node, ast.Tuple):
            return self.tuple_of([self.index(part) for part in node.elts], node)
        if isinstance(node, ast.List):
            return self.array_of(self.display(node), node)
        return self.expression(node)

    def on_Slice(self, node):
        parts = [self.constant(None, node) if part is None else self.expression(part)
                 for part in (node.lower, node.upper, node.step)]
        return Node("make_slice", parts, self.where(node))

    def on_Tuple(self, node):
        for part in node.elts:
            if isinstance(part, ast.Starred):
                raise self.refuse(part, f"the starred {ast.unparse(part)}", "write each element")
        return self.tuple_of([self.expression(part) for part in node.elts], node)

    def display(self, node):
        """A list or a tuple where both mean the same: an argument of np.array, a shape, what a loop runs over."""
        if not isinstance(node, (ast.List, ast.Tuple)):
            return self.expression(node)
        for part in node.elts:
            if isinstance(part, ast.Starred):
                raise self.refuse(part, f"the starred {ast.unparse(part)}", "write each element")
        return self.tuple_of([self.display(part) for part in node.elts], node)

    def on_List(self, node):
        raise self.refuse(node, "a list as a value", "write a tuple, or np.array([...])")


def is_none(value):
    return value is None
