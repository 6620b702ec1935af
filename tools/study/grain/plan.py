# SPDX-License-Identifier: BSL-1.0
"""The plan of the runs: the program with a placeholder for the grain in its arguments, the grains, the numbers of workers.
Built from the command line; all Mistakes are raised here."""

import math
import re

from ..kit.mistakes import Mistake

LARGEST_GRAIN = 10 ** 15  # integers up to here are exact as a double
MOST_WORKERS = 4096
PLACE = re.compile(r"\{([A-Za-z][A-Za-z0-9_-]*)\}")
CLASSES = {"[:digit:]": "0-9", "[:alpha:]": "A-Za-z", "[:alnum:]": "A-Za-z0-9", "[:space:]": r"\s"}  # of POSIX, unknown to re
NUMBER = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class CommandTemplate:
    """A program and its arguments, of which at least one contains {name}. `name` is the text in the braces."""

    def __init__(self, words):
        if not words:
            raise Mistake("quern grain: no program; write it and its arguments behind '--', with {name} where the grain belongs: "
                          "quern grain --from 1000 --to 1e6 -- heat --partition {partition}")
        self._words = list(words)
        names = list(dict.fromkeys(name for word in words[1:] for name in PLACE.findall(word)))
        if len(names) > 1:
            raise Mistake(f"quern grain: two names in braces, '{{{names[0]}}}' and '{{{names[1]}}}'; accepted: one, as often as "
                          "needed")
        if not names:
            raise Mistake(f"quern grain: no {{name}} among the arguments of '{self.text()}'; put it where the grain belongs, as "
                          "in --partition {partition}")
        self.name = names[0]

    def filled(self, grain):
        """The program and its arguments, with the grain in place of {name}."""
        return [self._words[0], *(word.replace(f"{{{self.name}}}", str(grain)) for word in self._words[1:])]

    def text(self):
        """As the user wrote it."""
        return " ".join(self._words)


def number_of(text):
    """The finite number that the whole text denotes, else None."""
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def _digits_of_decade(per_decade):
    """Two digits from 10 to 99 for each step of a decade."""
    usual = {1: [10], 2: [10, 30], 3: [10, 20, 50]}
    return usual.get(per_decade) or [math.floor(10 * 10.0 ** (i / per_decade) + 0.5) for i in range(per_decade)]


def series_of_grains(least, most, per_decade):
    """The grains from `least` to `most`, both included, and between them `per_decade` round numbers in every power of ten: 1 2
    5 for three."""
    if least > most:
        raise Mistake(f"quern grain: --from is {least}, --to is {most}; accepted: --from at most --to")
    grains, power = {least, most}, 1
    while power <= most:
        grains |= {power * digits // 10 for digits in _digits_of_decade(per_decade)}
        power *= 10
    return sorted(grain for grain in grains if least <= grain <= most)


def parse_grain(option, text):
    """One whole number, also as 1e6."""
    value = number_of(text)
    if value is None or not 1 <= value <= LARGEST_GRAIN or value != math.floor(value):
        raise Mistake(f"quern grain: {option} is '{text}'; accepted: a whole number from 1 to 1e15, such as 20000 or 2e4")
    return int(value)


def parse_grains(option, text):
    """ "1000,1e4"; sorted, without duplicates."""
    return sorted({parse_grain(option, part) for part in text.split(",")})


def parse_workers(option, text, everything):
    """ "1,2,all"; sorted, without duplicates. `everything` is the value of the word all."""
    numbers = set()
    for part in text.split(","):
        value = everything if part == "all" else int(part) if re.fullmatch("[0-9]{1,9}", part) else 0
        if part != "all" and not 1 <= value <= MOST_WORKERS:
            raise Mistake(f"quern grain: {option} is '{part}'; accepted: whole numbers from 1 to {MOST_WORKERS}, or all, with "
                          "commas between them")
        numbers.add(value)
    return sorted(numbers)


class TimePattern:
    """Finds the execution time in a program's output: a regular expression with one group, the seconds. Empty: the output is
    not searched."""

    def __init__(self, expression):
        known = expression
        for name, characters in CLASSES.items():
            known = known.replace(name, characters)
        try:
            self._expression = re.compile(known, re.ASCII) if known else None
        except re.error as error:
            raise Mistake(f"quern grain: --time is '{expression}', which is no regular expression: {error}") from error
        if self._expression and self._expression.groups != 1:
            raise Mistake(f"quern grain: --time is '{expression}'; accepted: a regular expression with one group for the "
                          "seconds, such as 'time +([0-9.]+) s'")

    def find(self, output):
        """NaN when the output is not searched, None when there is no match."""
        if self._expression is None:
            return math.nan
        match = self._expression.search(output)
        return number_of(match[1] or "") if match else None
