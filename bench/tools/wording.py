# SPDX-License-Identifier: BSL-1.0
"""Figures as text, the same in the Markdown and on the HTML page."""

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}  # the units of time
NONE = "–"


def number(value):
    """Three significant digits, without an exponent where possible."""
    if value is None:
        return NONE
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) < 1e-4:
        return f"{value:.2e}"
    digits = 2 if abs(value) < 10 else 1
    if abs(value) < 1:
        return f"{value:.3g}"
    return f"{value:.{digits}f}"


def quantity(value, unit="s"):
    """With its unit; a time in a suitable unit."""
    if value is None:
        return NONE
    if unit not in SECONDS:
        return f"{number(value)} {unit}".strip()
    seconds = value * SECONDS[unit]
    for name, one in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= one:
            return f"{number(seconds / one)} {name}"
    return f"{number(seconds / 1e-9)} ns"


def percent(value):
    """A share, e.g. the spread."""
    return NONE if value is None else f"{100 * value:.0f} %" if value >= 0.01 or value == 0 else f"{100 * value:.1f} %"


def ratio(value):
    return NONE if value is None else f"{number(value)}×"


def mib(value):
    """Memory, to a hundredth."""
    return NONE if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def workers(count):
    return f"{count} worker" if count == 1 else f"{count} workers"


def policy(run):
    """The column heads of a run."""
    return run.tag or run.data.get("policy", "default")


def head(runs):
    """[(what, text)]: what a reader must know before the figures; facts common to all runs appear once."""
    rows = []
    for name, key in (("Commit", "commit"), ("Processor", "cpu"), ("CPUs", "cpus"), ("Memory, GiB", "memory_gib"),
                      ("System", "system"), ("Compiler", "compiler"), ("Compiler of libomp's programs", "clang"),
                      ("Libraries", "libraries")):
        seen = []
        for run in runs:
            value = run.data.get("machine", {}).get(key)
            text = ", ".join(v for v in value if v) if isinstance(value, list) else str(value or "unknown")
            if text and text not in seen:
                seen.append(text)
        rows.append((name, "; ".join(seen)))
    for run in runs:
        rows.append((f"Run {policy(run)}" if len(runs) > 1 else "Run", _run(run.data)))
    return rows


def _run(data):
    groups = data["groups"]
    steal = [g["steal_percent"] for g in groups if g.get("steal_percent") is not None]
    loads = [g["load"] for g in groups if g.get("load") is not None]
    parts = [f"begun {data.get('begun', 'unknown')}", f"policy {data.get('policy', 'default')}",
             "full sizes" if data.get("full") else "short sizes",
             f"{data.get('repetitions', '?')} repetitions after one that does not count",
             f"load {number(data.get('machine', {}).get('load'))} before it"]
    if loads:
        parts.append(f"{number(min(loads))} to {number(max(loads))} after its groups")
    if steal:
        parts.append(f"stolen by other machines {number(sum(steal) / len(steal))} % of the time, at most {number(max(steal))} %")
    if not data.get("complete", True):
        parts.append("stopped before its end: figures are missing")
    return ", ".join(parts)
