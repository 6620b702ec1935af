# SPDX-License-Identifier: BSL-1.0
"""What the parts of the grammar share: the writer of lines, the place a statement stands in, and what it may add to there.
tasks.py, regions.py, loops.py and generate.py use it. No part may write what has an answer that depends on time."""

import contextlib
import dataclasses
import re

MASK = 2**64 - 1
# Between a loop and the largest value of its variable, for chunks that reach beyond the loop.
MARGIN = 20000


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a statement stands. Code outside of worksharing constructs of a region, which all members run, has no Place: see
    regions.Region."""

    depth: int = 0  # parallel regions around it
    level: int = 0  # statements around it
    count: int = 1  # about how often it runs, over all threads
    sinks: tuple = ()  # local variables that it may add to atomically: (name, operator)
    reductions: tuple = ()  # variables of task reductions in which the present task takes part
    offered: tuple = ()  # variables of task reductions in which tasks made here may take part
    shared: bool = True  # whether the variables of the program count once: not in code that each member runs

    def inside(self, times=1, **changes):
        return dataclasses.replace(self, **{"level": self.level + 1, "count": self.count * max(times, 1), **changes})


class Writer:
    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.indent = 1
        self.names = 0

    def name(self, kind):
        self.names += 1
        return f"{kind}{self.names}"

    def __call__(self, *lines):
        for line in lines:
            self.lines.append(line if line.startswith("#") else "    " * self.indent + line)

    @contextlib.contextmanager
    def block(self, head=""):
        self((head + " {").strip())
        self.indent += 1
        yield
        self.indent -= 1
        self("}")

    @contextlib.contextmanager
    def apart(self):
        """Collects lines that are added later."""
        outer, self.lines = self.lines, []
        collected = self.lines
        yield collected
        self.lines = outer

    # Choices
    def chance(self, percent):
        return self.rng.randrange(100) < percent

    def one_of(self, *choices):
        return self.rng.choice(choices)

    def constant(self):
        return f"0x{self.rng.randrange(2**32):x}ULL"

    def maybe(self, percent, text):
        return " " + text if self.chance(percent) else ""

    def pick(self, table, place):
        """One of (weight, largest count, largest level, function) that fits the place."""
        fitting = [(row[0], row[3]) for row in table if place.count <= row[1] and place.level <= row[2]]
        return self.rng.choices([f for _, f in fitting], [w for w, _ in fitting])[0]

    def schedule(self, is_ordered=False):
        if self.chance(15):
            return ""
        kind = self.one_of("static", "static", "dynamic", "dynamic", "guided", "auto", "runtime")
        chunk = f", {self.rng.choice((1, 1, 2, 3, 5, 7, 1000))}" if kind in ("static", "dynamic", "guided") and self.chance(60) else ""
        modifier = "monotonic: " if self.chance(15) else "nonmonotonic: " if self.chance(15) and not is_ordered else ""
        return f" schedule({modifier}{kind}{chunk})"

    def team_size(self, most):
        return "" if self.chance(20) else f" num_threads({self.rng.randint(1, most)})"


def loop_head(w, count):
    """Returns the head of a loop of `count` iterations, and the expression of the iteration's number."""
    i, step = w.name("i"), w.rng.choice((1, 1, 2, 3, 7))
    start = w.rng.choice((0, 0, 1, -5, 100))
    kind = w.rng.randrange(9)
    if kind <= 2:
        return f"for (int {i} = 0; {i} < {count}; ++{i})", i
    if kind == 3:
        return f"for (long {i} = {start}; {i} > {start - count * step}; {i} -= {step})", f"(int)(({start} - {i}) / {step})"
    if kind == 4:
        return f"for (unsigned {i} = 7; {i} < {7 + count * step}u; {i} += {step})", f"(int)(({i} - 7) / {step})"
    if kind == 5:
        first = MASK - count * step - MARGIN
        return (f"for (u64 {i} = {first}ULL; {i} < {first + count * step}ULL; {i} += {step})",
                f"(int)(({i} - {first}ULL) / {step})")
    if kind == 6:
        last = 2**31 - 1 - MARGIN
        return (f"for (int {i} = {last - count * step + step}; {i} <= {last}; {i} += {step})",
                f"(({i} - {last - count * step + step}) / {step})")
    if kind == 7:
        return f"for (int {i} = {start}; {i} != {start + count}; {i}++)", f"({i} - ({start}))"
    return (f"for (long long {i} = {start + (count - 1) * step}; {i} >= {start}; {i} = {i} - {step})",
            f"(int)(({start + (count - 1) * step} - {i}) / {step})")


def nested_loops(w, most, is_rectangular=False):
    """Returns the heads of one to three loops, the expression of the number of an iteration, and how many there are."""
    shape = w.rng.randrange(6)
    if shape <= 3:
        count = w.rng.choice((0, 1, 2, 7, most // 2 + 1, most))
        head, index = loop_head(w, count)
        return [head], index, count
    i, j, k = w.name("i"), w.name("j"), w.name("k")
    if shape == 4 and not is_rectangular and w.chance(50):
        rows = max(1, int(most**0.5))
        return ([f"for (int {i} = 0; {i} < {rows}; ++{i})", f"for (int {j} = 0; {j} <= {i}; ++{j})"],
                f"({i} * ({i} + 1) / 2 + {j})", rows * (rows + 1) // 2)
    side = max(1, int(most ** (1 / 2 if shape == 4 else 1 / 3)))
    columns = w.rng.randint(1, side)
    if shape == 4:
        return ([f"for (int {i} = 0; {i} < {side}; ++{i})", f"for (long {j} = {columns}; {j} > 0; --{j})"],
                f"(int)({i} * {columns} + {columns} - {j})", side * columns)
    return ([f"for (int {i} = 0; {i} < {side}; ++{i})", f"for (unsigned {j} = 0; {j} < {columns}; ++{j})",
             f"for (short {k} = 0; {k} < 2; ++{k})"], f"(int)(({i} * {columns} + {j}) * 2 + {k})", side * columns * 2)


# Reductions: name, type, first value, how a value v of 64 bits is added to x, and x as a number.
REDUCTIONS = (
    ("+", "u64", "7", "x += v", "x"),
    ("+", "u64", "7", "x += v", "x"),
    ("-", "long long", "3", "x -= (long long)(v & 0xfff)", "(u64)x"),
    ("*", "u64", "5", "x *= v | 1", "x"),
    ("^", "u64", "1", "x ^= v", "x"),
    ("|", "unsigned", "0", "x |= 1u << (v & 31)", "x"),
    ("&", "u64", "~0ULL", "x &= ~(1ULL << (v & 63))", "x"),
    ("max", "long long", "-9", "x = (long long)(v >> 1) > x ? (long long)(v >> 1) : x", "(u64)x"),
    ("min", "int", "2147483647", "x = (int)(v >> 33) < x ? (int)(v >> 33) : x", "(u64)x"),
    ("&&", "int", "1", "x = x && (v & 63)", "(u64)(x != 0)"),
    ("||", "int", "0", "x = x || !(v & 63)", "(u64)(x != 0)"),
    ("+", "double", "0.5", "x += (double)(v & 0xffff)", "(u64)x"),
    ("+", "unsigned char", "1", "x += (unsigned char)v", "x"),
    ("merge", "both", "{1, 2}", "(x.sum += v, x.bits ^= v * 3)", "mix(x.sum, x.bits)"),
)


@dataclasses.dataclass(frozen=True)
class Reduction:
    name: str
    row: tuple

    @property
    def operator(self):
        return self.row[0]

    def clause(self, kind="reduction", modifier=""):
        return f" {kind}({modifier}{self.operator} : {self.name})"

    def declaration(self):
        return f"{self.row[1]} {self.name} = {self.row[2]};"

    def add(self, value):
        """value: the name of a variable."""
        return self._with(self.row[3], value) + ";"

    def value(self):
        return self._with(self.row[4])

    def _with(self, text, value=""):
        return re.sub(r"\b[xv]\b", lambda word: self.name if word[0] == "x" else value, text)


def new_reduction(w):
    return Reduction(w.name("x"), w.rng.choice(REDUCTIONS))
