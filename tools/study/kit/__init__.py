# SPDX-License-Identifier: BSL-1.0
"""What the studies and the benchmarks share: statistics, charts, pages, messages to the user. A module uses only those before
it: medians, correlation, sign_test; axis, svg, line_chart, markup; mistakes, interruption, processor."""
