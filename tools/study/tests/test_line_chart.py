# SPDX-License-Identifier: BSL-1.0
"""Charts: axes and their labels, omitted points, and that no text leaves its place."""

import math
import unittest

from study.kit.axis import Axis, around, linear_ticks, log_ticks, short_number
from study.kit.line_chart import Chart, Flag, Point, Region, Series, as_svg


def chart(*points, **more):
    return Chart("a < b", series=[Series("one & only", list(points))], **more)


class Axes(unittest.TestCase):
    def test_are_logarithmic_or_not(self):
        self.assertAlmostEqual(Axis(1, 100, 0, 200).place(10), 100)
        self.assertAlmostEqual(Axis(0, 100, 200, 0, False).place(25), 150)
        self.assertAlmostEqual(Axis(1, 100, 0, 200).place(1000), 200)  # outside: at the end

    def test_have_ticks_with_room_for_their_numbers(self):
        self.assertEqual(log_ticks(Axis(1, 100, 0, 1000), 100), [1, 2, 5, 10, 20, 50, 100])
        self.assertEqual(log_ticks(Axis(1, 100, 0, 310), 100), [1, 10, 100])
        self.assertEqual(log_ticks(Axis(1, 1e6, 0, 310), 100), [1, 1e3, 1e6])
        self.assertEqual(log_ticks(Axis(1, 100, 0, 1000), 10, ((1, 5),)), [1, 5, 10, 50, 100])
        self.assertEqual(linear_ticks(Axis(0, 10, 0, 100, False), 20), [0, 2, 4, 6, 8, 10])
        self.assertEqual(linear_ticks(Axis(-1, 1, 0, 100, False), 50), [-1, 0, 1])

    def test_go_around_values(self):
        for values, ends in (([3, 70, None, -1], (2, 100)), ([1, 10], (1, 10)), ([5, 5], (2, 10)), ([], (0.5, 2))):
            found = around(values, 0, 100)
            self.assertAlmostEqual(found.low, ends[0])
            self.assertAlmostEqual(found.high, ends[1])

    def test_have_short_numbers(self):
        for value, text in ((0, "0"), (999, "999"), (1000, "1k"), (2500000, "2.5M"), (-0.05, "-0.05")):
            self.assertEqual(short_number(value), text)


class Charts(unittest.TestCase):
    def test_draw_each_point_with_its_title(self):
        svg = as_svg(chart(Point(1, 1, 0.5, 2, "first"), Point(10, 2, 2, 2, "second")))
        for title in ("first", "second"):
            self.assertEqual(svg.count(f"<title>{title}</title>"), 1)
        self.assertEqual(svg.count("whisker"), 1)
        self.assertEqual((svg.count("<svg "), svg.count("</svg>")), (1, 1))

    def test_escape_what_they_are_told(self):
        svg = as_svg(chart(Point(1, 1, 1, 1, "<script>\"&")))
        self.assertNotIn("<script>", svg)
        for part in ("&lt;script&gt;&quot;&amp;", "one &amp; only", "a &lt; b"):
            self.assertIn(part, svg)

    def test_leave_out_what_cannot_be_drawn(self):
        self.assertEqual(as_svg(chart()), "")
        self.assertEqual(as_svg(chart(Point(1, math.nan, 1, 1, "x"))), "")
        svg = as_svg(chart(Point(1, 0, 0, 0, "zero"), Point(2, 3, -1, 4, "three"), has_log_y=True))
        self.assertNotIn("<title>zero</title>", svg)
        self.assertIn("<title>three</title>", svg)
        self.assertNotRegex(svg, "nan|inf")

    def test_have_no_gaps_where_everything_is_equal(self):
        self.assertNotRegex(as_svg(chart(Point(5, 0, 0, 0, "a"), Point(5, 0, 0, 0, "b"))), "nan|inf")

    def test_give_flags_that_are_near_rows_of_their_own(self):
        flags = [Flag(10, "one name"), Flag(11, "another"), Flag(500, "far")]
        svg = as_svg(chart(Point(1, 1, 1, 1, ""), Point(1000, 2, 2, 2, ""), flags=flags))
        rows = {flag.name: float(svg.split(f">{flag.name}<")[0].rsplit(' y="', 1)[1].split('"')[0]) for flag in flags}
        self.assertEqual(rows["one name"], rows["far"])
        self.assertEqual(rows["one name"] - rows["another"], 14)

    def test_name_regions_that_have_room(self):
        svg = as_svg(chart(Point(1, 1, 1, 1, ""), Point(1000, 2, 2, 2, ""),
                           regions=[Region(0.5, 1.1, "narrow region"), Region(1.1, 2000, "wide")]))
        self.assertNotIn("narrow region", svg)
        self.assertIn(">wide<", svg)
        self.assertEqual(svg.count("<rect"), 2)


if __name__ == "__main__":
    unittest.main()
