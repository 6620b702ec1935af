# SPDX-License-Identifier: BSL-1.0
"""One preprocessed source becomes one that creates tasks. What is not named by a pragma stays byte for byte what it was."""

from . import clauses
from .functions import TaskFunction, first_extent, parameter_list, regions_code
from .lexer import tokens_of
from .mistakes import Mistake, Place
from .regions import Regions, Variable
from .statements import StatementTask, visible_variables
from .tree import Tree, key_of


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Edits:
    """Replacements of parts of a text, which are asked for in any order and do not overlap but where one contains others."""

    def __init__(self, text):
        self.text = text
        self._all = []
        self._made = 0  # among replacements at one place the earlier one comes first

    def replace(self, start, end, new):
        self._made += 1
        self._all.append((start, end, self._made, new.encode(errors="surrogateescape")))

    def render(self, start, end):
        """The part of the text with its replacements."""
        within = sorted(one for one in self._all if start <= one[0] and one[1] <= end)
        parts, at = [], start
        for first, last, _, new in within:
            if first < at:
                continue
            parts += [self.text[at:first], new]
            at = last
        parts.append(self.text[at:end])
        return b"".join(parts)

    def take(self, start, end):
        """Renders the part and forgets its replacements."""
        rendered = self.render(start, end)
        self._all = [one for one in self._all if not (start <= one[0] and one[1] <= end)]
        return rendered.decode(errors="surrogateescape")


class Translation:
    """From a Unit to the bytes that are compiled."""

    def __init__(self, unit, compiler, language, options):
        self.unit, self.compiler, self.language = unit, compiler, language
        self.edits = Edits(unit.text)
        self.statements = []  # (pragma, statement)
        for pragma in unit.pragmas:
            statement = clauses.read_pragma(pragma)
            if statement is not None:
                self.statements.append((pragma, statement))
        self.is_needed = bool(self.statements)
        if self.is_needed:
            self.tree = Tree(unit, "c" if language == "c" else "c++", options, self._names_behind_pragmas())
            self.functions = {}  # key of the function -> TaskFunction
            self.sites = []
            self._translate()

    def _names_behind_pragmas(self):
        """The words of the lines behind pragmas: more than the functions' names, and those too."""
        text, found = self.unit.text, set()
        for pragma, _ in self.statements:
            opening = text.find(b"(", pragma.end)
            found |= {one.text for one in tokens_of(text[pragma.end:opening].decode(errors="surrogateescape")) if one.is_name}
        return found - {"void", "static", "extern", "inline"}

    def result(self):
        return self.edits.render(0, len(self.unit.text))

    # -- helpers ----------------------------------------------------------------------------------

    def marker(self, place, is_quiet=False):
        return f"\n# {place.line} {c_string(place.file)}{' 3' if is_quiet else ''}\n"

    def quietly(self, code, pragma, resume_at):
        """Code in lines of its own, for which the compiler warns of nothing, then the user's line again."""
        return self.marker(Place(pragma.file, pragma.line), True) + code + self.marker(self.unit.place(resume_at))

    def site(self, name, place):
        self.sites.append(f"{{{c_string(name)}, {c_string(place.file)}, {place.line}, 0}}")
        return f"&quern_task_sites[{len(self.sites) - 1}]"

    # -- steps ------------------------------------------------------------------------------------

    def _translate(self):
        inside = []
        self.named_inside = []  # (offset, names) of the pragmas within functions that are done
        for pragma, statement in self.statements:
            function = self.tree.function_around(pragma.at)
            if statement.what == "task" and function is None:
                statement.read_clauses(clauses.OF_FUNCTIONS)
                self._expand_later(pragma, statement)
                self._declaration(pragma, statement)
            else:
                if statement.what == "task":
                    statement.read_clauses(clauses.OF_STATEMENTS)
                self._expand_later(pragma, statement)
                inside.append((pragma, statement, function))
        self._expand()
        for task in self.functions.values():
            self._emit(task)
        self._calls()
        for pragma, statement, function in sorted(inside, key=lambda one: -one[0].at):
            self._inside(pragma, statement, function)
        sites = ", ".join(self.sites)
        if sites:
            at = self.unit.main_at or 0
            self.edits.replace(at, at, f'# 1 "quern" 3\nstatic struct quern_task_site quern_task_sites[] = {{{sites}}};\n')

    def _expand_later(self, pragma, statement):
        """Expressions with macros in them."""
        names = self.unit.macro_names
        for item in statement.items:
            if item.is_expression:
                self._want(pragma, item, "text", names)
                self._want(pragma, item, "base", names)
            for section in item.sections:
                self._want(pragma, section, "first", names)
                self._want(pragma, section, "second", names)
            for index in range(len(item.shape)):
                self._want(pragma, item.shape, index, names)
        for key in statement.expressions:
            self._want(pragma, statement.expressions, key, names)

    def _want(self, pragma, owner, key, names):
        is_attribute = isinstance(key, str) and not isinstance(owner, dict)
        text = getattr(owner, key) if is_attribute else owner[key]
        if any(one.is_name and one.text in names for one in clauses.tokens_of(text)):
            self._wanted = getattr(self, "_wanted", [])
            self._wanted.append((pragma, text, owner, key, is_attribute))

    def _expand(self):
        wanted = sorted(getattr(self, "_wanted", []), key=lambda one: one[0].order)
        if not wanted:
            return
        found = self.unit.expand(self.compiler, self.language, [one[:2] for one in wanted])
        for (_, _, owner, key, is_attribute), text in zip(wanted, found):
            if is_attribute:
                setattr(owner, key, text)
            else:
                owner[key] = text

    def _declaration(self, pragma, statement):
        """The pragma stands before the declaration of a function."""
        reader = statement.reader
        text = self.unit.text
        after = [one for one in self.tree.functions if self.tree.start(one) is not None and self.tree.end(one) > pragma.end]
        cursor = min(after, key=self.tree.start, default=None)
        between = text[pragma.end:self.tree.start(cursor)] if cursor is not None else b";"
        if b";" in between or b"}" in between or (b"{" in between and b'"C' not in between):
            reader.fail(f"'#pragma {reader.words.strip()}' stands before no function; accepted: directly before a declaration or "
                        "definition of a function, and before a statement within one", reader.tokens[0])
        key = key_of(cursor)
        earlier = self.functions.get(key)
        if earlier is not None:
            if [one.text for one in earlier.statement.reader.tokens] != [one.text for one in reader.tokens]:
                reader.fail(f"'{cursor.spelling}' is a task function already, by another pragma at {earlier.pragma.file}:"
                            f"{earlier.pragma.line}; accepted: the same pragma again, or none", reader.tokens[0])
            self.edits.replace(pragma.at, pragma.end, "")
            return
        self.functions[key] = TaskFunction(len(self.functions), cursor, statement, pragma, self.unit, self.tree)

    def _emit(self, task):
        text, cursor = self.unit.text, task.cursor
        self.edits.replace(task.pragma.at, task.pragma.end, "")
        start = self.tree.start(cursor)
        if cursor.is_definition():
            opening, closing = parameter_list(self.unit, self.tree, cursor)
            if task.is_cpp and b"=" in text[opening:closing]:
                task.fail(f"the definition of '{task.name}' has default arguments; accepted: the pragma and the default arguments "
                          "at a declaration before it")
            code = text[start:closing + 1].decode(errors="surrogateescape") + "; " + task.code()
            self.edits.replace(start, start, self.quietly(code, task.pragma, start))
        else:
            end = text.index(b";", self.tree.end(cursor)) + 1
            self.edits.replace(end, end, self.quietly(task.code(), task.pragma, end))

    def _calls(self):
        text = self.unit.text
        for call, at, function in self.tree.calls:
            task = self.functions.get(key_of(function))
            if task is None or at is None or at < task.pragma.at:
                continue
            name = function.spelling.encode()
            if text[at:at + len(name)] != name:
                raise Mistake(f"the call of '{function.spelling}' cannot be found in the source; accepted: f(arguments)",
                              self.unit.place(at))
            opening = text.index(b"(", at + len(name))
            site = self.site(task.name, self.unit.place(at))
            is_empty = text[opening + 1:opening + 4096].lstrip().startswith(b")")
            self.edits.replace(at, at + len(name), task.call_name)
            self.edits.replace(opening + 1, opening + 1, site if is_empty else site + ", ")
        names = {task.name: task for task in self.functions.values()}
        for name, at in self.tree.dependent:
            if name in names and at is not None and at > names[name].pragma.at:
                raise Mistake(f"which '{name}' is called depends on a template parameter; accepted: a call whose arguments have "
                              f"known types, and ({name})(...) for a plain call", self.unit.place(at))

    def _refuse_branch(self, pragma, statement, function):
        """A compiler that ignores the pragma has the statement behind it as the branch."""
        word = self.tree.branch_at(function, pragma.end) if function is not None else None
        if word is not None:
            statement.reader.fail(f"this pragma would take the place of the statement that '{word}' executes; accepted: braces "
                                  "around both", statement.reader.tokens[0])

    def _inside(self, pragma, statement, function):
        if statement.what != "task":
            self._refuse_branch(pragma, statement, function)
        if statement.what in ("nothing", "taskwait", "restart"):
            call = {"nothing": ";", "taskwait": "quern_task_wait();", "restart": "quern_task_restart();"}[statement.what]
            if function is None:
                if statement.what != "nothing":
                    statement.reader.fail("this pragma is an action, and stands outside of every function; accepted: within one",
                                          statement.reader.tokens[0])
                call = ""
            self.edits.replace(pragma.at, pragma.end, call)
        elif function is None:
            statement.reader.fail("a wait stands outside of every function; accepted: within one", statement.reader.tokens[0])
        elif statement.what == "wait_on":
            self._wait_on(pragma, statement, function)
        else:
            StatementTask(self, pragma, statement, function).emit()

    def regions_at(self, statement, function, at):
        kinds = self.tree.kinds
        variables = visible_variables(self.tree, function, at)
        if function.kind == kinds.CXX_METHOD:
            members = [one for one in function.semantic_parent.get_children() if one.kind == kinds.FIELD_DECL]
            local = {name: one for name, one in variables.items() if one not in self.tree.variables}
            variables |= {one.spelling: one for one in members} | local
        extents = {one.spelling: first_extent(self.unit, self.tree, one) for one in function.get_arguments()}
        regions = Regions(statement, {name: Variable(one, self.tree.cindex) for name, one in variables.items()},
                          self.tree.cindex, extents, False)
        regions.members_are_visible = function.kind == kinds.CXX_METHOD
        return regions

    def _wait_on(self, pragma, statement, function):
        array, count = regions_code(statement, self.regions_at(statement, function, pragma.at))
        self.named_inside.append((pragma.at, {each.name for each in statement.items}))
        self.edits.replace(pragma.at, pragma.end, f"{{ {array} quern_task_wait_on(quern_regions, {count}); }}")
