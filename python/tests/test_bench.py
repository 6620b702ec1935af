# SPDX-License-Identifier: BSL-1.0
"""bench/python/als_figures.py gives NumPy's answers, and says what it leaves out where a contender is not installed."""

import os

import programs
import pytest

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "python", "als_figures.py")


@pytest.mark.parametrize("figure", ["rules", "short", "shapes"])
def test_each_figure_without_other_packages(figure):
    status, out, err = programs.run(f"""
        import runpy, sys
        sys.modules["numba"] = sys.modules["implicit"] = None
        sys.argv = ["als_figures.py", "--quick", "--repeat", "1", "--only", {figure!r}]
        runpy.run_path({PROGRAM!r}, run_name="__main__")
    """, limit=110)
    assert (status, err) == (0, "")
    assert f"\n{figure}: " in out and "\ntree, quern" in out and "\nNumPy" in out
    assert "without Numba: " in out and ("without implicit: " in out) == (figure == "shapes")


def test_a_number_of_runs_that_is_refused():
    status, _, err = programs.run(f"""
        import runpy, sys
        sys.argv = ["als_figures.py", "--repeat", "0"]
        runpy.run_path({PROGRAM!r}, run_name="__main__")
    """)
    assert status == 2 and "--repeat is 0; accepted: a whole number from 1 on" in err
