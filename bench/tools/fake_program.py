# SPDX-License-Identifier: BSL-1.0
"""Fake benchmark programs that measure nothing and fail on request, for tests of the drivers. A fake takes the command line of
bench/harness and behaves as the variant says.

    path = write(folder, "bench-quern", ["fib right", "fib hangs"])
"""

import os
import sys

SCRIPT = """#!{python}
import json, os, signal, subprocess, sys, time
OFFERED, VALUE = {offered!r}, {value!r}

def note(word):
    if "FAKE_LOG" in os.environ:
        with open(os.environ["FAKE_LOG"], "a") as file:
            print(word, file=file)

def repetition(turn, variant):
    value = VALUE * (1 + turn % 3 / 100)
    if variant == "wrong":
        sys.exit("a line before\\nwrong answer: fib is 3 and not 4")
    if variant == "refused":
        print("quern: --net needs the right to do so: run it as root", file=sys.stderr)
        sys.exit("another line")
    if variant == "silent":
        sys.exit(3)
    if variant == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if variant == "hangs":
        stays_open = os.open(os.environ["FAKE_FIFO"], os.O_WRONLY) if "FAKE_FIFO" in os.environ else 0
        subprocess.run(["sleep", "1000"], close_fds=False, pass_fds=[stays_open])
    if variant == "stops":
        os.kill(os.getppid(), signal.SIGUSR1)
        signal.pause()
    if variant == "rubbish":
        print("hello", flush=True)
    elif variant == "valueless":
        print("{{}}", flush=True)
    else:
        print(json.dumps({{"value": value, "runs": 1, "wall": 0.5, "cpu": 3.0, "growth_kib": 512, "pid": os.getpid()}}), flush=True)

if sys.argv[1:] == ["--list"]:
    print("\\n".join(OFFERED))
    sys.exit()
problem, variant = sys.argv[1:3]
assert f"{{problem}} {{variant}}" in OFFERED and sys.argv[3::2] == ["--workers", "--size", "--serve"], sys.argv
if "LD_PRELOAD" in os.environ:
    note("preloaded " + os.environ["LD_PRELOAD"])
for turn, line in enumerate(sys.stdin):
    note(os.environ.get("FAKE_WORD", variant))
    repetition(turn, variant)
"""


def write(folder, name, offered, value=1.0):
    """An executable file; `offered` are the lines of its --list, `value` is about the value that it reports."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCRIPT.format(python=sys.executable, offered=offered, value=value))
    os.chmod(path, 0o755)
    return path
