# SPDX-License-Identifier: BSL-1.0
"""Runs Python programs in processes of their own, for what ends or disturbs a process."""

import os
import subprocess
import sys
import textwrap

PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.abspath(__import__("quern").__file__)))


def start(source, **environment):
    env = dict(os.environ, PYTHONPATH=PACKAGE_PARENT, **environment)
    return subprocess.Popen([sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(source)], env=env,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(source, limit=60, **environment):
    """Gives (exit status, stdout, stderr). A program that takes longer than `limit` seconds is killed, and the test fails."""
    program = start(source, **environment)
    try:
        out, err = program.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        program.kill()
        out, err = program.communicate()
        raise AssertionError(f"the program has not ended after {limit} s\n{out}\n{err}") from None
    return program.returncode, out, err
