# SPDX-License-Identifier: BSL-1.0
"""Correlations whose values are known: by construction, from books, and from the published data of Anscombe 1973."""

import math
import unittest

from study.kit.correlation import pearson, ranks, spearman

UNKNOWN = math.nan


class Pearson(unittest.TestCase):
    def test_is_one_on_a_line(self):
        self.assertAlmostEqual(pearson([1, 2, 3, 4], [5, 7, 9, 11]), 1, places=15)
        self.assertAlmostEqual(pearson([1, 2, 3, 4], [3, 2, 1, 0]), -1, places=15)

    def test_is_zero_without_a_trend(self):
        self.assertAlmostEqual(pearson([-1, 0, 1], [1, 0, 1]), 0, places=15)

    def test_of_anscombes_first_set(self):
        x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
        y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
        self.assertAlmostEqual(pearson(x, y), 0.81642, places=5)
        self.assertAlmostEqual(spearman(x, y), 0.81818, places=5)

    def test_survives_large_offsets(self):
        self.assertAlmostEqual(pearson([1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4], [1, 3, 2, 4]), 0.8, places=9)

    def test_is_none_where_it_is_not_defined(self):
        self.assertIsNone(pearson([], []))
        self.assertIsNone(pearson([1, 2], [1, 2]))  # two points are on a line
        self.assertIsNone(pearson([1, 2, 3], [7, 7, 7]))  # does not vary
        self.assertIsNone(pearson([1, UNKNOWN, 3], [1, 2, 3]))
        self.assertIsNone(pearson([0.1, 0.1, 0.1], [1, 2, 3]))

    def test_is_none_where_numbers_are_too_small_or_too_large_to_multiply(self):
        self.assertIsNone(pearson([0, 1e-200, 2e-200], [0, 1e-200, 2e-200]))
        self.assertIsNone(pearson([0, 1e200, 2e200], [0, 1e200, 2e200]))

    def test_leaves_out_pairs_that_are_not_known(self):
        self.assertAlmostEqual(pearson([1, 2, UNKNOWN, 3, 9], [2, 4, 5, 6, UNKNOWN]), 1, places=15)


class Spearman(unittest.TestCase):
    def test_ranks_share_the_mean_where_values_are_equal(self):
        self.assertEqual(ranks([30, 10, 20]), [3, 1, 2])
        self.assertEqual(ranks([5, 1, 5, 5, 9]), [3, 1, 3, 3, 5])
        self.assertEqual(ranks([]), [])

    def test_sees_only_the_order(self):
        self.assertAlmostEqual(spearman([1, 2, 3, 4], [1, 10, 100, 1e9]), 1, places=15)
        self.assertAlmostEqual(spearman([1, 2, 3, 4], [4, 3, 2, -1e9]), -1, places=15)

    def test_follows_the_formula_without_ties(self):
        # With d the differences of ranks, 1 - 6 sum(d^2) / (n (n^2 - 1)): here 1 - 6 * 8 / (5 * 24).
        self.assertAlmostEqual(spearman([1, 2, 3, 4, 5], [2, 1, 4, 5, 3]), 0.6, places=12)


if __name__ == "__main__":
    unittest.main()
