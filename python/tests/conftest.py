# SPDX-License-Identifier: BSL-1.0
"""Every test has a time limit: one that hangs ends the run, with the stacks of all threads."""

import faulthandler
import os

import pytest

LIMIT = 120 * int(os.environ.get("QUERN_TEST_TIMEOUT_SCALE", "1"))


@pytest.fixture(autouse=True)
def time_limit():
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
