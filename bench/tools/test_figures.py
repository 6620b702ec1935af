# SPDX-License-Identifier: BSL-1.0
"""Figures with known results: medians, spread, ratios, and the treatment of failed contenders."""

import json
import os
import tempfile
import unittest

import figures


def result(contender, values, failure=None, **more):
    """Of one contender, as bench/run writes it."""
    repetitions = [{"value": v, "runs": 1, "wall": 2 * v, "cpu": 4 * v, "growth_kib": 1024, **more} for v in values]
    return {"contender": contender, "workers": 2, "size": 10, "failure": failure, "repetitions": repetitions,
            "warm_up": {"value": 1000.0, "growth_kib": 4096}}


def run_of(*results, workers=2, policy="default", path="x.json"):
    group = {"problem": "fib", "size": 10, "workers": workers, "steal_percent": 0.5, "load": 1.0, "results": list(results)}
    return figures.Run(path, {"policy": policy, "groups": [group]})


class Summaries(unittest.TestCase):
    def test_the_first_repetition_counts_for_nothing_but_memory(self):
        s = figures.summarise(result("quern/plain", [5.0, 1.0, 2.0, 4.0, 3.0]))
        self.assertEqual((s.median, s.least, s.most, s.best, s.count), (3.0, 1.0, 5.0, 1.0, 5))
        self.assertEqual(s.growth_mib, 4.0)

    def test_the_median_of_an_even_number_is_between(self):
        self.assertEqual(figures.summarise(result("quern/plain", [1.0, 2.0, 4.0, 8.0])).median, 3.0)

    def test_spread_is_the_interquartile_range_in_shares_of_the_median(self):
        self.assertAlmostEqual(figures.summarise(result("quern/plain", [1.0, 2.0, 3.0, 4.0, 5.0])).spread, 2.0 / 3.0)
        self.assertEqual(figures.summarise(result("quern/plain", [2.0] * 5)).spread, 0.0)
        self.assertIsNone(figures.summarise(result("quern/plain", [2.0])).spread)

    def test_where_more_is_better_the_best_is_the_largest(self):
        self.assertEqual(figures.summarise(result("quern/plain", [1.0, 2.0, 3.0]), higher_is_better=True).best, 3.0)

    def test_what_a_problem_measures_besides_is_kept_by_name(self):
        # As bench/harness prints it: beside the value, without a name of its own.
        s = figures.summarise(result("quern/plain", [1.0, 3.0], percent_of_copy=96.5))
        self.assertEqual(s.figures, {"wall": 4.0, "cpu": 8.0, "percent_of_copy": 96.5})

    def test_one_that_failed_has_no_figures(self):
        s = figures.summarise(result("quern/plain", [1.0, 2.0], failure="timed out (60 s)"))
        self.assertEqual((s.median, s.growth_mib, s.failure), (None, None, "timed out (60 s)"))


class Ratios(unittest.TestCase):
    def section(self, *results, **problem):
        sections = figures.gather([run_of(*results)], {"fib": problem})
        self.assertEqual(len(sections), 1)
        return sections[0]

    def test_are_to_the_serial_program_and_to_the_best_peer(self):
        s = self.section(result("serial/serial", [10.0]), result("quern/a", [6.0]), result("quern/b", [5.0]),
                         result("tbb/x", [20.0]), result("libomp/y", [4.0]))
        cell = s.cells["quern/b", 2]
        self.assertEqual((cell.to_serial, cell.to_peer), (0.5, 1.25))
        duel = s.duels["", 2]
        self.assertEqual((duel.quern, duel.peer, duel.ratio), ("quern/b", "libomp/y", 1.25))

    def test_turn_round_where_more_is_better(self):
        s = self.section(result("quern/a", [6.0]), result("quern/b", [5.0]), result("tbb/x", [3.0]), higher_is_better=True)
        self.assertEqual((s.duels["", 2].quern, s.duels["", 2].ratio), ("quern/a", 0.5))

    def test_a_failed_peer_is_no_peer(self):
        s = self.section(result("quern/a", [6.0]), result("tbb/x", [1.0], failure="killed by signal 11"))
        self.assertIsNone(s.cells["quern/a", 2].to_peer)
        self.assertEqual(s.duels["", 2].word, "no peer")

    def test_the_word_for_a_failed_quern_is_its_failure(self):
        s = self.section(result("quern/a", [], failure="timed out (60 s)"), result("tbb/x", [1.0]))
        self.assertEqual((s.duels["", 2].ratio, s.duels["", 2].word), (None, "timed out (60 s)"))

    def test_runs_of_several_policies_stand_side_by_side(self):
        runs = [run_of(result("quern/a", [6.0]), result("tbb/x", [3.0])), run_of(result("quern/a", [9.0]))]
        runs[1].tag = "sherwood"
        s = figures.gather(runs, {})[0]
        self.assertEqual(s.labels, ["quern/a", "quern/a [sherwood]", "tbb/x"])
        self.assertEqual(s.duels["sherwood", 2].ratio, 3.0)


class Files(unittest.TestCase):
    def load(self, *contents):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, f"{i}.json") for i in range(len(contents))]
            for path, content in zip(paths, contents):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(content)
            return figures.load(paths)

    def test_are_told_apart_by_policy_then_by_name(self):
        contents = [json.dumps({"policy": p, "groups": []}) for p in ("default", "sherwood", "sherwood", "default")]
        self.assertEqual([r.tag for r in self.load(*contents)], ["", "sherwood", "sherwood, 2", "3"])

    def test_what_is_no_result_is_named(self):
        for content in ("", "[]", "{}", '{"groups": 3}', "\xff"):
            with self.assertRaisesRegex(figures.Unreadable, r"0\.json: is no result of bench/run"):
                self.load(content)
        with self.assertRaisesRegex(figures.Unreadable, "/none.json: No such file"):
            figures.load(["/none.json"])


if __name__ == "__main__":
    unittest.main()
