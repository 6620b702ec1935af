# SPDX-License-Identifier: BSL-1.0
"""The sign test against values from tables of the binomial distribution."""

import unittest

from study.kit import sign_test


class SignTest(unittest.TestCase):
    def test_has_the_values_of_the_tables(self):
        for wins, losses, p in ((0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (8, 2, 0.109375), (9, 1, 0.021484375),
                                (15, 0, 2 / 32768), (12, 3, 0.03515625), (11, 4, 0.11846923828125), (5, 5, 1.0)):
            self.assertAlmostEqual(sign_test.p_value(wins, losses), p, places=12)
            self.assertEqual(sign_test.p_value(losses, wins), sign_test.p_value(wins, losses))

    def test_is_exact_where_numbers_are_large(self):
        self.assertLess(sign_test.p_value(1000, 0), 1e-300)
        self.assertEqual(sign_test.p_value(500, 500), 1.0)

    def test_shows_nothing_below_six_rounds(self):
        self.assertEqual(sign_test.fewest_rounds(), 6)

    def test_counts_pairs_and_leaves_draws_out(self):
        first, second = [1.0, 2.0, 3.0, 4.0], [0.5, 2.0, 2.0, 5.0]
        self.assertEqual(sign_test.score(first, second), (2, 1))
        self.assertEqual(sign_test.score(first, second, higher_is_better=True), (1, 2))

    def test_wants_pairs(self):
        with self.assertRaises(ValueError):
            sign_test.score([1.0], [1.0, 2.0])


if __name__ == "__main__":
    unittest.main()
