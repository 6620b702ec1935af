# SPDX-License-Identifier: BSL-1.0
"""Mistakes of the user, each with its place in the source, and the words that would have been accepted."""


class Mistake(Exception):
    """One sentence, begun by file, line and column where they are known."""

    def __init__(self, what, place=None):
        super().__init__(f"{place}: error: {what}" if place is not None else f"quern: {what}")


class Place:
    """Where something is: a file, a line, a column from 1 on."""

    def __init__(self, file, line, column=1):
        self.file, self.line, self.column = file, line, column

    def __str__(self):
        return f"{self.file}:{self.line}:{self.column}"


def distance(a, b):
    """Letters to insert, delete, replace or exchange with their neighbour."""
    before, last = [], list(range(len(b) + 1))
    for i, one in enumerate(a):
        row = [i + 1]
        for j, other in enumerate(b):
            cost = min(row[j] + 1, last[j + 1] + 1, last[j] + (one != other))
            if i and j and one == b[j - 1] and a[i - 1] == other:
                cost = min(cost, before[j - 1] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def accepted(word, words):
    """'accepted: a, b', begun by the nearest match where one is near."""
    words = sorted(words)
    near = min(words, key=lambda one: distance(word, one), default=None)
    listed = ", ".join(words) if words else "none"
    if near is not None and distance(word, near) <= max(1, len(near) // 3) < len(near):
        return f"did you mean '{near}'? accepted: {listed}"
    return f"accepted: {listed}"
