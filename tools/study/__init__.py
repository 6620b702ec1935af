# SPDX-License-Identifier: BSL-1.0
"""Subcommands of `quern` that run a program many times and compare the runs. `quern` executes this folder with python3; see
__main__.py. The benchmarks share `kit` with it."""
