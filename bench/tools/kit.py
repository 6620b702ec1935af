# SPDX-License-Identifier: BSL-1.0
"""Imports from tools/study: statistics, charts, the frame of a page, mistakes and Ctrl-C.

    from kit import mistakes, svg
"""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "tools"))
from study.kit import axis, interruption, markup, medians, mistakes, processor, sign_test, svg  # noqa: E402, F401
