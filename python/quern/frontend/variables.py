# SPDX-License-Identifier: BSL-1.0
"""Which variables statements read and store, by their ast."""

import ast

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def stored_names(nodes):
    """The names that these nodes bind in their own scope, in order of appearance."""
    found = {}
    for node in nodes if isinstance(nodes, list) else [nodes]:
        collect_stores(node, found)
    return list(found)


def collect_stores(node, found):
    if isinstance(node, SCOPES):
        if not isinstance(node, ast.Lambda):
            found[node.name] = None
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        found[node.id] = None
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            found[alias.asname or alias.name.partition(".")[0]] = None
    elif isinstance(node, ast.ExceptHandler) and node.name:
        found[node.name] = None
    elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
        found[node.name] = None
    if isinstance(node, COMPREHENSIONS):
        own = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        inner = {}
        for child in ast.iter_child_nodes(node):
            collect_stores(child, inner)
        found.update((name, None) for name in inner if name not in own)
        return
    for child in ast.iter_child_nodes(node):
        collect_stores(child, found)


def read_names(nodes):
    """The names that these nodes may read, those of inner functions included."""
    found = {}
    for node in nodes if isinstance(nodes, list) else [nodes]:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                found[part.id] = None
            elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
                found[part.target.id] = None
    return list(found)


def first_read_before_store(body, names, skip=None):
    """The first ast node in a list of statements that reads one of `names` which no statement before has stored for
    certain; None where there is none. `skip`: a statement that is passed over."""
    search = Search(set(names), skip)
    search.statements(body, set())
    return search.found


class Search:
    """A walk along the ways through statements, with the names that are stored on each."""

    def __init__(self, names, skip):
        self.names = names
        self.skip = skip
        self.found = None

    def expression(self, node, stored):
        if node is None or self.found is not None:
            return
        for part in ast.walk(node):
            if (isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and part.id in self.names
                    and part.id not in stored):
                self.found = self.found or part

    def target(self, node, stored):
        self.expression(node, stored)
        stored.update(n for n in stored_names(node) if n in self.names)

    def statements(self, body, stored):
        """Adds to `stored`; True if the end is not reached."""
        for statement in body:
            if self.found is not None or self.statement(statement, stored):
                return True
        return False

    def statement(self, node, stored):
        if node is self.skip:
            return False
        if isinstance(node, ast.If):
            return self.branch(node, stored)
        if isinstance(node, (ast.For, ast.While)):
            self.loop(node, stored)
            return False
        if isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name) and node.target.id in self.names - stored:
                self.found = self.found or node.target
            self.expression(node.value, stored)
            self.target(node.target, stored)
            return False
        if isinstance(node, ast.Assign):
            self.expression(node.value, stored)
            for target in node.targets:
                self.target(target, stored)
            return False
        self.expression(node, stored)
        stored.update(n for n in stored_names(node) if n in self.names and not isinstance(node, ast.Try))
        return isinstance(node, (ast.Return, ast.Break, ast.Continue, ast.Raise))

    def branch(self, node, stored):
        self.expression(node.test, stored)
        first, second = set(stored), set(stored)
        first_ends = self.statements(node.body, first)
        second_ends = self.statements(node.orelse, second)
        if first_ends and second_ends:
            return True
        stored |= second if first_ends else first if second_ends else first & second
        return False

    def loop(self, node, stored):
        inner = set(stored)
        if isinstance(node, ast.For):
            self.expression(node.iter, stored)
            self.target(node.target, inner)
        else:
            self.expression(node.test, stored)
        self.statements(node.body, inner)
        self.statements(node.orelse, set(stored))
