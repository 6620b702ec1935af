# SPDX-License-Identifier: BSL-1.0
"""The plan of `quern grain`: the placeholder of the grain in a command, rows of grains, lists."""

import math
import unittest

from study.grain.plan import CommandTemplate, TimePattern, parse_grain, parse_grains, parse_workers, series_of_grains
from study.kit.mistakes import Mistake


class Commands(unittest.TestCase):
    def test_fill_every_place_of_the_name(self):
        command = CommandTemplate(["heat", "--partition={size}", "{size}", "{size}-{size}"])
        self.assertEqual(command.name, "size")
        self.assertEqual(command.filled(500), ["heat", "--partition=500", "500", "500-500"])
        self.assertEqual(command.text(), "heat --partition={size} {size} {size}-{size}")

    def test_leave_other_braces_alone(self):
        command = CommandTemplate(["p", "{}", "{1}", "{a b}", "{", "}", '{"n":{n}}'])
        self.assertEqual(command.name, "n")
        self.assertEqual(command.filled(7), ["p", "{}", "{1}", "{a b}", "{", "}", '{"n":7}'])

    def test_refuse_what_has_not_one_name(self):
        for words in ([], ["heat", "--partition", "5"], ["{heat}", "5"], ["heat", "{a}", "{b}"], ["heat", "{a}{b}"]):
            with self.assertRaises(Mistake):
                CommandTemplate(words)


class Grains(unittest.TestCase):
    def test_of_a_range_are_both_ends_and_known_numbers_between(self):
        self.assertEqual(series_of_grains(1, 100, 1), [1, 10, 100])
        self.assertEqual(series_of_grains(10, 1000, 3), [10, 20, 50, 100, 200, 500, 1000])
        self.assertEqual(series_of_grains(700, 2500, 3), [700, 1000, 2000, 2500])
        self.assertEqual(series_of_grains(1000, 50000, 2), [1000, 3000, 10000, 30000, 50000])
        self.assertEqual(series_of_grains(5, 5, 3), [5])
        with self.assertRaises(Mistake):
            series_of_grains(6, 5, 3)

    def test_are_as_many_in_a_decade_as_asked_for(self):
        for per_decade in range(1, 21):
            grains = series_of_grains(1000, 100000, per_decade)
            self.assertEqual(len(grains), 2 * per_decade + 1, per_decade)
            self.assertEqual(grains, sorted(grains))

    def test_end_at_the_largest(self):
        self.assertEqual(len(series_of_grains(1, 10 ** 15, 1)), 16)

    def test_are_whole_numbers(self):
        for text, grain in (("1", 1), ("2.5e6", 2500000), ("1e15", 10 ** 15), (".5e1", 5), ("7.", 7)):
            self.assertEqual(parse_grain("--from", text), grain)
        for bad in ("", "0", "-3", "1.5", "1e16", "1e999", "nan", "inf", "5k", " 5", "5 ", "+5", "0x10", "1_000", "٣"):
            with self.assertRaisesRegex(Mistake, "--from is .*; accepted: a whole number", msg=bad):
                parse_grain("--from", bad)

    def test_in_a_list_are_sorted_and_each_once(self):
        self.assertEqual(parse_grains("--values", "100,1e1,10"), [10, 100])
        for bad in ("1,,2", "1,2,"):
            with self.assertRaises(Mistake):
                parse_grains("--values", bad)


class Workers(unittest.TestCase):
    def test_know_all(self):
        self.assertEqual(parse_workers("--workers", "all,1,2", 8), [1, 2, 8])
        self.assertEqual(parse_workers("--workers", "1,all", 1), [1])
        for bad in ("", "0", "-1", "5000", "two", "1,", "1;2", "all2", "2x", "9" * 5000):
            with self.assertRaises(Mistake, msg=bad):
                parse_workers("--workers", bad, 2)


class Times(unittest.TestCase):
    def test_are_the_group_of_the_expression(self):
        self.assertEqual(TimePattern(r"time +([0-9.]+) s").find("a\ntime  1.25 s\ntime 3 s\n"), 1.25)
        self.assertEqual(TimePattern("t=(.*)$").find("t=2e-3"), 2e-3)
        self.assertEqual(TimePattern("t[[:space:]]+([[:digit:].]+)").find("t  2.5 s"), 2.5)

    def test_are_none_where_there_is_no_number(self):
        for output in ("", "time is over", "time 1.2.3 s", "time inf s", "time  s"):
            self.assertIsNone(TimePattern(r"time (.*) s").find(output), output)
        self.assertIsNone(TimePattern("a(b)?").find("a"))

    def test_are_not_looked_for_without_an_expression(self):
        self.assertTrue(math.isnan(TimePattern("").find("time 3 s")))

    def test_want_one_group(self):
        for expression, why in (("(", "no regular expression"), ("s", "one group"), ("(a)(b)", "one group")):
            with self.assertRaisesRegex(Mistake, why):
                TimePattern(expression)


if __name__ == "__main__":
    unittest.main()
