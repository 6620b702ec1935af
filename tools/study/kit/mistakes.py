# SPDX-License-Identifier: BSL-1.0
"""Mistakes of the user and the nearest match: the rule of quern/base/detail/nearest_match.hpp, so that all tools suggest alike."""

LONGEST_WORD = 64  # characters; longer input is no misspelling of an accepted word


class Mistake(Exception):
    """The user requested something that does not exist; the text names what was given and what is accepted."""


def edit_distance(a, b):
    """Edits that turn `a` into `b`: insert, delete, replace, or swap two neighbours. Ignores case."""
    a, b = a.lower(), b.lower()
    before, last = [], list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            edits = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                edits = min(edits, before[j - 2] + 1)
            row.append(edits)
        before, last = last, row
    return last[-1]


def nearest_match(word, accepted):
    """The accepted word with the fewest edits, the first of equals; None when none is within a third of the longer word."""
    if not 0 < len(word) <= LONGEST_WORD:
        return None
    near = [(edit_distance(word, other), index) for index, other in enumerate(accepted)]
    near = [(edits, index) for edits, index in near if edits <= max(1, max(len(word), len(accepted[index])) // 3)]
    return accepted[min(near)[1]] if near else None


def hint(word, accepted):
    """For the end of a message: "; did you mean 'a'?", or nothing."""
    near = nearest_match(word, accepted)
    return f"; did you mean '{near}'?" if near else ""


def accepted_values(word, accepted):
    """For the end of a message: "accepted: a, b, c; did you mean 'a'?"."""
    return f"accepted: {', '.join(accepted)}{hint(word, accepted)}"
