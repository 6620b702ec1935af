# SPDX-License-Identifier: BSL-1.0
"""The name of this machine's processor, for the heads of results."""


def processor_name():
    """The first "model name" of /proc/cpuinfo; empty where there is none."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "")
    except OSError:
        return ""
