# SPDX-License-Identifier: BSL-1.0
"""Data that clauses name, as elements of the array of quern_task_region that a translated source fills in."""

from .mistakes import accepted

KINDS = {each: f"quern_task_{each}" for each in ("in", "out", "inout", "concurrent", "commutative", "reduction")}
MOST_DIMENSIONS = 4


class Variable:
    """A parameter, or a variable that a statement uses."""

    def __init__(self, cursor, cindex):
        self.cursor = cursor
        self.name = cursor.spelling
        self.is_parameter = cursor.kind == cindex.CursorKind.PARM_DECL
        kinds = cindex.TypeKind
        kind = cursor.type.get_canonical()
        self.is_reference = kind.kind in (kinds.LVALUEREFERENCE, kinds.RVALUEREFERENCE)
        if self.is_reference:
            kind = kind.get_pointee().get_canonical()
        self.kind = kind
        self.depth = 0  # of an array
        self.is_variable_array = False
        arrays = (kinds.CONSTANTARRAY, kinds.VARIABLEARRAY, kinds.INCOMPLETEARRAY, kinds.DEPENDENTSIZEDARRAY)
        self.first_is_unknown = kind.kind == kinds.INCOMPLETEARRAY
        element = kind
        while element.kind in arrays:
            self.depth += 1
            self.is_variable_array |= element.kind == kinds.VARIABLEARRAY
            element = element.element_type.get_canonical()
        self.element = element
        self.is_pointer = kind.kind == kinds.POINTER
        pointee = kind.get_pointee().get_canonical() if self.is_pointer else None
        self.is_void_pointer = self.is_pointer and pointee.kind == kinds.VOID
        self.is_function_pointer = self.is_pointer and pointee.kind in (kinds.FUNCTIONPROTO, kinds.FUNCTIONNOPROTO)
        self.levels = self.depth or 1  # indices until an element of the data that the bare name leads to
        inner = pointee
        while self.is_pointer and inner.kind in arrays:
            self.levels += 1
            inner = inner.element_type.get_canonical()
        innermost = inner if self.is_pointer else element
        self.leads_to_pointer = innermost.kind == kinds.POINTER  # an element is a pointer itself
        self.is_class = kind.kind == kinds.RECORD

    def indexed(self, levels):
        return f"({self.name})" + "[0]" * levels


def element_type(array):
    """How the type of its elements is spelled; the const of an array's own name is theirs."""
    const = "const " if array.is_const_qualified() and not array.element_type.is_const_qualified() else ""
    return const + array.element_type.spelling


def size(expression):
    return f"(quern_task_distance)({expression})"


def number_type(kind, cindex):
    """'i', 'u', 'f', or '' for what cannot be combined by the runtime."""
    kinds = cindex.TypeKind
    if kind.kind in (kinds.FLOAT, kinds.DOUBLE):
        return "f"
    if kind.kind in (kinds.INT, kinds.LONG, kinds.LONGLONG):
        return "i"
    return "u" if kind.kind in (kinds.UINT, kinds.ULONG, kinds.ULONGLONG) else ""


class Regions:
    """Makes the initializers for one pragma."""

    def __init__(self, statement, variables, cindex, first_extents, is_function):
        self.statement, self.variables, self.cindex = statement, variables, cindex
        self.first_extents = first_extents  # of array parameters: what stands in their first brackets
        self.is_function = is_function
        self.offset_of = lambda name: "0"
        self.members_are_visible = False  # of a class: any other name may be one

    def fail(self, item, what):
        self.statement.reader.fail(what, item.token)

    def initializer(self, item):
        """The region in C, or None for data that are copied at the call."""
        variable = self.variables.get(item.name)
        if variable is None and self.members_are_visible and not (item.sections or item.shape or item.is_pointee):
            return self._region(item, f"&({item.text})", f"sizeof({item.text})", ["1"], [])
        if variable is None:
            names = sorted(self.variables)
            self.fail(item, f"'{item.text}': '{item.name}' is no {'parameter' if self.is_function else 'variable here'}; "
                            f"{accepted(item.name, names)}")
        if item.base:
            return self._behind(item, item.base, item.sections[0])
        if item.is_expression:
            return self._region(item, f"&({item.text})", f"sizeof({item.text})", ["1"], [])
        if self._is_by_value(variable):
            if self.is_function:
                return self._of_value(item)
            if item.sections or item.shape:
                self.fail(item, f"'{item.text}': '{item.name}' is neither an array nor a pointer; accepted: '{item.name}'")
            return self._region(item, f"&({item.name})", f"sizeof({item.name})", ["1"], [])
        if variable.is_function_pointer:
            self.fail(item, f"'{item.text}' is a pointer to a function, which has no data; accepted: pointers to objects")
        if variable.is_void_pointer:
            self.fail(item, f"'{item.text}': a void * says no size; accepted: a pointer to a type, such as char *")
        if variable.is_reference and variable.depth == 0 and not variable.is_pointer:
            return self._region(item, f"&({item.name})", f"sizeof({item.name})", ["1"], [])
        is_named_alone = not (item.shape or item.sections or item.is_pointee)
        if self.statement.what == "task" and not self.is_function and variable.is_pointer and is_named_alone:
            return self._region(item, f"&({item.name})", f"sizeof({item.name})", ["1"], [])
        return self._of_array(item, variable)

    def _behind(self, item, base, section):
        """A range of what an expression points to."""
        first, count = self._bounds(item, section, "1")
        return self._region(item, f"&({base})[{first}]", f"sizeof(({base})[0])", [count], [])

    def _is_by_value(self, variable):
        return not (variable.is_reference or variable.is_pointer or variable.depth)

    def _of_value(self, item):
        if item.kind != "in":
            self.fail(item, f"'{item.text}' is passed by value, so the task cannot write it; accepted: in({item.name}), or a "
                            "pointer")
        if item.sections or item.shape:
            self.fail(item, f"'{item.text}': '{item.name}' is passed by value and has no elements; accepted: in({item.name})")
        return None

    # -- arrays -----------------------------------------------------------------------------------

    def _of_array(self, item, variable):
        sections = item.sections
        if not item.shape and len(sections) > variable.levels:
            if all(each.kind == "element" for each in sections):
                return self._region(item, f"&({item.text})", f"sizeof({item.text})", ["1"], [])
            indices = [each.first for each in sections[:-1] if each.kind == "element"]
            if variable.leads_to_pointer and len(indices) == variable.levels == len(sections) - 1:
                return self._behind(item, item.name + "".join(f"[{each}]" for each in indices), sections[-1])
            self.fail(item, f"'{item.text}' has {len(sections)} indices and '{item.name}' {variable.levels} dimensions; accepted: "
                            "at most as many")
        if item.shape:
            extents = [size(each) for each in item.shape]
            levels = max(1, min(len(item.shape), variable.depth or 1))
            element = f"sizeof({variable.indexed(levels)})"
            strides = self._strides_of_shape(extents, element)
        else:
            levels = max(len(sections), variable.depth, 1)
            extents, strides = self._declared(item, variable, levels)
            element = f"sizeof({variable.indexed(levels)})"
        if len(sections) > len(extents):
            self.fail(item, f"'{item.text}' has {len(sections)} indices and '{item.name}' {len(extents)} dimensions; accepted: at "
                            "most as many")
        if len(extents) > MOST_DIMENSIONS:
            self.fail(item, f"'{item.text}' has {len(extents)} dimensions; accepted: at most {MOST_DIMENSIONS}")
        lower, counts = [], []
        for dimension, extent in enumerate(extents):
            section = sections[dimension] if dimension < len(sections) else None
            first, count = self._bounds(item, section, extent)
            lower.append(first)
            counts.append(count)
        offsets = [f"{size(first)} * {stride}" for first, stride in zip(lower, strides) if first != "0"]
        first = f"(const volatile char *)({item.name})" + "".join(f" + {each}" for each in offsets)
        return self._region(item, first, element, counts, strides, variable)

    def _strides_of_shape(self, extents, element):
        strides = [f"(quern_task_distance)({element})"]
        for extent in reversed(extents[1:]):
            strides.insert(0, f"{extent} * {strides[0]}")
        return strides

    def _declared(self, item, variable, levels):
        """Extents and strides as the declaration has them. The first extent of a plain pointer is one element."""
        sizes = [f"sizeof({variable.indexed(level)})" for level in range(levels + 1)]
        extents = []
        for level in range(levels):
            if level == 0:
                extents.append(self._first_extent(item, variable))
            else:
                extents.append(f"(quern_task_distance)({sizes[level]} / {sizes[level + 1]})")
        return extents, [f"(quern_task_distance)({each})" for each in sizes[1:]]

    def _first_extent(self, item, variable):
        if not variable.depth or variable.first_is_unknown:
            return "1"
        if variable.is_parameter:
            extent = self.first_extents.get(item.name)
            if extent is None and variable.kind.kind == self.cindex.TypeKind.CONSTANTARRAY:  # the name of an array type
                extent = str(variable.kind.element_count)
            return size(extent) if extent else "1"
        return f"(quern_task_distance)(sizeof({item.name}) / sizeof({variable.indexed(1)}))"

    def _bounds(self, item, section, extent):
        if section is None or section.kind == "all":
            if section is not None and extent == "1":
                self.fail(item, f"'{item.text}': how many elements '{item.name}' has is not declared; accepted: a range, or "
                                f"[n] {item.name}")
            return "0", extent
        if section.kind == "element":
            return section.first, "1"
        if section.kind == "length":
            return section.first, size(section.second)
        if section.kind == "from":
            return section.first, f"({extent} - {size(section.first)})"
        return section.first, f"({size(section.second)} - {size(section.first)} + 1)"

    def _region(self, item, first, element, counts, strides, variable=None):
        strides = strides or [f"(quern_task_distance)({element})"]
        pad = ["0"] * (MOST_DIMENSIONS - len(counts))
        reduction = "0, 0, 0"
        if item.kind == "reduction":
            kind = self._reduced_type(item, variable)
            reduction = f"'{item.operator}', {repr(kind) if kind else 0}, {self.offset_of(item.name) if kind else 0}"
        return (f"{{{KINDS[item.kind]}, {len(counts)}, {first}, {element}, {{{', '.join(counts + pad)}}}, "
                f"{{{', '.join(strides + pad)}}}, {reduction}}}")

    def _reduced_type(self, item, variable):
        """Of what the runtime can give parts to; else '' and the tasks take turns."""
        if not self.is_function or variable is None or item.sections or item.is_expression:
            return ""
        if variable.is_pointer:
            return number_type(variable.kind.get_pointee().get_canonical(), self.cindex)
        return number_type(variable.element, self.cindex) if variable.depth else ""
