# SPDX-License-Identifier: BSL-1.0
"""Reads a report page as a browser would: elements that close in order, labels with targets, data that is JSON, and packed
slices that agree with the page's numbers. Usage: read_page.py PAGE TASKS"""

import base64
import html.parser
import json
import sys

VOID = {"meta", "br", "hr", "img", "input", "link"}
REFERENCES = ("src", "srcset", "href", "data", "action", "poster")


class Reader(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.data, self.references, self.ids, self.named, self.faults, self._open = "", [], [], [], [], []
        self._in_data = False
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            self.references += [value] if name in REFERENCES else []
            self.ids += [value] if name == "id" else []
            self.named += value.split() if name in ("aria-labelledby", "aria-describedby") else []
        self._in_data = ("id", "data") in attributes
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        self._in_data = False
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> in line {self.getpos()[0]}")

    def handle_data(self, data):
        self.data += data if self._in_data else ""


def numbers(text):
    """The numbers of variable length that packed_bytes.hpp writes."""
    value = shift = 0
    for byte in base64.b64decode(text, validate=True):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
    assert shift == 0, "half a number"


def moved(at, code):
    return at + (code // 2 if code % 2 == 0 else -(code + 1) // 2)


def check_idle(lane, run, slices):
    """Idle times are in order, do not overlap slices, and leave no long gap."""
    found, at, fields = [], 0, numbers(lane["idle_times"])
    for code in fields:
        begin = moved(at, code)
        at = begin + next(fields)
        found.append((begin, at))
    if run["kept"]["kept"] == run["kept"]["total"]:
        at = 0
        for begin, end in sorted(found + slices) + [(lane["until"], lane["until"])]:
            assert 0 <= begin - at <= 100_000, (at, begin)
            at = end


def check_lane(lane, run):
    """Returns the number of slices; they must not overlap and must be of known sites."""
    at, slices = 0, []
    fields = numbers(lane["slices"])
    for after in fields:
        length, code = next(fields), next(fields)
        wait = next(fields) if code % 2 == 1 else 0
        site, task = code // 2, next(fields)
        assert wait <= len(run["waits"]), wait
        begin = moved(at, after)
        assert begin >= at and begin + length <= run["duration"], (begin, at, length, run["duration"])
        assert site < len(run["sites"]) and task is not None, site
        at = begin + length
        slices.append((begin, at))
    check_idle(lane, run, slices)
    assert [len(base64.b64decode(level)) // 3 for level in lane["levels"]] == run["level_sizes"]
    return len(slices)


def busy(level):
    """The share of tasks in the cells of a level."""
    shares = base64.b64decode(level)[1::3]
    return sum(shares) / 255 / len(shares)


def check_levels(run):
    """All levels agree with one another and with the totals: a cell is exact to 1/255."""
    for lane in [lane for lane in run["lanes"] if lane["dropped"] == 0]:
        shares = [busy(level) for level in lane["levels"]]
        whole = lane["running"] / run["duration"]
        assert all(abs(share - whole) < 0.02 for share in shares), (shares, whole)


def check_concurrency(run):
    """At most as many tasks as workers at a time, and on average as many as the totals say."""
    if run["lanes"] and not any(lane["dropped"] for lane in run["lanes"]):
        steps = [sum(values) for values in zip(*run["concurrency"])]
        assert max(steps) <= len(run["lanes"]) + 0.01, max(steps)
        whole = sum(lane["running"] for lane in run["lanes"]) / run["duration"]
        assert abs(sum(steps) / len(steps) - whole) < 0.01 * len(run["lanes"]), (sum(steps) / len(steps), whole)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        read = Reader(file.read())
    assert not read.faults, read.faults
    assert all(r.startswith("#") for r in read.references), read.references
    assert len(set(read.ids)) == len(read.ids) and set(read.named) <= set(read.ids), read.named
    run = json.loads(read.data, parse_constant=lambda word: sys.exit(f"{word} is no JSON"))
    tasks = int(sys.argv[2])
    kept = sum(check_lane(lane, run) for lane in run["lanes"])
    assert kept == run["kept"]["kept"] and run["kept"]["total"] == tasks, (kept, run["kept"])
    assert kept == tasks or run["kept"]["shortest"] > 0
    check_levels(run)
    check_concurrency(run)
    print(f"{len(run['lanes'])} lanes, {kept} of {tasks} slices, levels {run['level_sizes']}")


if __name__ == "__main__":
    main()
