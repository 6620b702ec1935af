# SPDX-License-Identifier: BSL-1.0
"""Task functions: what is checked about a declaration, and the code that adds a task in the place of a call."""

import re

from .mistakes import Mistake
from .regions import Regions, Variable, element_type

HEXADECIMAL = tuple(bytes([each]) for each in b"0123456789abcdefABCDEF")
# What C allows before the number of elements: a[static restrict n].
QUALIFIERS = re.compile(r"^(?:(?:static|const|volatile|_Atomic|(?:__)?restrict(?:__)?)(?!\w)\s*)*")


def joined(text):
    """One line of source, without line markers."""
    return " ".join(line for line in text.split("\n") if not line.startswith("# ")).strip()


def matching(text, at):
    """The offset of the bracket that closes the one at `at`; text is bytes without comments."""
    depth = 0
    while at < len(text):
        one = text[at:at + 1]
        is_separator = one == b"'" and text[at - 1:at] in HEXADECIMAL and text[at - 2:at] != b"u8"  # of digits: 1'000
        if one in (b"'", b'"') and not is_separator:
            end = at + 1
            while end < len(text) and text[end:end + 1] != one:
                end += 2 if text[end:end + 1] == b"\\" else 1
            at = end
        elif one in b"([{":
            depth += 1
        elif one in b")]}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return at


def parameter_list(unit, tree, function):
    """Offsets of the parentheses around its parameters."""
    at = tree.at(function) + len(function.spelling.encode())
    while unit.text[at:at + 1] != b"(":
        at += 1
    return at, matching(unit.text, at)


def first_extent(unit, tree, parameter):
    """What stands in the first brackets behind its name, or None."""
    text = unit.text
    at, end = tree.at(parameter) + len(parameter.spelling.encode()), tree.end(parameter)
    while at < end and text[at:at + 1] in b" \t\n)":
        at += 1
    if text[at:at + 1] != b"[":
        return None
    inside = QUALIFIERS.sub("", joined(text[at + 1:matching(text, at)].decode(errors="surrogateescape")))
    return None if inside in ("", "*") else inside


class TaskFunction:
    """One declaration with a pragma."""

    def __init__(self, number, cursor, statement, pragma, unit, tree):
        self.number, self.cursor, self.statement, self.pragma = number, cursor, statement, pragma
        self.unit, self.tree = unit, tree
        self.name = cursor.spelling
        self.call_name = f"quern_task_call_{number}" + (f"_{self.name}" if self.name.isidentifier() else "")
        self.is_cpp = tree.language != "c"
        self._check()
        self.parameters = [Variable(one, tree.cindex) for one in cursor.get_arguments()]
        self._check_parameters()

    def fail(self, what):
        raise Mistake(what, self.statement.reader.place(self.statement.reader.tokens[0]))

    def _check(self):
        kinds = self.tree.kinds
        if self.cursor.kind == kinds.FUNCTION_TEMPLATE:
            self.fail(f"'{self.name}' is a template; accepted: a function that is none, which a template may call")
        if self.cursor.kind != kinds.FUNCTION_DECL:
            self.fail(f"'{self.name}' is a member of a class; accepted: a function of a namespace")
        result = self.cursor.result_type
        if result.get_canonical().kind != self.tree.cindex.TypeKind.VOID:
            self.fail(f"'{self.name}' returns {result.spelling}, which its caller would have to wait for; accepted: void")
        _, closing = parameter_list(self.unit, self.tree, self.cursor)
        if any((self.tree.start(one) or 0) > closing for one in self.cursor.get_arguments()):
            self.fail(f"'{self.name}' declares its parameters behind the parentheses; accepted: types and names within them")
        if self.cursor.type.kind == self.tree.cindex.TypeKind.FUNCTIONPROTO and self.cursor.type.is_function_variadic():
            self.fail(f"'{self.name}' takes any number of arguments (...); accepted: a fixed number")

    def _check_parameters(self):
        for index, each in enumerate(self.parameters):
            if not each.name:
                self.fail(f"parameter {index + 1} of '{self.name}' has no name; accepted: parameters with names")
            if each.cursor.type.get_canonical().kind == self.tree.cindex.TypeKind.RVALUEREFERENCE:
                self.fail(f"parameter '{each.name}' of '{self.name}' is an rvalue reference; accepted: values, pointers and "
                          "references")

    # -- code -------------------------------------------------------------------------------------

    def code(self):
        """Everything that a call needs: to stand behind a declaration of the function."""
        opening, closing = parameter_list(self.unit, self.tree, self.cursor)
        parameters = joined(self.unit.text[opening + 1:closing].decode(errors="surrogateescape")) if self.parameters else ""
        regions = Regions(self.statement, {each.name: each for each in self.parameters}, self.tree.cindex,
                          {each.name: first_extent(self.unit, self.tree, each.cursor) for each in self.parameters}, True)
        is_packed = not self.is_cpp or all(not each.is_reference and not each.is_class for each in self.parameters)
        struct = f"quern_arguments_{self.number}"
        if is_packed and self.parameters:
            regions.offset_of = lambda name: f"__builtin_offsetof(struct {struct}, {name})"
        else:
            for each in self.statement.items:
                each.kind = "commutative" if each.kind == "reduction" else each.kind
        task = task_code(self.statement, regions, "quern_site")
        head = (f"static __inline__ __attribute__((unused)) void {self.call_name}(struct quern_task_site *quern_site"
                f"{', ' if parameters else ''}{parameters}) {{ {task} ")
        if not is_packed:
            captures = ", ".join(("&" if each.is_reference else "") + each.name for each in self.parameters)
            passed = ", ".join(each.name for each in self.parameters)
            return (f"{head}quern_task_add_lambda(quern_new_task, [{captures}]() mutable {{ ({self.name})({passed}); }}); }}")
        return self._packed(struct) + head + self._add_packed(struct) + " }"

    def _packed(self, struct):
        fields = " ".join(self._field(each) for each in self.parameters)
        passed = ", ".join(f"quern_its->{each.name}" for each in self.parameters)
        if not self.parameters:
            return f"static void quern_run_{self.number}(void *quern_packed) {{ (void)quern_packed; ({self.name})(); }} "
        return (f"struct {struct} {{ {fields} }}; static void quern_run_{self.number}(void *quern_packed) {{ struct {struct} "
                f"*quern_its = (struct {struct} *)quern_packed; ({self.name})({passed}); }} ")

    def _field(self, each):
        if self.is_cpp and each.depth:
            return f"__typeof__({element_type(each.kind)}) *{each.name};"
        if not self.is_cpp and (each.depth or each.is_pointer) and not each.is_function_pointer:
            return f"void *{each.name};"
        return f"__typeof__({each.cursor.type.spelling}) {each.name};"

    def _add_packed(self, struct):
        run = f"quern_new_task.run = quern_run_{self.number}; "
        if not self.parameters:
            return run + "quern_task_add(&quern_new_task);"
        values = ", ".join(f"(void *){each.name}" if self._field(each).startswith("void *") else each.name
                           for each in self.parameters)
        return (f"struct {struct} quern_its = {{{values}}}; {run}quern_new_task.arguments = &quern_its; quern_new_task.size = "
                "sizeof(quern_its); quern_task_add(&quern_new_task);")


def regions_code(statement, regions):
    """The array quern_regions, or nothing; and how many there are."""
    found = [one for one in (regions.initializer(item) for item in statement.items) if one is not None]
    if not found:
        return "", 0
    return f"const struct quern_task_region quern_regions[] = {{{', '.join(found)}}};", len(found)


def task_code(statement, regions, site):
    """Declares quern_new_task, all but its function and arguments."""
    array, count = regions_code(statement, regions)
    flags = []
    if "highpriority" in statement.flags:
        flags.append("quern_task_high_priority")
    if "comm_thread" in statement.flags:
        flags.append("quern_task_communication")
    if "if" in statement.expressions:
        flags.append(f"(({statement.expressions['if']}) ? 0 : quern_task_undeferred)")
    if "final" in statement.expressions:
        flags.append(f"(({statement.expressions['final']}) ? quern_task_final : 0)")
    label = "0"
    if statement.label is not None:
        label = statement.label if statement.label.startswith('"') else f'"{statement.label}"'
    return (f"{array} struct quern_task quern_new_task = {{{site}, {label}, (int)({statement.expressions.get('priority', 0)}), "
            f"(unsigned)({' | '.join(flags) or 0}), {'quern_regions' if count else 0}, {count}, 0, 0, 0, 0, 0}};")
