# SPDX-License-Identifier: BSL-1.0
"""The conditions of a result besides the code: machine, compilers, commit, load, time stolen by other virtual machines."""

import os
import platform
import re
import subprocess

from kit import processor


def _output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def first(path, pattern, otherwise="unknown"):
    """What the group of a pattern matches first in a file, or `otherwise`."""
    try:
        with open(path, encoding="utf-8") as file:
            match = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        return otherwise
    return match.group(1).strip() if match else otherwise


def cpu_ticks():
    """(all, stolen) ticks of all CPUs since the machine started."""
    with open("/proc/stat", encoding="utf-8") as file:
        ticks = [int(t) for t in file.readline().split()[1:]]
    return sum(ticks[:8]), ticks[7]


def stolen_since(before):
    """Per cent of the CPU time since `before` that other virtual machines took."""
    total, stolen = cpu_ticks()
    return round(100.0 * (stolen - before[1]) / max(1, total - before[0]), 2)


def describe(build):
    """The head of a result of the programs in the build directory `build`."""
    cache = os.path.join(build, "CMakeCache.txt")
    compiler = first(cache, r"^CMAKE_CXX_COMPILER:[A-Z]+=(.+)$", "c++")
    clang = first(cache, r"^QUERN_CLANG:[A-Z]+=(.+)$", "clang++-19")
    source = first(cache, r"^CMAKE_HOME_DIRECTORY:[A-Z]+=(.+)$", ".")
    return {
        "commit": _output("git", "-C", source, "describe", "--always", "--dirty") or "unknown",
        "cpu": processor.processor_name() or "unknown",
        "cpus": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{first('/etc/os-release', chr(94) + 'PRETTY_NAME=.(.*).$')}, Linux {platform.release()}",
        "compiler": _output(compiler, "--version").split("\n")[0] or "unknown",
        "clang": _output(clang, "--version").split("\n")[0] or "none",
        "libraries": _output("dpkg-query", "-W", "-f", "${Package} ${Version}\\n", "libtbb12", "libgomp1",
                             "libomp5-19", "libstarpu-1.3-9").split("\n"),
        "load": os.getloadavg()[0],
    }
