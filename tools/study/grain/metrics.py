# SPDX-License-Identifier: BSL-1.0
"""The metrics of Grubel 2016, chapter 5, as a table, so that printing code needs no knowledge of single metrics, and the ranges
of granularity. Times are in seconds and rates are ratios. A metric is identified by its key, which ends with the unit in which
it is shown."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    """How a metric is shown."""
    unit: str
    factor: float
    digits: int

    def in_unit(self, value):
        """From seconds or a ratio."""
        return value * self.factor

    def bare(self, value):
        """Without the unit, for columns that have it in their head; "-" if unknown."""
        if not math.isfinite(value):
            return "-"
        shown = self.in_unit(value)
        digits = self.digits
        if self is SECONDS and abs(shown) < 1:
            digits += 1
        elif self is MICROSECONDS and abs(shown) >= 1000:
            digits = 0
        return f"{shown:.{digits}f}"

    def text(self, value):
        """ "1.84 s", "6.99 µs", "95.3 %", "500000" """
        bare = self.bare(value)
        return bare if bare == "-" else f"{bare} {self.unit}".rstrip()


SECONDS = Quantity("s", 1, 3)
MICROSECONDS = Quantity("µs", 1e6, 2)
PERCENT = Quantity("%", 100, 1)
COUNT = Quantity("", 1, 0)


@dataclass(frozen=True)
class Metric:
    key: str    # in CSV and JSON, with its unit
    title: str
    name: str   # the short name
    shown_as: Quantity
    counter: str = ""  # its source; empty: computed
    is_compared: bool = False  # whether it is correlated and may choose a grain


TABLE = (
    Metric("time_s", "execution time", "time", SECONDS),
    Metric("wall_s", "wall time of the process", "wall", SECONDS),
    Metric("uptime_s", "uptime of the runtime", "uptime", SECONDS, "/runtime/uptime"),
    Metric("processor_s", "processor time", "cpu", SECONDS),
    Metric("tasks", "tasks", "tasks", COUNT, "/threads/count/cumulative"),
    Metric("duration_us", "task duration", "task", MICROSECONDS, "/threads/time/average"),
    Metric("overhead_us", "overhead per task", "overhead", MICROSECONDS, "/threads/time/average-overhead"),
    Metric("idle_rate_percent", "idle-rate", "idle-rate", PERCENT, "/threads/idle-rate", True),
    Metric("starvation_rate_percent", "starvation-rate", "starvation", PERCENT, "/threads/starvation-rate"),
    Metric("overhead_rate_percent", "overhead-rate", "overhead-rate", PERCENT, "/threads/overhead-rate"),
    Metric("lost_rate_percent", "lost to other programs", "lost", PERCENT, "/threads/lost-rate"),
    Metric("cumulative_s", "cumulative task time", "cumulative", SECONDS, "/threads/time/cumulative", True),
    Metric("cumulative_overhead_s", "cumulative overhead", "cum. overhead", SECONDS, "/threads/time/cumulative-overhead"),
    Metric("overall_s", "overall task time", "overall", SECONDS, "/threads/time/overall", True),
    Metric("management_s", "task management per core (TM)", "TM", SECONDS, is_compared=True),
    Metric("wait_us", "wait time per task", "wait", MICROSECONDS),
    Metric("wait_s", "wait time per core (WT)", "WT", SECONDS, is_compared=True),
    Metric("management_and_wait_s", "TM + WT", "TM+WT", SECONDS, is_compared=True),
    Metric("pending_accesses", "pending-queue accesses", "p-access", COUNT, "/threads/count/pending-accesses", True),
    Metric("pending_misses", "pending-queue misses", "p-miss", COUNT, "/threads/count/pending-misses", True),
)
BY_KEY = {metric.key: metric for metric in TABLE}


@dataclass(frozen=True)
class Band:
    """A range of granularity, by the duration of a task on one worker."""
    name: str
    limits: str
    end_s: float


# Grubel 2016, table 7, by the duration of a task on one core: very fine below 30 us, fine to 100 us, medium to 500 us, coarse
# above. Very coarse is from table 2: more than 800 000 points. It begins with the 1 000 000 points that took 1.3 ms there
# (section 5.2.3); rounded.
BANDS = (
    Band("very fine", "below 30 µs", 30e-6),
    Band("fine", "30 to 100 µs", 100e-6),
    Band("medium", "100 to 500 µs", 500e-6),
    Band("coarse", "0.5 to 1 ms", 1e-3),
    Band("very coarse", "above 1 ms", math.inf),
)


def band_of(duration_s):
    """None for an unknown duration."""
    return next((band for band in BANDS if duration_s < band.end_s), None)
