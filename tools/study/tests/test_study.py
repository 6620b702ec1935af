# SPDX-License-Identifier: BSL-1.0
"""The equations of Grubel 2016, section 5.1.2, on numbers worked out by hand, and what follows from a study: correlations by
range, choices."""

import math
import unittest

from study.grain.findings import correlate, find_best
from study.grain.metrics import BY_KEY, COUNT, MICROSECONDS, PERCENT, SECONDS, TABLE, band_of
from study.grain.study import Sample, Study, derive, measures
from study.grain.words import loss_as_words


def run(workers, grain, uptime, tasks, duration, overhead):
    return Sample(workers, grain, 0, measures(uptime_s=uptime, tasks=tasks, duration_us=duration, overhead_us=overhead))


def four_grains():
    """Two numbers of workers, four grains: tasks of 10, 20, 50 and 300 us on one worker."""
    made = Study(grains=[1, 2, 5, 30], workers=[1, 2])
    for x in made.grains:
        made.samples.append(run(1, x, 1 + 1 / x, 6000 / x, 10e-6 * x, 1e-6))
        made.samples.append(run(2, x, 0.5 + 1 / x, 6000 / x, 12e-6 * x, 2e-6))
    derive(made)
    return made


class Metrics(unittest.TestCase):
    def test_have_keys_of_their_own(self):
        self.assertEqual(len(BY_KEY), len(TABLE))

    def test_are_shown_with_as_many_digits_as_matter(self):
        for quantity, value, bare, text in (
                (SECONDS, 1.84, "1.840", "1.840 s"), (SECONDS, 0.12345, "0.1235", "0.1235 s"), (SECONDS, math.nan, "-", "-"),
                (MICROSECONDS, 6.987e-6, "6.99", "6.99 µs"), (MICROSECONDS, 1.6411e-3, "1641", "1641 µs"),
                (PERCENT, 0.953, "95.3", "95.3 %"), (PERCENT, math.inf, "-", "-"), (COUNT, 5e5, "500000", "500000")):
            self.assertEqual((quantity.bare(value), quantity.text(value)), (bare, text))


class Derived(unittest.TestCase):
    def test_follow_from_the_definitions(self):
        v = four_grains().of(2, 2)[0].values  # 3000 tasks of 24 us, 20 us alone
        self.assertAlmostEqual(v["time_s"], 1.0)
        self.assertAlmostEqual(v["management_s"], 2e-6 * 3000 / 2, places=12)
        self.assertAlmostEqual(v["wait_us"], 4e-6, places=15)
        self.assertAlmostEqual(v["wait_s"], 4e-6 * 3000 / 2, places=12)
        self.assertAlmostEqual(v["management_and_wait_s"], 3e-3 + 6e-3, places=12)

    def test_have_no_wait_time_on_one_worker(self):
        v = four_grains().of(1, 2)[0].values
        self.assertTrue(math.isnan(v["wait_us"]))
        self.assertAlmostEqual(v["management_s"], 3e-3, places=12)

    def test_have_no_wait_time_without_runs_on_one_worker(self):
        made = Study(grains=[1, 2], workers=[1, 2], samples=[run(2, grain, 1, 10, 1e-6, 1e-6) for grain in (1, 2)])
        derive(made)
        self.assertTrue(math.isnan(made.noise()))
        self.assertTrue(math.isnan(made.samples[0].values["wait_us"]))
        self.assertEqual(made.least_disturbed_duration(1), 1e-6)  # the least over the two workers

    def test_take_the_time_that_is_there(self):
        made = Study(grains=[1], workers=[1], samples=[run(1, 1, 3, 1, 1, 1), run(1, 1, 3, 1, 1, 1), run(1, 1, math.nan, 1, 1, 1)])
        made.samples[0].values["time_s"] = 2  # as if the program had printed its time
        for sample in made.samples:
            sample.values["wall_s"] = 4
        derive(made)
        self.assertEqual([sample.values["time_s"] for sample in made.samples], [2, 3, 4])


class Bands(unittest.TestCase):
    def test_follow_the_duration_on_one_worker(self):
        for duration, name in ((1e-6, "very fine"), (30e-6, "fine"), (99e-6, "fine"), (100e-6, "medium"), (500e-6, "coarse"),
                               (1e-3, "very coarse"), (10, "very coarse")):
            self.assertEqual(band_of(duration).name, name)
        self.assertIsNone(band_of(math.nan))


class Correlations(unittest.TestCase):
    def test_are_by_range_and_over_all(self):
        ranges = correlate(four_grains(), 2)
        self.assertEqual([found.band and found.band.name for found in ranges], ["very fine", "fine", "medium", None])
        self.assertEqual([found.grains for found in ranges], [2, 1, 1, 4])
        self.assertEqual(ranges[0].correlations, [])  # two grains give no correlation
        found = {c.metric.key: c for c in ranges[3].correlations}
        self.assertAlmostEqual(found["management_s"].pearson, 1, places=9)  # both are 1 / x here
        self.assertAlmostEqual(found["management_s"].spearman, 1, places=9)
        self.assertNotIn("idle_rate_percent", found)  # it was not measured


class Choices(unittest.TestCase):
    def test_are_the_least_medians(self):
        made = Study(grains=[1, 2, 3], workers=[2])
        for grain, time, idle in ((1, 2.0, 0.5), (2, 1.0, 0.3), (3, 1.1, 0.1)):
            made.samples += [Sample(2, grain, i, measures(uptime_s=time + 0.1 * i, idle_rate_percent=idle)) for i in range(3)]
        derive(made)
        self.assertAlmostEqual(made.noise(), 0.2 / 1.2, places=12)  # of 0.2/2.1, 0.2/1.1 and 0.2/1.2
        best = find_best(made, 2)
        self.assertEqual((best.grain, best.equally_good), (2, [3]))
        self.assertAlmostEqual(best.time, 1.1)
        self.assertEqual([(choice.metric.key, choice.grain) for choice in best.choices], [("idle_rate_percent", 3)])
        self.assertAlmostEqual(best.choices[0].slower, 1.2 / 1.1 - 1, places=12)
        self.assertIsNone(find_best(made, 1))


class Losses(unittest.TestCase):
    def words_of(self, *rates):
        return loss_as_words(Study(samples=[Sample(2, 1, i, measures(lost_rate_percent=rate)) for i, rate in enumerate(rates)]))

    def test_are_said_where_they_matter(self):
        self.assertEqual(self.words_of(0.02, 0.31, 0.12),
                         "workers lost 12.0 % of their time to other programs, in the median of all runs, and up to 31.0 %: "
                         "that is in the times and durations below")

    def test_are_not_said_on_a_quiet_machine_or_where_they_are_unknown(self):
        self.assertEqual(self.words_of(0.01, 0.04), "")
        self.assertEqual(self.words_of(math.nan), "")


if __name__ == "__main__":
    unittest.main()
