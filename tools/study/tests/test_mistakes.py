# SPDX-License-Identifier: BSL-1.0
"""The nearest match: the cases of tests/unit/base/nearest_match_test.cpp, because both must suggest alike."""

import unittest

from study.kit.mistakes import accepted_values, edit_distance, hint, nearest_match

WORDS = ["compact", "scatter", "balanced"]


class Guesses(unittest.TestCase):
    def test_count_each_kind_of_edit_once(self):
        for a, b, edits in (("scatter", "scatter", 0), ("scater", "scatter", 1), ("scattter", "scatter", 1),
                            ("scatner", "scatter", 1), ("sactter", "scatter", 1), ("", "abc", 3), ("abc", "", 3), ("", "", 0),
                            ("kitten", "sitting", 3), ("Compact", "cOMPACT", 0)):
            self.assertEqual((edit_distance(a, b), edit_distance(b, a)), (edits, edits), (a, b))

    def test_find_a_misspelling(self):
        for word, near in (("compct", "compact"), ("SCATTER", "scatter"), ("balance", "balanced")):
            self.assertEqual(nearest_match(word, WORDS), near)

    def test_are_none_when_nothing_is_near(self):
        for word in ("elephant", "", "c" * 65):
            self.assertIsNone(nearest_match(word, WORDS))
        self.assertIsNone(nearest_match("compact", []))

    def test_allow_edits_up_to_a_third_of_the_longer_word(self):
        self.assertEqual(nearest_match("xyzdefghi", ["abcdefghi"]), "abcdefghi")
        self.assertIsNone(nearest_match("wxyzefghi", ["abcdefghi"]))
        self.assertEqual(nearest_match("b", ["a"]), "a")  # one edit is always allowed

    def test_prefer_the_first_of_equals(self):
        self.assertEqual(nearest_match("worm", ["work", "word"]), "work")

    def test_stand_behind_what_is_accepted(self):
        self.assertEqual(accepted_values("compat", WORDS), "accepted: compact, scatter, balanced; did you mean 'compact'?")
        self.assertEqual(accepted_values("elephant", WORDS), "accepted: compact, scatter, balanced")
        self.assertEqual(hint("elephant", WORDS), "")


if __name__ == "__main__":
    unittest.main()
