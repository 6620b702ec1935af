# SPDX-License-Identifier: BSL-1.0
"""Hang reports of Python programs."""

import textwrap
import threading

import programs
import pytest

# Programs that wait for ever, and the functions that wait, with their lines.
HANGS = {
    "two futures": ("""\
        import os, threading, time, quern
        answers, ready = {}, threading.Event()

        def left():
            ready.wait()
            return answers["right"].result()

        def right():
            ready.wait()
            return answers["left"].result()

        quern.start(workers=2)
        answers["left"], answers["right"] = quern.spawn(left), quern.spawn(right)
        while not (answers["left"].running() and answers["right"].running()):
            time.sleep(0.01)
        ready.set()
        answers["left"].result()
        """, [("left", 4), ("right", 8)]),
    "a future that is never set": ("""\
        import time, quern
        never = quern.future()

        def consumer():
            return never.result()

        waits = quern.spawn(consumer)
        while not waits.running():
            time.sleep(0.01)
        waits.result()
        """, [("consumer", 4)]),
}


@pytest.mark.parametrize("name", HANGS)
def test_a_hang_report_names_lines_of_python(name, tmp_path):
    source, waiting = HANGS[name]
    script = tmp_path / "stuck.py"
    script.write_text(textwrap.dedent(source))
    program = programs.start(f"import runpy; runpy.run_path({str(script)!r})", QUERN_HANG_REPORT="1")
    limit = threading.Timer(90, program.kill)
    limit.start()
    try:
        lines = []
        while not lines or (lines[-1] and "hang-report=off" not in lines[-1]):
            lines.append(program.stderr.readline())
    finally:
        limit.cancel()
        program.kill()
        program.communicate()
    report = "".join(lines)
    assert "nothing has run for 1 s" in report, report
    assert f"{len(waiting)} task{'s are' if len(waiting) > 1 else ' is'} suspended" in report, report
    for function, line in waiting:
        assert f"made in {function} (Python) at {script}:{line}\n" in report, report
