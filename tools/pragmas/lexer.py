# SPDX-License-Identifier: BSL-1.0
"""The words of a pragma. Only what stands between "#pragma" and the end of its line: everything else is read by libclang."""

from dataclasses import dataclass

PAIRS = ("..", "->", "::", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "++", "--")


@dataclass(frozen=True)
class Token:
    text: str
    at: int  # offset in the text of the pragma

    @property
    def is_name(self):
        return self.text[0].isalpha() or self.text[0] == "_"


def end_of_name(text, at):
    while at < len(text) and (text[at].isalnum() or text[at] == "_"):
        at += 1
    return at


def end_of_number(text, at):
    """A range like 0..3 has two numbers."""
    while at < len(text) and (text[at].isalnum() or text[at] == "."):
        if text.startswith("..", at):
            break
        at += 1
    return at


def end_of_string(text, at):
    quote, at = text[at], at + 1
    while at < len(text) and text[at] != quote:
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


def tokens_of(text):
    """The tokens of one logical line; blanks, splices and comments only separate them."""
    found, at = [], 0
    while at < len(text):
        one = text[at]
        if one.isspace() or one == "\\":
            at += 1
            continue
        if text.startswith("/*", at):
            close = text.find("*/", at + 2)
            at = len(text) if close < 0 else close + 2
            continue
        if text.startswith("//", at):
            break
        if one.isalpha() or one == "_":
            end = end_of_name(text, at)
        elif one.isdigit():
            end = end_of_number(text, at)
        elif one in "\"'":
            end = end_of_string(text, at)
        else:
            end = at + (2 if text[at:at + 2] in PAIRS else 1)
        found.append(Token(text[at:end], at))
        at = end
    return found
