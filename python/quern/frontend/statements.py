# SPDX-License-Identifier: BSL-1.0
"""Statements but for loops."""

import ast
import operator

from . import backend
from .nodes import Node, is_simple
from .operators import IN_PLACE, SIGNS
from .refused import STATEMENTS


class Statements:
    """Part of Lowering."""

    def function_body(self, definition):
        body = definition.body
        nodes = self.statements(body)
        if not body or not isinstance(body[-1], ast.Return):
            nodes.append(Node("result", [self.constant(None, body[-1])], self.where(body[-1])))
        return self.block(nodes, definition)

    def statements(self, body):
        """The nodes of a list of statements."""
        nodes = []
        for statement in body:
            nodes += self.attempt(self.statement_in_tree, self.python_statement, statement)
        return nodes

    def body(self, statements, at):
        """One node of a list of statements."""
        nodes = self.statements(statements)
        return self.block(nodes, at) if nodes else self.constant(None, at)

    def statement_in_tree(self, node):
        handler = getattr(self, "do_" + type(node).__name__, None)
        if handler is None:
            construct, instead = STATEMENTS.get(type(node), (type(node).__name__, "write it without"))
            raise self.refuse(node, construct, instead)
        return handler(node)

    def do_Pass(self, node):
        return []

    def do_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return []
        return [self.expression(node.value)]

    def do_Return(self, node):
        if any(loop.parallel for loop in self.loops):
            raise self.refuse(node, "return in a prange", "its iterations run at the same time: store into an array")
        value = self.constant(None, node) if node.value is None else self.expression(node.value)
        return [Node("result", [value], self.where(node))]

    def do_Assert(self, node):
        message = [node.msg] if node.msg else []
        call = ast.Call(ast.Name("AssertionError", ast.Load()), message, [])
        raised = ast.copy_location(ast.Raise(ast.copy_location(call, node), None), node)
        ast.fix_missing_locations(raised)
        failed = self.block(self.python_statement(raised), node)
        return [self.branch(Node("negation", [self.expression(node.test)], self.where(node)), failed, None, node)]

    def do_Raise(self, node):
        return self.python_statement(node)

    def do_If(self, node):
        test = self.expression(node.test)
        lost = dict(self.lost)
        then = self.body(node.body, node)
        after, self.lost = self.lost, lost
        otherwise = self.body(node.orelse, node) if node.orelse else None
        self.lost = {**after, **self.lost}
        return [self.branch(test, then, otherwise, node)]

    # Assignments.

    def do_Assign(self, node):
        if len(node.targets) == 1:
            return self.assign(node.targets[0], node.value, node)
        variable = self.temporary()
        nodes = [self.store(variable, self.expression(node.value), node)]
        for target in node.targets:
            nodes += self.assign_node(target, self.load(variable, node), node)
        return nodes

    def do_AnnAssign(self, node):
        return [] if node.value is None else self.assign(node.target, node.value, node)

    def assign(self, target, value, at):
        """target = value, both ast."""
        pairs = isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List))
        if pairs and len(target.elts) == len(value.elts) and not starred(target) and not starred(value):
            return self.assign_pairs(target, value, at)
        if isinstance(target, (ast.Tuple, ast.List)):
            return self.assign_node(target, self.display(value), at)
        return self.assign_node(target, self.expression(value), at)

    def assign_pairs(self, target, value, at):
        """a, b = b, a: all values first, then the assignments."""
        nodes, values = [], []
        for part in value.elts:
            one = self.expression(part)
            if one.kind != "constant":
                variable = self.temporary()
                nodes.append(self.store(variable, one, part))
                one = self.load(variable, part)
            values.append(one)
        for each, one in zip(target.elts, values, strict=True):
            nodes += self.assign_node(each, one, at)
        return nodes

    def assign_node(self, target, value, at):
        """target = value, with a node for the value."""
        if isinstance(target, ast.Name):
            return [self.assign_name(target, value, at)]
        if isinstance(target, (ast.Tuple, ast.List)):
            return self.assign_parts(target, value, at)
        if isinstance(target, ast.Subscript):
            operands = [self.expression(target.value), self.index(target.slice), value]
            return [self.primitive(("setitem",), operands, at, "assignment to a subscript")]
        if isinstance(target, ast.Attribute):
            instead = "write x = x.reshape(...)" if target.attr == "shape" else "assign to a variable or to elements"
            raise self.refuse(target, f"assignment to the attribute .{target.attr}", instead)
        raise self.refuse(target, f"the starred target {ast.unparse(target)}", "name each element")

    def assign_name(self, target, value, at):
        if target.id not in self.locals:
            raise self.refuse(target, f"assignment to the global {target.id}", "return the value")
        self.assigned.add(target.id)
        self.lost.pop(target.id, None)
        if value.kind == "call_foreign" and self.fallback == "python":
            self.from_python.add(target.id)
        return self.store(target.id, value, at)

    def assign_parts(self, target, value, at):
        for part in target.elts:
            if isinstance(part, ast.Starred):
                raise self.refuse(part, f"the starred target {ast.unparse(part)}", "name each element")
        if value.kind == "make_tuple" and len(value.operands) == len(target.elts) and all(
                is_simple(v) for v in value.operands) and not self.reads_targets(value, target):
            return [n for t, v in zip(target.elts, value.operands, strict=True) for n in self.assign_node(t, v, at)]
        variable, nodes = self.temporary(), []
        nodes.append(self.store(variable, value, at))
        for i, part in enumerate(target.elts):
            nodes += self.assign_node(part, self.unpacked(variable, i, len(target.elts), at), at)
        return nodes

    def reads_targets(self, value, target):
        names = {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
        return any(operand.variable in names for operand in value.operands)

    def unpacked(self, variable, i, count, at):
        """Element i of the tuple in a variable, which must have `count` elements."""
        return Node("item", [self.load(variable, at)], self.where(at), name=str(count), slot=i)

    def do_AugAssign(self, node):
        written = f"the operator {SIGNS[type(node.op)]}="
        target = node.target
        if isinstance(target, ast.Name):
            old = self.on_Name(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            value = self.operated(node.op, old, self.expression(node.value), node, written)
            return [self.assign_name(target, value, node)]
        if isinstance(target, ast.Subscript):
            return self.augment_item(node, target, written)
        raise self.refuse(target, f"{written} on the attribute .{target.attr}", "use a variable")

    def augment_item(self, node, target, written):
        nodes, reads = [], []
        for part in (self.expression(target.value), self.index(target.slice)):
            variable = self.temporary()
            nodes.append(self.store(variable, part, node))
            reads.append(variable)
        old = self.get_item(self.load(reads[0], node), self.load(reads[1], node), node)
        value = self.operated(node.op, old, self.expression(node.value), node, written)
        operands = [self.load(reads[0], node), self.load(reads[1], node), value]
        return [*nodes, self.primitive(("setitem",), operands, node, written)]

    def operated(self, op, old, value, node, written):
        """The new value of an augmented assignment: written into the memory of an array."""
        name = IN_PLACE[type(op)]
        if backend.first_of(name) is not None:
            return Node("call", [old, value], self.where(node), name=name)
        self.note_python(node)
        return Node("call_foreign", [old, value], self.where(node), name=written, payload=getattr(operator, name))


def starred(node):
    return any(isinstance(part, ast.Starred) for part in node.elts)
