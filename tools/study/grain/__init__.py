# SPDX-License-Identifier: BSL-1.0
"""`quern grain`: finds the best size of tasks. Runs a program with several grains and shows execution time beside the metrics
that could replace it while a program runs: the study of Grubel 2016, chapters 5 and 7. docs/grain.md explains the results."""
