# SPDX-License-Identifier: BSL-1.0
"""Loops: while, for over arrays, tuples, range, zip and enumerate, and quern.prange."""

import ast

from .builtin_calls import length_of
from .nodes import Node
from .variables import first_read_before_store, stored_names


class prange:
    """A range whose iterations a tree runs as tasks, in any order; in plain Python, range.

        @quern.tree
        def rows(a, out):
            for i in quern.prange(len(a)):
                out[i] = a[i] @ a[i]

    What one iteration stores in variables is its own; results go into elements of arrays. Wrong arguments: range's errors.
    """

    def __new__(cls, *args):
        return range(*args)


class Loop:
    """A loop around the statement that is lowered."""

    def __init__(self, parallel=False, flag=None):
        self.parallel = parallel
        self.flag = flag  # variable that tells `else` whether the loop ended by itself


class Iteration:
    """Part of Lowering."""

    def value_after(self, steps, value, at):
        """A value, after steps that give None."""
        for step in reversed(steps):
            value = Node("either", [step, value], self.where(at))
        return value

    def do_Break(self, node):
        loop = self.loops[-1]
        if loop.parallel:
            raise self.refuse(node, "break in a prange", "write range, or let iterations do nothing")
        leave = Node("leave", [], self.where(node))
        if loop.flag is None:
            return [leave]
        return [self.store(loop.flag, self.constant(False, node), node), leave]

    def do_Continue(self, node):
        return [Node("next", [], self.where(node))]

    def do_While(self, node):
        before, loop = self.loop_begins(node)
        test = self.expression(node.test)
        body = self.loop_body(node, loop)
        return [*before, Node("loop", [test, body], self.where(node)), *self.loop_ends(node, loop)]

    def loop_begins(self, node):
        """Nodes before a loop, and the Loop."""
        if not node.orelse:
            return [], Loop()
        loop = Loop(flag=self.temporary())
        return [self.store(loop.flag, self.constant(True, node), node)], loop

    def loop_body(self, node, loop, first=()):
        """The body of a loop, after the nodes `first`."""
        self.loops.append(loop)
        nodes = [*first, *self.statements(node.body)]
        self.loops.pop()
        if self.lost and not loop.parallel:
            found = first_read_before_store(node.body, self.lost, skip=self.lost_in(node))
            if found is not None:
                self.on_Name(ast.copy_location(ast.Name(found.id, ast.Load()), found))
        return self.block(nodes, node) if nodes else self.constant(None, node)

    def lost_in(self, node):
        """The prange directly in the body of a loop that stores the lost names."""
        return next((s for s in node.body if s in self.lost.values()), None)

    def loop_ends(self, node, loop):
        if loop.flag is None:
            return []
        return [self.branch(self.load(loop.flag, node), self.body(node.orelse, node), None, node)]

    def do_For(self, node):
        self.check_value(node.iter)
        call = node.iter if isinstance(node.iter, ast.Call) else None
        function = self.static(call.func) if call else None
        if function is prange:
            return self.parallel_loop(node, call)
        if function in (zip, enumerate):
            return self.indexed_loop(node)
        operand = self.range_of_call(call) if function is range else self.display(node.iter)
        return self.simple_loop(node, operand)

    def range_of_call(self, call):
        """range(...) as a slice, which loops take as one."""
        if call.keywords or not 1 <= len(call.args) <= 3:
            raise self.refuse(call, f"{ast.unparse(call)}", "range takes 1 to 3 numbers")
        for part in call.args:
            if isinstance(part, ast.Starred):
                raise self.refuse(part, f"the starred argument {ast.unparse(part)}", "write each argument")
        parts = [self.expression(part) for part in call.args]
        if len(parts) == 1:
            parts.insert(0, self.constant(0, call))
        if len(parts) == 2:
            parts.append(self.constant(1, call))
        return Node("make_slice", parts, self.where(call))

    def simple_loop(self, node, operand, setup=(), first=None):
        """A loop whose element becomes a variable; `first` takes apart what the variable is, if it is not the target."""
        before, loop = self.loop_begins(node)
        variable, nodes = self.loop_target(node, first)
        body = self.loop_body(node, loop, nodes)
        made = Node("for_each", [operand, body], self.where(node), name=variable, variable=variable)
        return [*setup, *before, made, *self.loop_ends(node, loop)]

    def loop_target(self, node, first):
        if first is not None:
            return first
        if isinstance(node.target, ast.Name):
            self.assign_name(node.target, self.constant(None, node), node)
            return node.target.id, []
        variable = self.temporary()
        return variable, self.assign_node(node.target, self.load(variable, node.target), node.target)

    # zip and enumerate: a loop over indices.

    def indexed_loop(self, node):
        setup, length, element = self.sequence(node.iter)
        variable = self.temporary()
        value = element(lambda: self.load(variable, node.iter))
        nodes = self.assign_node(node.target, value, node.target)
        operand = Node("make_slice", [self.constant(0, node), length(), self.constant(1, node)], self.where(node.iter))
        return self.simple_loop(node, operand, setup, (variable, nodes))

    def sequence(self, node):
        """(nodes before, the length, the element of an index) of what a loop runs over."""
        call = node if isinstance(node, ast.Call) else None
        function = self.static(call.func) if call else None
        if function is zip:
            return self.sequence_of_zip(node)
        if function is enumerate:
            return self.sequence_of_enumerate(node)
        if function is range:
            return self.sequence_of_range(node)
        variable = self.temporary()
        setup = [self.store(variable, self.display(node), node)]
        return (setup, lambda: length_of(self, self.load(variable, node), node),
                lambda index: self.get_item(self.load(variable, node), index(), node))

    def sequence_of_range(self, node):
        if len(node.args) > 2:
            raise self.refuse(node, f"{ast.unparse(node)} in zip or enumerate", "write np.arange, or use the index")
        parts = self.range_of_call(node).operands
        first, count = self.temporary(), self.temporary()
        difference = self.primitive(("subtract",), [parts[1], self.load(first, node)], node, "range")
        setup = [self.store(first, parts[0], node), self.store(count, difference, node)]
        return (setup, lambda: self.load(count, node),
                lambda index: self.primitive(("add",), [self.load(first, node), index()], node, "range"))

    def sequence_of_zip(self, node):
        if not node.args or node.keywords:
            raise self.refuse(node, ast.unparse(node), "zip takes one array or more, and no keywords")
        parts = [self.sequence(part) for part in node.args]
        setup = [each for part in parts for each in part[0]]
        shortest, other = self.temporary(), self.temporary()
        setup.append(self.store(shortest, parts[0][1](), node))
        for part in parts[1:]:
            setup.append(self.store(other, part[1](), node))
            test = self.primitive(("less",), [self.load(other, node), self.load(shortest, node)], node, "zip")
            setup.append(self.branch(test, self.store(shortest, self.load(other, node), node), None, node))
        return (setup, lambda: self.load(shortest, node),
                lambda index: self.tuple_of([part[2](index) for part in parts], node))

    def sequence_of_enumerate(self, node):
        start = node.args[1] if len(node.args) == 2 else None
        for keyword in node.keywords:
            if keyword.arg == "start" and start is None:
                start = keyword.value
            else:
                raise self.refuse(keyword, f"the keyword {keyword.arg} of enumerate", "it takes an array and a start")
        if not 1 <= len(node.args) <= 2:
            raise self.refuse(node, ast.unparse(node), "enumerate takes an array and a start")
        setup, length, element = self.sequence(node.args[0])
        if start is None:
            return setup, length, lambda index: self.tuple_of([index(), element(index)], node)
        first = self.temporary()
        setup = [*setup, self.store(first, self.expression(start), node)]
        return (setup, length, lambda index: self.tuple_of([
            self.primitive(("add",), [self.load(first, node), index()], node, "enumerate"), element(index)], node))

    # prange.

    def parallel_loop(self, node, call):
        if not isinstance(node.target, ast.Name):
            raise self.refuse(node.target, "a prange with several variables", "write one: for i in quern.prange(n)")
        if node.orelse:
            raise self.refuse(node.orelse[0], "else of a prange", "write the statements after the loop")
        names = stored_names(node.body)
        operand = self.range_of_call(call)
        self.check_iterations(node, names)
        saved = set(self.assigned)
        self.assign_name(node.target, self.constant(None, node), node)
        body = self.loop_body(node, Loop(parallel=True))
        self.assigned = saved | {node.target.id} | set(names)
        for name in [node.target.id, *names]:
            self.lost[name] = node
        return [Node("parallel_for", [operand, body], self.where(node), name=node.target.id, variable=node.target.id)]

    def check_iterations(self, node, names):
        """Refuses what an iteration would read from another one."""
        found = first_read_before_store(node.body, set(names) - {node.target.id})
        if found is None:
            return
        raise self.refuse(found, f"reading {found.id} in a prange before the iteration stores it",
                          "iterations run at the same time: store into an array element and reduce the array after the "
                          "loop")
