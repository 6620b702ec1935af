# SPDX-License-Identifier: BSL-1.0
"""Phrases that the table and the page share."""

import math

from .metrics import PERCENT

FEW_LOST = 0.05  # guessed: what a machine without other programs may take
QUIET = 0.1  # guessed: good grains differ by about as much


def count_of_workers(workers):
    """ "2 workers" """
    return f"{workers} worker{'' if workers == 1 else 's'}"


def count_of_runs(runs):
    """ "3 runs" """
    return f"{runs} run{'' if runs == 1 else 's'}"


def noise_as_words(study):
    """A sentence on how much equal runs differ; empty for one run of each."""
    noise = study.noise()
    if not math.isfinite(noise):
        return ""
    warning = "" if noise < QUIET else ": the machine is not quiet, and smaller differences mean nothing"
    return f"runs of the same kind are {PERCENT.text(noise)} apart, in the median{warning}"


def loss_as_words(study):
    """A sentence on the time without a processor; empty where little was lost or nothing is known."""
    lost = study.lost()
    if not lost.count or lost.most < FEW_LOST:
        return ""
    return (f"workers lost {PERCENT.text(lost.median)} of their time to other programs, in the median of all runs, and up to "
            f"{PERCENT.text(lost.most)}: that is in the times and durations below")
