# SPDX-License-Identifier: BSL-1.0
"""Programs to look into, and `quern`, for the tests of both. Takes the path of quern and that of a program from the command line."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time

QUERN, PROGRAM = sys.argv[1:3]
del sys.argv[1:3]
HOME = tempfile.TemporaryDirectory()
ENVIRONMENT = {**{key: value for key, value in os.environ.items() if not key.startswith("QUERN_")},
               "XDG_RUNTIME_DIR": HOME.name,
               "QUERN_LIVE_FOLDER": HOME.name + "/live"}  # other programs of Quern may run on this machine
ANYWHERE = {"QUERN_LIVE_FOLDER": ""}
PATIENCE = 30  # seconds


def run(*arguments, **variables):
    return subprocess.run([QUERN, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False,
                          env={**ENVIRONMENT, **variables})


@contextlib.contextmanager
def program(folder=None, process=None, **variables):
    """A program that can be queried; `folder` is where its socket will be."""
    folder = folder or (variables["XDG_RUNTIME_DIR"] + "/quern" if "XDG_RUNTIME_DIR" in variables
                        else variables.get("QUERN_LIVE_FOLDER", HOME.name + "/live"))
    with subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={**ENVIRONMENT, **variables}, **(process or {})) as child:
        assert child.stdout.readline() == "ready\n"
        deadline = time.monotonic() + PATIENCE
        while variables.get("QUERN_LIVE") != "off" and not os.path.exists(f"{folder}/{child.pid}"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        try:
            yield child
        finally:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.close()
