# SPDX-License-Identifier: BSL-1.0
"""The source of a function: its ast, and places in its file."""

import ast
import inspect
import linecache
import types

from .errors import refuse, refuse_function

GENERATOR = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Source:
    """Where a function is written. `definition` is its ast.FunctionDef with columns of the file and lines shifted by
    `line_shift`."""

    def __init__(self, function):
        check_kind(function)
        self.function = function
        self.filename = function.__code__.co_filename
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError, SyntaxError):
            raise refuse_function(function, f"the source of {function.__name__} cannot be read",
                                  "a tree needs a function written in a file or a notebook, not at a prompt or made by "
                                  "exec") from None
        text = "".join(lines)
        # An indented function is the body of an `if`, so that columns stay those of the file.
        indented = text[:1].isspace()
        self.line_shift = first - 1 - (1 if indented else 0)
        try:
            module = ast.parse("if 1:\n" + text if indented else text)
        except SyntaxError:
            raise self.changed() from None
        body = module.body[0].body if indented else module.body
        self.definition = body[0] if body else None
        self.text = text
        self.first_line = first
        self.check_definition()

    def changed(self):
        return refuse_function(self.function, f"the source of {self.function.__name__} is not what was compiled",
                               "the file was changed since it was imported: import it again")

    def check_definition(self):
        definition, code = self.definition, self.function.__code__
        if not isinstance(definition, ast.FunctionDef):
            raise refuse_function(self.function, "this is no function defined by def", "write def f(...): ...")
        arguments = definition.args
        names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
        count = code.co_argcount + code.co_kwonlyargcount
        if definition.name != code.co_name or tuple(names) != code.co_varnames[:count]:
            raise self.changed()
        if arguments.vararg is not None:
            raise refuse(self, arguments.vararg, f"the parameter *{arguments.vararg.arg}",
                         "name each parameter")
        if arguments.kwarg is not None:
            raise refuse(self, arguments.kwarg, f"the parameter **{arguments.kwarg.arg}",
                         "name each parameter")
        if code.co_flags & GENERATOR:
            found = next((n for n in ast.walk(definition) if isinstance(n, (ast.Yield, ast.YieldFrom))), definition)
            raise refuse(self, found, "yield", "return an array or a tuple")

    def range_of(self, node):
        """(line, column, end line, end column): lines from 1, columns in bytes from 0, as in the file."""
        line = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0)
        end_line = getattr(node, "end_lineno", None) or line
        end_column = getattr(node, "end_col_offset", None)
        shift = self.line_shift
        return line + shift, column, end_line + shift, column if end_column is None else end_column

    def line(self, number):
        """The text of a line of the file, with its end."""
        text = linecache.getline(self.filename, number)
        if text:
            return text
        lines = self.text.splitlines(keepends=True)
        index = number - self.first_line
        return lines[index] if 0 <= index < len(lines) else ""


def check_kind(function):
    """Refuses what is no plain function, in words."""
    if isinstance(function, (staticmethod, classmethod, property)):
        raise TypeError(f"quern.tree takes a function, not a {type(function).__name__}: write a function outside the class")
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"quern.tree takes a function defined by def, not {type(function).__name__}")
    name = function.__name__
    if name == "<lambda>":
        raise refuse_function(function, "a lambda cannot become a tree", "write def f(...): return ...")
    if hasattr(function, "__wrapped__"):
        raise refuse_function(function, f"another decorator stands below @quern.tree of {name}",
                              "write @quern.tree directly above def")
    if function.__code__.co_flags & ASYNC:
        raise refuse_function(function, f"the async function {name} cannot become a tree",
                              "write def; a caller may await quern.spawn(f, ...)")
    outer = function.__qualname__.rpartition(".")[0]
    if outer and not outer.endswith("<locals>"):
        raise refuse_function(function, f"the method {function.__qualname__} cannot become a tree",
                              "write a function outside the class and give it the arrays")
