# SPDX-License-Identifier: BSL-1.0
"""Medians and spreads, and the treatment of unknown numbers."""

import math
import unittest

from study.kit.medians import UNKNOWN, interquartile_spread, ratio, summarize


class Summaries(unittest.TestCase):
    def test_of_odd_and_even_counts(self):
        self.assertEqual(summarize([3, 1, 2]).median, 2)
        self.assertEqual(summarize([4, 1, 2, 3]).median, 2.5)
        one = summarize([8, 2, 4])
        self.assertEqual((one.least, one.most, one.spread, one.count), (2, 8, 1.5, 3))

    def test_leave_out_what_is_not_known(self):
        some = summarize([UNKNOWN, 5, UNKNOWN, math.inf])
        self.assertEqual((some.median, some.count), (5, 1))
        for none in (summarize([UNKNOWN]), summarize([])):
            self.assertEqual(none.count, 0)
            self.assertTrue(math.isnan(none.median) and math.isnan(none.spread))

    def test_have_no_spread_around_zero(self):
        self.assertTrue(math.isnan(summarize([-1, 0, 1]).spread))
        self.assertTrue(math.isnan(ratio(1, 0)))

    def test_have_an_interquartile_spread(self):
        self.assertAlmostEqual(interquartile_spread([1, 2, 3, 4, 5]), 2 / 3)
        self.assertEqual(interquartile_spread([2, 2, 2]), 0)
        for values in ([], [2], [-3, -2, -1], [0, 0]):
            self.assertIsNone(interquartile_spread(values), values)


if __name__ == "__main__":
    unittest.main()
