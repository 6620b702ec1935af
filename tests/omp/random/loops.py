# SPDX-License-Identifier: BSL-1.0
"""Worksharing loops of a region: plain, ordered, with dependences of iterations, scan, cancelled. See regions.py for how their
results are shared."""

import re

from regions import TEAM, after_construct, barrier
from tasks import sequence
from writer import loop_head, nested_loops


def loop(w, region):
    heads, index, count = nested_loops(w, w.one_of(10, 60) if not region.repetition else 10)
    a, inner = region.array(w, count), w.name("r")
    nowait = w.chance(40)
    x = region.reduction(w) if not nowait and w.chance(35) else None
    is_of_tasks = x is not None and w.chance(30)
    last = region.variable(w) if count and not region.repetition and w.chance(25) else ""
    is_triangle = len(heads) == 2 and "<=" in heads[1]  # gcc has no schedule for it
    text = "" if is_triangle else w.schedule()
    if last:
        text = re.sub(r"(non)?(monotonic: )?(dynamic|runtime)", "DYNAMIC_WITH_LAST", text)
    text += (x.clause(modifier="task, " if is_of_tasks else "") if x else "")
    text += (f" lastprivate({last})" if last else "") + (f" collapse({len(heads)})" if len(heads) > 1 else "")
    w(f"#pragma omp for{text}{' nowait' if nowait else ''}", *heads[:-1])
    with w.block(heads[-1]):
        w(f"u64 {inner} = mix({region.seed()}, {index});")
        taking = (x,) if x else ()
        sequence(w, region.inside(count, reductions=taking, offered=taking if is_of_tasks else ()), inner, 2)
        w(f"{a}[{index}] = {inner};", *([x.add(inner)] if x else []), *([f"{last} = {inner};"] if last else []))
    after_construct(w, region, nowait, f"{a}[{max(count - 1, 0)}]")


def static_pair(w, region):
    """Two loops of the same static schedule: the second may read what the first has written, without a barrier."""
    count, chunk = w.one_of(1, 7, 64), w.one_of("", "", ", 1", ", 3")
    a, b, i = region.array(w, count), region.array(w, count), w.name("i")
    w(f"#pragma omp for schedule(static{chunk}) nowait", f"for (int {i} = 0; {i} < {count}; ++{i})",
      f"{a}[{i}] = work({region.seed()} + {i});")
    w(f"#pragma omp for schedule(static{chunk}){w.maybe(50, 'nowait')}", f"for (int {i} = 0; {i} < {count}; ++{i})",
      f"{b}[{i}] = mix({a}[{i}], {i});")


def ordered_loop(w, region):
    if region.repetition:
        return loop(w, region)
    count = w.one_of(0, 3, 12, 40)
    head, index = loop_head(w, count)
    h, inner, a = region.variable(w, "h"), w.name("r"), region.array(w, count)
    nowait = w.chance(30)
    w(f"#pragma omp for ordered{w.schedule(is_ordered=True)}{' nowait' if nowait else ''}")
    with w.block(head):
        w(f"u64 {inner} = mix({region.seed()}, {index});")
        sequence(w, region.inside(count), inner, 1)
        w(*([f"if ({index} % 3 != 1)"] if w.chance(40) else []), "{", "#pragma omp ordered",
          f"    {h} = mix({h}, {inner});", "}", f"{a}[{index}] = {inner};")
    return after_construct(w, region, nowait, h)


def doacross(w, region):
    """Iterations that wait for earlier ones. gcc 12 waits for others where the variable is an unsigned int."""
    inner, nowait = w.name("r"), w.chance(30)
    schedule = w.schedule(is_ordered=True)
    end = "#pragma omp ordered depend(source)"
    if w.chance(50):
        count, distance, i = w.one_of(1, 5, 30), w.rng.randint(1, 3), w.name("i")
        a, kind, step = region.array(w, count + distance), w.one_of("int", "long", "u64"), w.one_of(1, 1, 2)
        w(f"#pragma omp for ordered(1){schedule}{' nowait' if nowait else ''}")
        with w.block(f"for ({kind} {i} = {distance * step}; {i} < {(count + distance) * step}; {i} += {step})"):
            at, before = f"{a}[{i} / {step}]", f"{a}[{i} / {step} - {distance}]"
            w(f"u64 {inner} = mix({region.seed()}, {i});")
            sequence(w, region.inside(count), inner, 1)
            w(f"#pragma omp ordered depend(sink : {i} - {distance * step})", f"{at} = mix({before}, {inner});", end)
            w(*([f"work({inner});"] if w.chance(40) else []))
        return after_construct(w, region, nowait, f"{a}[{count + distance - 1}]")
    rows, columns, i, j = w.rng.randint(1, 7), w.rng.randint(1, 7), w.name("i"), w.name("j")
    a, wide = region.array(w, (rows + 1) * (columns + 1)), columns + 1
    w(f"#pragma omp for ordered(2){w.maybe(30, 'collapse(2)')}{schedule}{' nowait' if nowait else ''}")
    w(f"for (int {i} = 1; {i} <= {rows}; ++{i})")
    with w.block(f"for ({w.one_of('int', 'long')} {j} = 1; {j} <= {columns}; ++{j})"):
        w(f"u64 {inner} = work({region.seed()} + {i} * 10 + {j});")
        w(f"#pragma omp ordered depend(sink : {i} - 1, {j}) depend(sink : {i}, {j} - 1)")
        w(f"{a}[{i} * {wide} + {j}] = mix({inner}, mix({a}[({i} - 1) * {wide} + {j}], {a}[{i} * {wide} + {j} - 1]));", end)
    return after_construct(w, region, nowait, f"{a}[{(rows + 1) * wide - 1}]")


def scan(w, region):
    """Sums of all iterations before, with or without the present one. The code of clang 19 for a scan inside of a region reads
    memory that nothing has set, so its programs have the loop on one member."""
    if region.repetition:
        return loop(w, region)
    count, x = w.one_of(1, 9, 50), region.variable(w, "x")
    head, index = loop_head(w, count)
    a = region.array(w, count)
    change, use = ["{", f"    {x} += work({region.seed()} + {index});", "}"], ["{", f"    {a}[{index}] = {x};", "}"]
    kind, first, second = w.one_of(("inclusive", change, use), ("exclusive", use, change))
    w("#ifndef __clang__", f"#pragma omp for reduction(inscan, + : {x})", head, "{", *first, f"#pragma omp scan {kind}({x})",
      *second, "}", "#else", "#pragma omp single", head, "{", *first, *second, "}", "#endif")
    return after_construct(w, region, False, x)


def cancelled(w, region):
    """A loop or sections that end early with OMP_CANCELLATION. Only what is sure either way counts."""
    if region.repetition:
        return barrier(w, region)
    found, v, i, n = region.variable(w, "f"), w.name("v"), w.name("i"), w.one_of(3, 40)
    point = ["#pragma omp cancellation point for"] if w.chance(60) else []
    if w.chance(70):
        w(f"#pragma omp for{w.schedule()}")
        with w.block(f"for (int {i} = 0; {i} < {n}; ++{i})"):
            w(*point, f"u64 {v} = work({region.p} + {i});")
            with w.block(f"if ({i} == {w.rng.randrange(n)} || ({v} & 7) == 0)"):
                w("#pragma omp atomic write", f"{found} = 1;", "#pragma omp cancel for")
        return after_construct(w, region, False, found)
    w("#pragma omp sections")
    with w.block():
        for _ in range(w.rng.randint(1, 4)):
            w("#pragma omp section", "{", *([] if not point else ["#pragma omp cancellation point sections"]),
              f"    work({region.p});", "#pragma omp atomic write", f"    {found} = 1;", "#pragma omp cancel sections", "}")
    return after_construct(w, region, False, found)


TEAM += [
    # weight, largest count, largest level
    (9, 9e9, 99, loop),
    (1, 9e9, 99, static_pair),
    (2, 9e9, 99, ordered_loop),
    (3, 9e9, 99, doacross),
    (1, 9e9, 99, scan),
    (1, 9e9, 99, cancelled),
]
