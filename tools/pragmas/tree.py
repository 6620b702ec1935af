# SPDX-License-Identifier: BSL-1.0
"""libclang's reading of a source: declarations of functions, calls, statements and variables, with offsets in Unit.text."""

import glob
import os
import sys

from .lexer import tokens_of
from .mistakes import Mistake, Place

# What gcc warns of, and clang refuses by default.
NO_ERRORS = [f"-Wno-error={each}" for each in ("implicit-function-declaration", "implicit-int", "int-conversion",
                                               "incompatible-function-pointer-types", "return-mismatch", "c++11-narrowing")]
GCC_WORDS = ("__builtin_", "__atomic_", "__sync_")
DEBIAN_PACKAGES = "/usr/lib/python3/dist-packages"


def load():
    """The module clang.cindex with its library. Of Debian's packages or of the wheel `libclang`."""
    try:
        import clang.cindex as cindex
    except ImportError:
        sys.path.append(DEBIAN_PACKAGES)
        try:
            import clang.cindex as cindex
        except ImportError:
            raise Mistake("quern cc reads sources by libclang, and Python has no module clang.cindex; accepted: Debian's "
                          "packages python3-clang-19 and libclang1-19, or the wheel libclang") from None
    wheel = os.path.join(os.path.dirname(cindex.__file__), "native", "libclang.so")
    wanted = [os.environ.get("QUERN_LIBCLANG", ""), wheel,
              *sorted(glob.glob("/usr/lib/*/libclang-19.so.1")), *sorted(glob.glob("/usr/lib/llvm-*/lib/libclang.so.1"))]
    for path in wanted:
        if path and os.path.exists(path):
            if not cindex.Config.loaded:
                cindex.Config.set_library_file(path)
            return cindex
    raise Mistake("no libclang was found; accepted: Debian's package libclang1-19, or its path in QUERN_LIBCLANG")


def resource_folder():
    """The folder of clang's own headers, or None."""
    found = sorted(glob.glob("/usr/lib/llvm-*/lib/clang/*/include/stddef.h"))
    return os.path.dirname(os.path.dirname(found[-1])) if found else None


class Tree:
    """One source as libclang reads it."""

    def __init__(self, unit, language, options, names):
        """`names`: those of the functions that stand behind pragmas."""
        self.cindex = load()
        self.kinds = self.cindex.CursorKind
        self.unit = unit
        self.language = language
        self.name = "quern.c" if language == "c" else "quern.cpp"
        arguments = ["-x", language, "-w", "-ferror-limit=20", *NO_ERRORS, *options]
        folder = resource_folder()
        if folder:
            arguments.append(f"-resource-dir={folder}")
        self._unit = self.cindex.Index.create().parse(self.name, args=arguments, unsaved_files=[(self.name, unit.reading)])
        self._names = names
        self._refuse_errors()
        self.lambdas = []     # of namespaces, such as those that initialize a variable
        self.functions = []   # cursors of all functions of the user, in their order
        self.calls = []       # (cursor of the call, offset of the name, cursor of the function)
        self.dependent = []   # names of calls within templates that are found when those are used
        self.variables = []   # of the file
        self._walk(self._unit.cursor, None)

    def _refuse_errors(self):
        for each in self._unit.diagnostics:
            if each.severity < self.cindex.Diagnostic.Error or each.location.file is None:
                continue
            if each.location.file.name != self.name or self._is_of_gcc(each.location.offset):
                continue
            at = self.unit.text_offset(each.location.offset)
            place = self.unit.place(at) if at is not None else Place(self.unit.source, 1)
            raise Mistake(f"{each.spelling} (clang's reading, which finds the calls of task functions; accepted: what clang "
                          "compiles)", place)

    def _is_of_gcc(self, offset):
        """What a macro of the system has become for gcc, such as atomic_fetch_add: clang may refuse that, if no task is named."""
        line = self.unit.line_of_reading(offset)
        return any(word in line for word in GCC_WORDS) and not any(
            one.is_name and one.text in self._names for one in tokens_of(line))

    def is_users(self, cursor):
        file = cursor.location.file
        return file is not None and file.name == self.name

    def start(self, cursor):
        return self.unit.text_offset(cursor.extent.start.offset)

    def end(self, cursor):
        return self.unit.text_offset(cursor.extent.end.offset)

    def at(self, cursor):
        return self.unit.text_offset(cursor.location.offset)

    def _walk(self, cursor, function):
        kinds = self.kinds
        for child in cursor.get_children():
            if function is None and not self.is_users(child):
                continue
            kind = child.kind
            inside = function
            if kind in (kinds.FUNCTION_DECL, kinds.CXX_METHOD, kinds.FUNCTION_TEMPLATE, kinds.CONSTRUCTOR, kinds.DESTRUCTOR):
                self.functions.append(child)
                inside = child
            elif kind == kinds.LAMBDA_EXPR and function is None:
                self.lambdas.append(child)
                inside = child
            elif kind == kinds.CALL_EXPR:
                self._call(child)
            elif function is None and kind == kinds.VAR_DECL:
                self.variables.append(child)
            self._walk(child, inside)

    def _call(self, call):
        kinds = self.kinds
        callee = next(call.get_children(), None)
        while callee is not None and callee.kind == kinds.UNEXPOSED_EXPR:
            below = list(callee.get_children())
            if len(below) != 1:
                break
            callee = below[0]
        if callee is None:
            return
        if callee.kind == kinds.OVERLOADED_DECL_REF:
            self.dependent.append((callee.spelling, self.at(callee)))
            return
        if callee.kind == kinds.DECL_REF_EXPR and callee.referenced is not None:
            if callee.referenced.kind == kinds.FUNCTION_DECL:
                self.calls.append((call, self.at(callee), callee.referenced))
            elif callee.referenced.kind in (kinds.OVERLOADED_DECL_REF,):
                self.dependent.append((callee.spelling, self.at(callee)))

    def body(self, function):
        """The cursor of its body, or None."""
        return next((one for one in function.get_children() if one.kind == self.kinds.COMPOUND_STMT), None)

    def function_around(self, offset):
        """The innermost function whose body has that offset, or None."""
        found = None
        for function in [*self.lambdas, *self.functions]:
            has_body = function.kind == self.kinds.LAMBDA_EXPR or function.is_definition()
            body = self.body(function) if has_body else None
            if body is not None and self.start(body) <= offset < self.end(body):
                found = function
        return found

    def statement_after(self, function, offset):
        """The statement of the function that begins behind that offset, the largest one."""
        return self._after(function, offset)[0]

    def branch_at(self, function, offset):
        """The keyword of the statement of which another begins behind that offset, without braces around that; or None."""
        found, parent = self._after(function, offset)
        kinds = self.kinds
        words = {kinds.IF_STMT: "if", kinds.FOR_STMT: "for", kinds.WHILE_STMT: "while", kinds.DO_STMT: "do",
                 kinds.CXX_FOR_RANGE_STMT: "for"}
        if found is None or b"}" in self.unit.text[offset:self.start(found)]:
            return None
        return words.get(parent.kind)

    def _after(self, function, offset):
        """statement_after(), and what it is part of."""
        found, parent = None, None
        stack = [self.body(function)]
        while stack:
            one = stack.pop()
            for child in one.get_children():
                start, end = self.start(child), self.end(child)
                if start is None or end is None:
                    stack.append(child)
                elif start >= offset:
                    if found is None or (start, -end) < (self.start(found), -self.end(found)):
                        found, parent = child, one
                elif end > offset:
                    stack.append(child)
        return found, parent


def key_of(cursor):
    """The same for all declarations of one function."""
    return cursor.get_usr() or cursor.canonical.hash
