# SPDX-License-Identifier: BSL-1.0
"""Parts of a function that call Python: print, raise, and with fallback="python" what has no node. They are compiled to a
function that gets the variables they read and gives those they store."""

import ast
import copy
import types

from .nodes import Node
from .variables import SCOPES, read_names, stored_names


class PythonCalls:
    """Part of Lowering."""

    def note_python(self, node):
        line, text = self.where(node)[0], ast.unparse(node).splitlines()[0]
        if (line, text) not in self.in_python:
            self.in_python.append((line, text))

    def python_expression(self, node):
        """An expression whose node calls Python, under fallback="python"."""
        if any(isinstance(part, (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)) for part in ast.walk(node)):
            return self.expression_in_tree(node)
        if not isinstance(node, ast.expr) or isinstance(node, (ast.Starred, ast.Slice)):
            return self.expression_in_tree(node)
        return self.python_node(node)

    def python_node(self, node):
        """A call of Python that gives the value of an expression."""
        reads = [n for n in read_names(node) if n in self.locals]
        function = self.python_function([ast.copy_location(ast.Return(copy.deepcopy(node)), node)], reads, node)
        self.note_python(node)
        operands = [self.load(name, node) for name in reads]
        return Node("call_foreign", operands, self.where(node), name=ast.unparse(node), payload=function)

    def python_statement(self, node):
        """Nodes of a statement that calls Python."""
        returns = any(isinstance(part, ast.Return) for part in own_parts(node))
        if leaves_loop(node) or (returns and any(loop.parallel for loop in self.loops)):
            return self.statement_in_tree(node)
        stores = [n for n in stored_names(node) if n in self.locals]
        reads = [n for n in dict.fromkeys(read_names(node) + stores) if n in self.locals and n in self.assigned]
        body = [copy.deepcopy(node)]
        values = ast.Tuple([ast.Name(n, ast.Load()) for n in stores], ast.Load())
        if returns:
            body = [Returns().visit(body[0])]
            values = ast.Tuple([ast.Constant(False), values], ast.Load())
        body.append(ast.Return(values if stores or returns else ast.Constant(None)))
        function = self.python_function(body, reads, node)
        self.note_python(node)
        text = ast.unparse(node).splitlines()[0]
        call = Node("call_foreign", [self.load(n, node) for n in reads], self.where(node), name=text, payload=function)
        self.assigned.update(stores)
        self.from_python.update(stores)
        return self.python_results(call, stores, returns, node)

    def python_results(self, call, stores, returns, node):
        if not stores and not returns:
            return [call]
        result = self.temporary()
        nodes = [self.store(result, call, node)]
        values = result
        if returns:
            leave = Node("result", [self.unpacked(result, 1, 2, node)], self.where(node))
            nodes.append(self.branch(self.unpacked(result, 0, 2, node), leave, None, node))
            if stores:
                values = self.temporary()
                nodes.append(self.store(values, self.unpacked(result, 1, 2, node), node))
        for i, name in enumerate(stores):
            nodes.append(self.store(name, self.unpacked(values, i, len(stores), node), node))
        return nodes

    def python_function(self, body, parameters, at):
        """A function of these statements in the globals and closure of the whole function."""
        for statement in body:
            ast.copy_location(statement, at)
        used = {part.id for s in body for part in ast.walk(s) if isinstance(part, ast.Name)}
        free = [n for n in self.names.closure if n in used and n not in parameters]
        inner = definition("inner", parameters, body)
        outer = definition("outer", free, [inner, ast.Return(ast.Name("inner", ast.Load()))])
        module = ast.Module([ast.copy_location(outer, at)], [])
        ast.increment_lineno(ast.fix_missing_locations(module), self.source.line_shift)
        code = compile(module, self.source.filename, "exec")
        code = code_named(code_named(code, "outer"), "inner")
        code = code.replace(co_name=self.source.function.__name__)
        cells = tuple(self.names.closure[n] for n in code.co_freevars)
        return types.FunctionType(code, self.names.globals, code.co_name, None, cells)


def definition(name, parameters, body):
    arguments = ast.arguments([], [ast.arg(n) for n in parameters], None, [], [], None, [])
    made = ast.parse(f"def {name}(): pass").body[0]
    made.args, made.body = arguments, body
    return made


def code_named(code, name):
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


def own_parts(node):
    """The node and those below it, without inner functions."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, SCOPES):
            yield from own_parts(child)


def leaves_loop(node, inside=False):
    """Whether a break or continue of an outer loop, or a declaration of names of outside, is in a statement."""
    if isinstance(node, SCOPES):
        return False
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return True
    if isinstance(node, (ast.Break, ast.Continue)):
        return not inside
    if isinstance(node, (ast.For, ast.While)):
        return (any(leaves_loop(child, True) for child in node.body)
                or any(leaves_loop(child, inside) for child in node.orelse))
    return any(leaves_loop(child, inside) for child in ast.iter_child_nodes(node))


class Returns(ast.NodeTransformer):
    """`return x` as `return (True, x)`."""

    def visit_Return(self, node):
        value = node.value or ast.Constant(None)
        return ast.copy_location(ast.Return(ast.Tuple([ast.Constant(True), value], ast.Load())), node)

    def visit_FunctionDef(self, node):
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef
