# SPDX-License-Identifier: BSL-1.0
"""Targets that are reached, missed and not measured, and invalid ones."""

import unittest

import targets
from test_figures import result, run_of

RUN = run_of(result("serial/serial", [10.0]), result("quern/a", [5.0], percent_of_copy=96.0), result("quern/b", [8.0]),
             result("quern/dead", [], failure="timed out (60 s)"))


def outcome_of(run=RUN, problem=None, **target):
    """(state, figure) of one target."""
    row, = targets.evaluate({"fib": {"target": [{"workers": 2, **target}], **(problem or {})}}, [run])
    return row.outcomes[0].state, row.outcomes[0].figure


class Outcomes(unittest.TestCase):
    def test_a_value_that_is_the_limit_reaches_it(self):
        self.assertEqual(outcome_of(contender="quern/a", at_most=5.0), (targets.REACHED, "5.00 s"))
        self.assertEqual(outcome_of(contender="quern/a", at_least=5.0), (targets.REACHED, "5.00 s"))

    def test_a_value_beyond_the_limit_misses_it(self):
        self.assertEqual(outcome_of(contender="quern/a", at_most=4.9)[0], targets.MISSED)
        self.assertEqual(outcome_of(contender="quern/a", at_least=5.1)[0], targets.MISSED)

    def test_a_unit_of_the_problem_is_shown(self):
        self.assertEqual(outcome_of(contender="quern/a", at_most=9, problem={"unit": "ns"}), (targets.REACHED, "5.00 ns"))

    def test_a_ratio_is_to_another_contender(self):
        self.assertEqual(outcome_of(contender="quern/a", at_most=0.5, of="serial/serial"), (targets.REACHED, "0.5×"))
        self.assertEqual(outcome_of(contender="quern/b", at_most=1.5, of="quern/a", of_workers=2), (targets.MISSED, "1.60×"))

    def test_a_ratio_is_to_one_worker_unless_said(self):
        state, why = outcome_of(contender="quern/b", at_most=1.5, of="quern/a")
        self.assertEqual((state, why), (targets.UNKNOWN, "quern/a: not run with 1 worker"))
        both = run_of(result("quern/a", [8.0]))
        both.data["groups"] += run_of(result("quern/a", [16.0]), workers=1).data["groups"]
        self.assertEqual(outcome_of(both, contender="quern/a", at_most=0.5, of="quern/a"), (targets.REACHED, "0.5×"))

    def test_of_a_pattern_the_best_counts(self):
        self.assertEqual(outcome_of(contender="quern/*", at_most=5.0)[0], targets.REACHED)
        self.assertEqual(outcome_of(contender="quern/*", at_least=8.0)[0], targets.REACHED)

    def test_another_figure_counts_where_it_is_named(self):
        self.assertEqual(outcome_of(contender="quern/a", figure="percent_of_copy", at_least=95), (targets.REACHED, "96.0"))
        self.assertEqual(outcome_of(contender="quern/a", figure="growth_mib", at_most=1), (targets.MISSED, "4.00 MiB"))
        self.assertEqual(outcome_of(contender="quern/a", figure="cpu", at_most=20), (targets.REACHED, "20.0 s"))
        self.assertEqual(outcome_of(contender="quern/a", figure="none", at_most=1),
                         (targets.UNKNOWN, "quern/a has no figure 'none'"))

    def test_who_fails_misses(self):
        self.assertEqual(outcome_of(contender="quern/dead", at_most=1.0), (targets.MISSED, "timed out (60 s)"))

    def test_what_was_not_run_is_not_measured(self):
        self.assertEqual(outcome_of(contender="quern/z", at_most=1.0), (targets.UNKNOWN, "quern/z was not run"))
        self.assertEqual(outcome_of(contender="quern/a", at_most=1.0, size=11), (targets.UNKNOWN, "size 11 was not run"))
        self.assertEqual(outcome_of(contender="quern/a", at_most=1.0, workers=8), (targets.UNKNOWN, "not run with 8 workers"))
        row, = targets.evaluate({"uts": {"target": [{"workers": 2, "contender": "quern/a", "at_most": 1}]}}, [RUN])
        self.assertEqual(row.outcomes[0], targets.Outcome(targets.UNKNOWN, "not run"))

    def test_they_are_counted(self):
        wanted = [{"workers": 2, "contender": c, "at_most": 5} for c in ("quern/a", "quern/b", "quern/dead", "quern/z")]
        rows = targets.evaluate({"fib": {"target": wanted}}, [RUN])
        self.assertEqual(targets.tally(rows, 0), "1 of 4 targets reached, 1 not measured")

    def test_the_line_of_a_target_says_all_of_it(self):
        target = {"size": 35, "workers": 8, "contender": "quern/a", "at_most": 1.15, "of": "quern/a", "of_workers": 2}
        self.assertEqual(targets.describe(target, "fib", {}),
                         "fib(35), quern/a, 8 workers: ≤ 1.15× quern/a with 2 workers")


class Mistakes(unittest.TestCase):
    def expect(self, words, **target):
        with self.assertRaisesRegex(targets.BadTarget, words):
            targets.check({"fib": {"target": [target]}})

    def test_are_named(self):
        self.expect("'atmost' is no key; accepted: at_least, at_most", workers=1, contender="quern/a", atmost=1)
        self.expect("'workers' is missing", contender="quern/a", at_most=1)
        self.expect("'contender' is missing", workers=1, at_most=1)
        self.expect("either 'at_most' or 'at_least'", workers=1, contender="quern/a")
        self.expect("either 'at_most' or 'at_least'", workers=1, contender="quern/a", at_most=1, at_least=1)


if __name__ == "__main__":
    unittest.main()
