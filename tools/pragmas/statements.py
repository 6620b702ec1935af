# SPDX-License-Identifier: BSL-1.0
"""Statements as tasks. In C++ the statement becomes a lambda where it stands; in C a function before the one it stands in, to
which the variables that it uses are given."""

from .functions import joined, parameter_list, task_code
from .lexer import tokens_of
from .mistakes import Mistake, accepted
from .regions import element_type


def visible_variables(tree, function, at):
    """Name -> cursor of the variables declared before that offset: of the file, parameters, of the function."""
    found = {one.spelling: one for one in tree.variables if (tree.at(one) or 0) < at}
    found |= {one.spelling: one for one in function.get_arguments()}
    stack = [tree.body(function)]
    while stack:
        one = stack.pop()
        for child in one.get_children():
            start, end = tree.start(child), tree.end(child)
            is_scope = child.kind in (tree.kinds.COMPOUND_STMT, tree.kinds.FOR_STMT)
            if child.kind == tree.kinds.VAR_DECL and start is not None and start < at:
                older = found.get(child.spelling)
                if older is None or (tree.at(older) or 0) < tree.at(child):
                    found[child.spelling] = child
            if not is_scope or start is None or (start <= at < end):
                stack.append(child)
    return found


class StatementTask:
    """One statement that is a task."""

    def __init__(self, translation, pragma, statement, function):
        self.all, self.tree, self.unit = translation, translation.tree, translation.unit
        self.pragma, self.statement, self.function = pragma, statement, function
        reader = statement.reader
        self.cursor = self.tree.statement_after(function, pragma.end)
        if self.cursor is None or b"}" in self.unit.text[pragma.end:self.tree.start(self.cursor)]:
            reader.fail("the pragma stands before no statement; accepted: directly before a statement", reader.tokens[0])
        if self.cursor.kind == self.tree.kinds.DECL_STMT:
            reader.fail("the pragma stands before a declaration within a function; accepted: before a statement, and before "
                        "declarations of functions outside of functions", reader.tokens[0])
        self.start, self.end = self.tree.start(self.cursor), self.tree.end(self.cursor)
        if self.unit.text[self.end - 1:self.end] not in (b"}", b";"):
            self.end = self.unit.text.index(b";", self.end) + 1
        self.uses = []  # (offset, cursor of the variable) of variables of the function
        self.uses_this = False
        self._walk(self.cursor)
        self.number = f"s{len(translation.sites)}"

    def _walk(self, cursor):
        kinds = self.tree.kinds
        for child in cursor.get_children():
            if child.kind == kinds.LAMBDA_EXPR:
                continue
            if child.kind == kinds.RETURN_STMT:
                raise Mistake("a task returns from the function around it; accepted: a statement that is left at its end",
                              self.unit.place(self.tree.start(child)))
            is_member = child.kind == kinds.MEMBER_REF_EXPR and next(child.get_children(), None) is None
            if child.kind == kinds.CXX_THIS_EXPR or is_member:
                self.uses_this = True
            if child.kind == kinds.DECL_REF_EXPR and child.referenced is not None:
                self._use(child)
            self._walk(child)

    def _use(self, reference):
        variable = reference.referenced
        if variable.kind not in (self.tree.kinds.VAR_DECL, self.tree.kinds.PARM_DECL):
            return
        at = self.tree.at(variable)
        first, last = self.tree.start(self.function), self.tree.end(self.function)
        if at is not None and first <= at < last and not self.start <= at < self.end:
            self.uses.append((self.tree.at(reference), variable))

    def _is_shared(self, variable):
        name = variable.spelling
        if name in self.statement.sharing:
            return self.statement.sharing[name][0] == "shared"
        if variable.storage_class == self.tree.cindex.StorageClass.STATIC:
            return True
        for item in self.statement.items:
            if item.name == name and not item.is_pointee:
                kinds = self.tree.cindex.TypeKind
                is_pointer = variable.type.get_canonical().kind == kinds.POINTER
                if not is_pointer or not (item.sections or item.shape or item.is_expression):
                    return True
        return self.statement.default == "shared"

    def _variables(self):
        """Each used variable once, in the order of their declarations, with those that its type needs."""
        found = {one.spelling: one for _, one in self.uses}
        visible = visible_variables(self.tree, self.function, self.pragma.at)
        todo = list(found.values())
        while todo:
            for token in tokens_of(todo.pop().type.spelling):
                one = visible.get(token.text)
                if token.is_name and one is not None and token.text not in found and self._is_local(one):
                    found[token.text] = one
                    todo.append(one)
        return sorted(found.values(), key=self.tree.at)

    def _is_local(self, variable):
        return self.tree.start(self.function) <= (self.tree.at(variable) or 0) < self.tree.end(self.function)

    def emit(self):
        for name, (_, token) in self.statement.sharing.items():
            visible = visible_variables(self.tree, self.function, self.pragma.at)
            if name not in visible:
                self.statement.reader.fail(f"'{name}' is no variable here; {accepted(name, visible)}", token)
        site = self.all.site(self.function.spelling, self.unit.place(self.pragma.at))
        regions = self.all.regions_at(self.statement, self.function, self.pragma.at)
        for item in self.statement.items:
            item.kind = "commutative" if item.kind == "reduction" else item.kind
        head = task_code(self.statement, regions, site)
        self.all.edits.replace(self.pragma.at, self.pragma.end, "")
        if self.tree.language == "c":
            self._emit_function(head)
        else:
            self._emit_lambda(head)

    def _emit_lambda(self, head):
        captures = [("&" if self._is_shared(one) else "") + one.spelling for one in self._variables()
                    if one.storage_class != self.tree.cindex.StorageClass.STATIC]
        if self.uses_this:
            captures.append("this")
        body = self.all.edits.take(self.start, self.end)
        place = self.all.marker(self.unit.place(self.start))
        quiet = self.all.marker(self.unit.place(self.pragma.at), True)
        self.all.edits.replace(self.start, self.end, f"{quiet}{{ {head} quern_task_add_lambda(quern_new_task, [{', '.join(captures)}]"
                               f"() mutable {{{place}{body} }}); }}" + self.all.marker(self.unit.place(self.end)))

    # -- C ----------------------------------------------------------------------------------------

    def _emit_function(self, head):
        variables = self._variables()
        shared = {one.spelling for one in variables if self._is_shared(one)}
        self._refuse_nested(shared)
        for at, variable in self.uses:
            if variable.spelling in shared:
                self.all.edits.replace(at, at + len(variable.spelling.encode()), f"(*quern_{variable.spelling})")
        body = self.all.edits.take(self.start, self.end)
        struct, fields, values, locals_ = f"quern_arguments_{self.number}", [], [], []
        for one in variables:
            self._pass(one, one.spelling in shared, fields, values, locals_)
        start = self.tree.start(self.function)
        _, closing = parameter_list(self.unit, self.tree, self.function)
        prototype = joined(self.unit.text[start:closing + 1].decode(errors="surrogateescape"))
        packed = f"struct {struct} {{ {' '.join(fields)} }}; " if fields else ""
        its = f"struct {struct} *quern_its = (struct {struct} *)quern_packed; " if fields else "(void)quern_packed; "
        code = (f"{prototype}; {packed}static void quern_run_{self.number}(void *quern_packed) {{ {its}{' '.join(locals_)}"
                f"{self.all.marker(self.unit.place(self.start))}{body} }}")
        self.all.edits.replace(start, start, self.all.quietly(code, self.pragma, start))
        add = f"quern_new_task.run = quern_run_{self.number}; quern_task_add(&quern_new_task);"
        if fields:
            add = (f"struct {struct} quern_its; {' '.join(values)} quern_new_task.arguments = &quern_its; quern_new_task.size = "
                   f"sizeof(quern_its); {add}")
        quiet = self.all.marker(self.unit.place(self.pragma.at), True)
        self.all.edits.replace(self.start, self.end, f"{quiet}{{ {head} {add} }}" + self.all.marker(self.unit.place(self.end)))

    def _refuse_nested(self, shared):
        """What inner pragmas name is text of theirs by now, in which a shared variable has no name."""
        for at, names in self.all.named_inside:
            both = sorted(names & shared)
            if self.start <= at < self.end and both:
                raise Mistake(f"'{both[0]}' is shared with a task within a task, which is possible in C++ alone; accepted in C: a "
                              f"pointer to it", self.unit.place(at))
        mine = {each.name for each in self.statement.items} | {each.spelling for _, each in self.uses}
        self.all.named_inside.append((self.pragma.at, mine))

    def _pass(self, variable, is_shared, fields, values, locals_):
        """One variable: a member of the arguments, its value there, and its declaration in the task's function."""
        name, kind = variable.spelling, variable.type
        canonical = kind.get_canonical()
        kinds = self.tree.cindex.TypeKind
        spelled = kind.spelling
        if "(unnamed" in canonical.spelling or "(anonymous" in canonical.spelling:
            raise Mistake(f"the type of '{name}' has no name, and the task is another function; accepted: types with names",
                          self.unit.place(self.tree.at(variable)))
        is_parameter = variable.kind == self.tree.kinds.PARM_DECL
        is_array = canonical.kind in (kinds.CONSTANTARRAY, kinds.VARIABLEARRAY, kinds.INCOMPLETEARRAY)
        if is_array and is_parameter:  # a pointer
            spelled, is_array = f"__typeof__({element_type(canonical)}) *", False
        unused = "__attribute__((unused))"
        if is_shared:
            fields.append(f"void *{name};")
            values.append(f"quern_its.{name} = (void *)&{name};")
            locals_.append(f"{unused} __typeof__({spelled}) *quern_{name} = quern_its->{name};")
        elif is_array:
            if canonical.kind != kinds.CONSTANTARRAY:
                raise Mistake(f"'{name}' is an array whose size is no constant, and would have to be copied; accepted: "
                              f"shared({name}), or an access of it", self.unit.place(self.tree.at(variable)))
            fields.append(f"struct {{ char bytes[{canonical.get_size()}]; }} {name} __attribute__((aligned(16)));")
            values.append(f"__builtin_memcpy(&quern_its.{name}, {name}, sizeof({name}));")
            locals_.append(f"__typeof__({spelled}) *quern_copy_{name} = (void *)&quern_its->{name}; __typeof__({spelled}) {name}; "
                           f"__builtin_memcpy({name}, quern_copy_{name}, sizeof({name}));")
        elif canonical.kind == kinds.POINTER or is_parameter and spelled.endswith("*"):
            fields.append(f"void *{name};")
            values.append(f"quern_its.{name} = (void *){name};")
            locals_.append(f"{unused} __typeof__({spelled}) {name} = quern_its->{name};")
        else:
            plain = spelled.removeprefix("const ")
            fields.append(f"__typeof__({plain}) {name};")
            values.append(f"quern_its.{name} = {name};")
            locals_.append(f"{unused} __typeof__({plain}) {name} = quern_its->{name};")
