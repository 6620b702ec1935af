# SPDX-License-Identifier: BSL-1.0
"""The error of a function that cannot become a tree."""


class TreeError(SyntaxError):
    """A construct that a tree has no node for. Python shows its line with a caret; filename, lineno and offset (from 1) say
    where it is."""

    __module__ = "quern"


def refuse(source, node, construct, instead):
    """The TreeError of one place: what stands there, and what to write instead. Returned, so that callers raise it."""
    line, column, end_line, end_column = source.range_of(node)
    text = source.line(line)
    error = TreeError(f"{construct} in a tree: {instead}")
    error.filename, error.lineno, error.text = source.filename, line, text
    error.offset = characters(text, column) + 1
    error.end_lineno = end_line
    error.end_offset = characters(source.line(end_line), end_column) + 1
    return error


def refuse_function(function, construct, instead):
    """The TreeError of a function whose source is not there to be shown."""
    code = getattr(function, "__code__", None)
    error = TreeError(f"{construct}: {instead}")
    if code is not None:
        error.filename, error.lineno = code.co_filename, code.co_firstlineno
    return error


def characters(text, column):
    """The number of characters of the first `column` bytes in UTF-8: ast counts bytes, SyntaxError characters."""
    return len(text.encode()[:column].decode(errors="replace"))
