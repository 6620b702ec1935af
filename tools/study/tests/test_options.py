# SPDX-License-Identifier: BSL-1.0
"""The command line of a study: values, where the program begins, and mistakes."""

import unittest

from study.command import without_settings
from study.kit.mistakes import Mistake
from study.options import CommandLine, Option, whole_number

LINE = CommandLine("quern x", "About.", [Option("--size", "How large", "N", 3, shows_fallback=True),
                                         Option("--file", "Where", "FILE", ""), Option("--quick", "Soon", fallback=False)],
                   "Examples:\n")


class CommandLines(unittest.TestCase):
    def test_have_values_and_a_program(self):
        asked = LINE.parse(["--size", "5", "--file=a=b", "--quick", "--", "heat", "--size", "7", "--", "-x"])
        self.assertEqual(asked.values, {"size": "5", "file": "a=b", "quick": True})
        self.assertEqual(asked.given, {"size", "file", "quick"})
        self.assertEqual(asked.program, ["heat", "--size", "7", "--", "-x"])

    def test_have_fallbacks(self):
        asked = LINE.parse(["heat", "5"])
        self.assertEqual((asked.values, asked.given), ({"size": 3, "file": "", "quick": False}, set()))
        self.assertEqual(asked.program, ["heat", "5"])

    def test_take_a_value_that_looks_like_an_option(self):
        self.assertEqual(LINE.parse(["--size", "-3"]).values["size"], "-3")

    def test_help_wins_over_mistakes(self):
        for words in (["--nothing", "--help"], ["-h", "--size"]):
            self.assertTrue(LINE.parse(words).wants_help)
        self.assertFalse(LINE.parse(["--", "--help"]).wants_help)
        self.assertIn("\n  --size N=3                  How large\n  --file FILE                 Where\n", LINE.help())

    def test_name_the_mistake(self):
        for words, part in ((["--sise", "5"], "unknown option '--sise'; accepted: --help, --size, --file, --quick; did you mean "
                             "'--size'?"),
                            (["heat", "-x"], "options of the program belong behind '--': quern x OPTION... -- PROGRAM ARGUMENT..."),
                            (["--size"], "--size needs a value: --size N"), (["--size", "--", "heat"], "--size needs a value"),
                            (["--quick=no"], "--quick takes no value, and was given 'no'"),
                            (["--size", "1", "--size", "2"], "--size stands there twice")):
            with self.assertRaises(Mistake, msg=words) as raised:
                LINE.parse(words)
            self.assertIn(part, str(raised.exception))

    def test_keep_settings_of_the_runtime_apart(self):
        self.assertEqual(without_settings(["--quern:threads=3", "grain", "--quern:bind=none", "--", "heat", "--quern:x"]),
                         (["--quern:threads=3", "--quern:bind=none"], ["grain", "--", "heat", "--quern:x"]))


class WholeNumbers(unittest.TestCase):
    def test_are_in_their_range(self):
        self.assertEqual([whole_number("quern x", "--n", text, 1, 20) for text in ("1", "20", 7)], [1, 20, 7])
        for bad in ("0", "21", "", "x", "-1", "1.5", "+3", "٣", "9" * 5000):
            with self.assertRaisesRegex(Mistake, "quern x: --n is '.*'; accepted: a whole number from 1 to 20"):
                whole_number("quern x", "--n", bad, 1, 20)


if __name__ == "__main__":
    unittest.main()
