# SPDX-License-Identifier: BSL-1.0
"""Random programs, as trees and as Python. The seed is in the test's name; TREE_TEST_PROGRAMS is how many."""

import importlib.util
import os
import random

import numpy as np
import pytest
from tree_support import CORES, copied, on, same, tree

PROGRAMS = int(os.environ.get("TREE_TEST_PROGRAMS", "60"))
RULES = ("settings", "never", "always", "quern")


class Writer:
    """Writes a function f(a, b, n): arrays p, q, a, b of 4 float64, integers n, i, j, k, numbers x, y."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = ["import numpy as np", "from tree_support import prange", "", "", "def f(a, b, n):",
                      "    p, q = a * 1, b * 1", "    i = j = k = 1", "    x, y = 0.5, 1.5"]
        self.count = 0

    def text(self):
        self.statements(1, 7, 3, False)
        self.lines.append("    return a, b, p, q, i, j, k, x, y, n")
        return "\n".join(self.lines) + "\n"

    def pick(self, *choices):
        return self.random.choice(choices)

    def integer(self, depth=2):
        if depth == 0 or self.random.random() < 0.4:
            return self.pick("n", "i", "j", "k", str(self.random.randrange(-3, 6)))
        left, right = self.integer(depth - 1), self.integer(depth - 1)
        return self.pick(f"({left} + {right}) % 7", f"({left} - {right})", f"({left} * 2 // 3)", f"min({left}, {right}, 4)",
                         f"({left} if {self.test(depth - 1)} else {right})", f"max({left} & 3, {right} % 5)")

    def number(self, depth=2):
        if depth == 0 or self.random.random() < 0.3:
            return self.pick("x", "y", "0.25", "2.0", f"{self.pick('a', 'b', 'p', 'q')}[{self.index()}]")
        left, right = self.number(depth - 1), self.number(depth - 1)
        return self.pick(f"({left} + {right}) / 4", f"({left} - {right}) * 0.5", f"np.tanh({left})",
                         f"abs({left} * {right}) % 3.0", f"{self.array(depth - 1)}.sum() * 0.125")

    def array(self, depth=2):
        if depth == 0 or self.random.random() < 0.3:
            return self.pick("a", "b", "p", "q")
        left, right = self.array(depth - 1), self.array(depth - 1)
        return self.pick(f"(({left} + {right}) * 0.5)", f"({left} - {self.number(depth - 1)})", f"np.tanh({left})",
                         f"np.where({left} > {right}, {left}, 0.5)", f"{left}[::-1]", f"np.maximum({left}, {right})",
                         f"(({left} * {right}) % 2.0)")

    def index(self):
        return self.pick("0", "1", "-1", "n % 4", "i % 4", "(j + k) % 4")

    def test(self, depth=2):
        made = self.pick(f"{self.integer(depth - 1 if depth else 0)} < {self.integer(0)}",
                         f"{self.number(0)} > {self.number(0)}", f"0 <= {self.integer(0)} < 4",
                         f"{self.array(0)}[0] <= {self.number(0)}")
        if depth > 0 and self.random.random() < 0.3:
            return f"({made} {self.pick('and', 'or')} not {self.test(0)})"
        return made

    def statements(self, indent, count, depth, in_loop):
        for _ in range(self.random.randrange(1, count + 1)):
            self.statement(indent, depth, in_loop)

    def line(self, indent, text):
        self.lines.append("    " * indent + text)

    def statement(self, indent, depth, in_loop):
        kind = self.random.random()
        if depth > 0 and kind < 0.35:
            self.compound(indent, depth, in_loop)
        elif in_loop and kind < 0.42:
            self.line(indent, f"if {self.test()}:")
            self.line(indent + 1, self.pick("break", "continue", "continue"))
        elif kind < 0.44:
            self.line(indent, f"if {self.test()}:")
            self.line(indent + 1, f"return {self.array()}, {self.integer()}, {self.number()}")
        else:
            self.assignment(indent)

    def assignment(self, indent):
        array = self.pick("a", "b", "p", "q")
        self.line(indent, self.pick(
            lambda: f"{array} = {self.array()}", lambda: f"{array} {self.pick('+=', '*=', '-=')} {self.number(1)} * 0.25",
            lambda: f"{array}[{self.index()}] = {self.number()}", lambda: f"{array}[1:3] = {self.array(1)}[:2] * 1",
            lambda: f"{array}[{self.index()}] += {self.number(1)}", lambda: f"x, y = y, {self.number()}",
            lambda: f"{self.pick('i', 'j', 'k')} = {self.integer()}", lambda: f"{self.pick('i', 'j')} += {self.integer(1)} % 3",
            lambda: f"{self.pick('x', 'y')} = {self.number()}", lambda: f"p, q = {self.array(1)} * 1, {self.array(1)} + 0.0",
            lambda: f"i, (j, x) = {self.integer(1)}, (k, {self.number(1)})")())

    def compound(self, indent, depth, in_loop):
        form = self.pick("if", "if else", "for", "rows", "zip", "while", "prange")
        if form == "prange":
            self.parallel(indent)
            return
        if form.startswith("if"):
            self.line(indent, f"if {self.test()}:")
            self.statements(indent + 1, 3, depth - 1, in_loop)
            if form == "if else":
                self.line(indent, "else:")
                self.statements(indent + 1, 3, depth - 1, in_loop)
            return
        self.count += 1
        counter = f"c{self.count}"
        if form == "while":
            self.line(indent, f"{counter} = 0")
            self.line(indent, f"while {counter} < {self.random.randrange(1, 5)} and {self.test(1)}:")
            self.line(indent + 1, f"{counter} += 1")
        elif form == "for":
            self.line(indent, f"for {counter} in range({self.integer(1)} % 5):")
            self.line(indent + 1, f"k = {counter}")
        elif form == "rows":
            self.line(indent, f"for {counter} in {self.array(1)} * 1:")
            self.line(indent + 1, f"x = {counter} * 0.5")
        else:
            self.line(indent, f"for {counter}, y in zip({self.array(0)} * 1, {self.array(0)} * 1):")
            self.line(indent + 1, f"x = {counter} - y * 0.5")
        self.statements(indent + 1, 4, depth - 1, True)
        if self.random.random() < 0.3:
            self.line(indent, "else:")
            self.statements(indent + 1, 2, depth - 1, in_loop)


    def parallel(self, indent):
        """Iterations that read what none of them writes, and write an array of their own."""
        self.count += 1
        n = self.count
        self.line(indent, f"o{n} = np.zeros(4)")
        self.line(indent, f"for c{n} in prange(4):")
        self.line(indent + 1, f"w{n} = {self.number()}")
        self.line(indent + 1, f"if {self.test(1)}:")
        skipped = f"o{n}[c{n}] = c{n}\n{'    ' * (indent + 2)}continue"
        self.line(indent + 2, self.pick(f"w{n} = w{n} + {self.number(1)}", skipped))
        self.line(indent + 1, f"for d{n} in range(c{n}):")
        self.line(indent + 2, f"w{n} += {self.array(1)}[d{n}]")
        self.line(indent + 1, f"o{n}[c{n}] = w{n} * 0.5 + c{n}")
        self.line(indent, f"{self.pick('a', 'b', 'p', 'q')} = o{n}")


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_a_random_program_gives_what_python_gives(core, seed, tmp_path):
    text = Writer(seed).text()
    path = tmp_path / f"program_{seed}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"program_{seed}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with on(core):
        as_tree = tree(small="tree", inlining=RULES[seed % len(RULES)])(module.f)
        for n in range(3):
            args = (np.linspace(-1.0, 2.0, 4), np.array([0.5, -0.25, 1.0, 0.125]) * (n + 1), n)
            own, other = copied(args), copied(args)
            try:
                expected = module.f(*other)
            except Exception as error:
                with pytest.raises(type(error)):
                    as_tree(*own)
                continue
            result = as_tree(*own)
            assert same(result, expected, exact=core == "reference"), (text, result, expected)
            assert same(own, other, exact=core == "reference"), (text, own, other)
