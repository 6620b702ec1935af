# SPDX-License-Identifier: BSL-1.0
"""The measurements: a sample for each run with the metrics of metrics.py, values derived from several samples, and medians. An
unknown value is UNKNOWN, never zero."""

import math
from collections import defaultdict
from dataclasses import dataclass, field

from ..kit.medians import UNKNOWN, summarize


def measures(**known):
    """Values by the key of their metric; missing ones are UNKNOWN."""
    return defaultdict(lambda: UNKNOWN, known)


@dataclass
class Sample:
    """One run."""
    workers: int
    grain: int
    repetition: int = 0
    values: dict = field(default_factory=measures)


@dataclass
class Study:
    command: str = ""  # with the braces
    name: str = ""     # the text in the braces
    machine: str = ""
    cpus: int = 1      # that Quern would use
    repetitions: int = 1
    is_complete: bool = False
    time_from: str = "uptime of the runtime"  # the source of the execution time
    grains: list = field(default_factory=list)
    workers: list = field(default_factory=list)
    samples: list = field(default_factory=list)
    missing: list = field(default_factory=list)  # counters without a value, with the reason

    def of(self, workers, grain=None):
        """The samples of that number of workers, and of one grain."""
        return [s for s in self.samples if s.workers == workers and grain in (None, s.grain)]

    def knows(self, workers, key):
        """Whether a sample of that number of workers has that metric."""
        return any(math.isfinite(s.values[key]) for s in self.of(workers))

    def summary_of(self, workers, grain, key):
        return summarize([s.values[key] for s in self.of(workers, grain)])

    def noise(self):
        """How much the times of equal runs differ: the median spread. UNKNOWN for one run of each kind."""
        times = [self.summary_of(workers, grain, "time_s") for workers in self.workers for grain in self.grains]
        return summarize([time.spread for time in times if time.count > 1]).median

    def lost(self):
        """The part of their time that workers lost to other programs, a quota or the hypervisor: a Summary over all runs."""
        return summarize([sample.values["lost_rate_percent"] for sample in self.samples])

    def least_disturbed_duration(self, grain):
        """The median duration of a task of that grain on one worker; without such runs, on the fewest workers."""
        durations = (self.summary_of(workers, grain, "duration_us") for workers in self.workers)
        return next((found.median for found in durations if found.count), UNKNOWN)


def derive(study):
    """Computes metrics from other values of the same sample (Grubel 2016, section 5.1.2), and wait times from the samples of
    one worker."""
    for sample in study.samples:
        v = sample.values
        if math.isnan(v["time_s"]):
            v["time_s"] = v["uptime_s"] if math.isfinite(v["uptime_s"]) else v["wall_s"]
        if math.isnan(v["cumulative_overhead_s"]):
            v["cumulative_overhead_s"] = v["overhead_us"] * v["tasks"]
        v["management_s"] = v["cumulative_overhead_s"] / sample.workers
    alone = {grain: study.summary_of(1, grain, "duration_us").median for grain in study.grains}
    for sample in study.samples:
        if sample.workers > 1:  # on one worker, tasks do not wait for others by definition
            v = sample.values
            v["wait_us"] = v["duration_us"] - alone.get(sample.grain, UNKNOWN)
            v["wait_s"] = v["wait_us"] * v["tasks"] / sample.workers
            v["management_and_wait_s"] = v["management_s"] + v["wait_s"]
