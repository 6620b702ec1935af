# SPDX-License-Identifier: BSL-1.0
"""Parallel regions. In a region all members run the same code, and each has a variable p of its own with the same value as the
others'; worksharing constructs inside (loops.py and below) share their results in arrays declared before the region, written
once each. They are folded into r behind the region, and some into p behind a barrier, where all members must see them."""

import dataclasses

from tasks import SEQUENTIAL, add, limits, sequence
from writer import new_reduction

DEEPEST = 3


class Region:
    """The region that is being written."""

    def __init__(self, place, members):
        self.place = dataclasses.replace(place, depth=place.depth + 1, level=place.level + 1, reductions=(), offered=())
        self.members = members
        self.p = ""
        self.declarations = []
        self.results = []  # expressions, read behind the region
        self.repetition = None  # (variable, how often) of a loop around constructs

    def inside(self, times, **changes):
        repeated = self.repetition[1] if self.repetition else 1
        return self.place.inside(times * repeated, **changes)

    def array(self, w, count):
        """Declares an array for the results of one construct; returns it and the expression of where this repetition's begin."""
        name, count = w.name("a"), max(count, 1)
        total = count * (self.repetition[1] if self.repetition else 1)
        self.declarations.append(f"u64 {name}[{total}] = {{}};")
        self.results.append(f"fold(0, {name}, {total})")
        return f"({name} + {self.repetition[0]} * {count})" if self.repetition else name

    def variable(self, w, kind="l"):
        """Declares a variable that one construct sets; only outside of repetitions."""
        name = w.name(kind)
        self.declarations.append(f"u64 {name} = 0;")
        self.results.append(name)
        return name

    def reduction(self, w):
        x = new_reduction(w)
        self.declarations.append(x.declaration())
        self.results.append(x.value())
        return x

    def seed(self):
        """An expression that differs from repetition to repetition, the same for each member."""
        return f"({self.p} + {self.repetition[0]})" if self.repetition else self.p


def parallel(w, place, r):
    """A region of any constructs."""
    most = (8, 4, 3)[place.depth]
    region = Region(place, most)
    s = w.name("s")
    region.p = w.name("p")
    uses_private = w.chance(20)
    x = new_reduction(w) if w.chance(35) else None
    is_of_tasks = x is not None and w.chance(40)
    with w.block():
        with w.apart() as lines:
            w.indent += 1
            w(f"u64 {region.p} = {s};")
            if uses_private:
                w(f"{region.p} = mix({region.p}, g_private);")
            if x:
                _add_once(w, region, x, is_of_tasks)
            team_statements(w, region, w.rng.randint(1, 4), TEAM)
            w.indent -= 1
        w(f"u64 {s} = {r};", *region.declarations, *([x.declaration()] if x else []))
        text = w.team_size(most) + w.maybe(8, f"if ({w.one_of('0', '1', f'({s} & 1) == 0')})")
        text += w.maybe(30, f"firstprivate({s})") + w.maybe(10, f"proc_bind({w.one_of('close', 'spread', 'primary')})")
        text += x.clause(modifier="task, " if is_of_tasks else "") if x else ""
        text += " copyin(g_private)" if uses_private else ""
        w(*([f"g_private = {s} ^ 5;"] if uses_private else []), f"#pragma omp parallel{text}", "{", *lines, "}")
        w(*(f"{r} = mix({r}, {result});" for result in region.results), *([f"{r} = mix({r}, {x.value()});"] if x else []))


def _add_once(w, region, x, is_of_tasks):
    """The members add a part each to a reduction of the region."""
    j, v, n = w.name("j"), w.name("v"), w.one_of(1, 5, 30)
    with w.block(f"for (int {j} = omp_get_thread_num(); {j} < {n}; {j} += omp_get_num_threads())"):
        w(f"u64 {v} = work({region.p} + {j});")
        if is_of_tasks:
            w(f"#pragma omp task firstprivate({v}){x.clause('in_reduction')}")
        w(x.add(v))


def team_statements(w, region, count, table):
    for _ in range(count):
        w.pick(table, region.place)(w, region)


def after_construct(w, region, nowait, value):
    """Behind a barrier, the value must be there for each member."""
    if not nowait and w.chance(50) or nowait and w.chance(20):
        w(*(["#pragma omp barrier"] if nowait else []), f"{region.p} = mix({region.p}, {value});")


def single(w, region):
    a, inner = region.array(w, 1), w.name("r")
    copied = w.name("c") if w.chance(30) else ""
    nowait = not copied and w.chance(50)
    w(*([f"u64 {copied} = 0;"] if copied else []))
    w(f"#pragma omp single{f' copyprivate({copied})' if copied else ' nowait' if nowait else ''}")
    with w.block():
        w(f"u64 {inner} = {region.seed()};")
        sequence(w, region.inside(1), inner)
        w(f"{a}[0] = {inner};", *([f"{copied} = {inner} + 1;"] if copied else []))
    if copied:
        w(f"{region.p} = mix({region.p}, {copied});")
    after_construct(w, region, nowait, f"{a}[0]")


def masked(w, region):
    a, inner = region.array(w, 1), w.name("r")
    w(f"#pragma omp {w.one_of('master', 'masked', 'masked filter(omp_get_num_threads() - 1)')}")
    with w.block():
        w(f"u64 {inner} = {region.seed()};")
        sequence(w, region.inside(1), inner)
        w(f"{a}[0] = {inner};")
    after_construct(w, region, True, f"{a}[0]")


def sections(w, region):
    count = w.rng.randint(1, 5)
    a = region.array(w, count)
    nowait = w.chance(40)
    x = region.reduction(w) if not nowait and w.chance(30) else None
    is_of_tasks = x is not None and w.chance(40)
    last = region.variable(w) if not region.repetition and w.chance(30) else ""
    text = x.clause(modifier="task, " if is_of_tasks else "") if x else ""
    text += f" lastprivate({last})" if last else ""
    w(f"#pragma omp sections{text}{' nowait' if nowait else ''}")
    with w.block():
        for k in range(count):
            inner = w.name("r")
            w(*(["#pragma omp section"] if k or w.chance(70) else []))
            with w.block():
                w(f"u64 {inner} = mix({region.seed()}, {k});")
                taking = (x,) if x else ()
                sequence(w, region.inside(1, reductions=taking, offered=taking if is_of_tasks else ()), inner, 2)
                w(f"{a}[{k}] = {inner};", *([f"{last} = {inner};"] if last else []))
    after_construct(w, region, nowait, f"{a}[{count - 1}]")


def barrier(w, region):
    w("#pragma omp barrier")


def members_tasks(w, region):
    """Each member makes tasks, or calls, for some of the numbers; a barrier or a wait ends them."""
    n, j, s, inner = w.one_of(1, 8, 40), w.name("j"), w.name("s"), w.name("r")
    a = region.array(w, n)
    by_tasks = w.chance(75)
    with w.block(f"for (int {j} = omp_get_thread_num(); {j} < {n}; {j} += omp_get_num_threads())"):
        w(f"u64 {s} = mix({region.seed()}, {j});")
        names = ", ".join([a.split(" ")[0].strip("("), *(name for name, _ in region.place.sinks)])
        repeats = f", {region.repetition[0]}" if region.repetition else ""
        more = ""
        if by_tasks:
            more = w.one_of("", "", "", " untied", f" final({s} & 1)", f" if ({s} & 1)", f" final({s} & 1) if ({s} & 2)")
            w(f"#pragma omp task firstprivate({s}, {j}{repeats}) shared({names}){more}")
        with w.block():
            w(f"u64 {inner} = {s};")
            sequence(w, region.inside(n, **limits(more)), inner, 2)
            w(f"{a}[{j}] = {inner};")
    if by_tasks:
        w(*w.one_of(["#pragma omp taskwait"], ["#pragma omp barrier"], []))
    after_construct(w, region, True, f"{a}[{n - 1}]")


def each_member(w, region):
    """Every member runs the same statements on data of its own."""
    inner = w.name("r")
    with w.block():
        w(f"u64 {inner} = {region.seed()};")
        sequence(w, region.inside(region.members, sinks=(), shared=False), inner, 2)
        w(f"{region.p} = mix({region.p}, {inner});")


def count_members(w, region):
    """All members have come to a barrier, each once."""
    if region.repetition:
        return barrier(w, region)
    count, seen = w.name("n"), w.name("v")
    region.declarations.append(f"int {count} = 0;")
    w("#pragma omp atomic", f"{count} += 1 + omp_get_thread_num();", "#pragma omp barrier", f"int {seen} = 0;")
    w("#pragma omp atomic read", f"{seen} = {count};")
    size = "omp_get_num_threads()"
    return w(f"{region.p} = mix({region.p}, {seen} == {size} * ({size} + 1) / 2);")


def repetition(w, region):
    """A loop around a few constructs: more of them than a runtime keeps at a time."""
    if region.repetition:
        return barrier(w, region)
    q, times = w.name("q"), w.one_of(3, 9, 20)
    region.repetition = (q, times)
    with w.block(f"for (int {q} = 0; {q} < {times}; ++{q})"):
        team_statements(w, region, w.rng.randint(1, 3), TEAM)
    region.repetition = None
    return None


def combined(w, place, r):
    """Constructs in one directive with their region. clang loses the first value of a reduction of a taskloop there."""
    x, inner, s, i, a = new_reduction(w), w.name("r"), w.name("s"), w.name("i"), w.name("a")
    n = w.one_of(0, 1, 12, 50)
    kind = w.one_of("for", "for", "for simd", "MASKED taskloop", "master taskloop", "loop")
    is_taskloop = "taskloop" in kind
    w(f"u64 {s} = {r};", f"u64 {a}[{n} + 1] = {{}};" if is_taskloop else x.declaration())
    text = w.team_size((8, 4, 3)[place.depth]) + ("" if is_taskloop else x.clause())
    text += w.schedule() if kind.startswith("for") else ""
    if is_taskloop:  # clang copies them where there is a task around the region
        text += f" shared({', '.join([a, *(name for name, _ in place.sinks)])})"
    w(f"#pragma omp parallel {kind}{text}")
    with w.block(f"for (int {i} = 0; {i} < {n}; ++{i})"):
        w(f"u64 {inner} = work(mix({s}, {i}));")
        if kind == "for" or is_taskloop:
            inside = place.inside(n, depth=place.depth + 1, reductions=() if is_taskloop else (x,), offered=())
            (sequence if w.chance(50) else add)(w, inside, inner)
        w(f"{a}[{i}] = {inner};" if is_taskloop else x.add(inner))
    w(f"{r} = mix({r}, {f'fold(0, {a}, {n})' if is_taskloop else x.value()});")


def deeper(statement):
    def checked(w, place, r):
        return statement(w, place, r) if place.depth < DEEPEST else add(w, place, r)
    return checked


SEQUENTIAL += [(5, 12, 3, deeper(parallel)), (3, 16, 3, deeper(combined))]
TEAM = [
    # weight, largest count, largest level
    (4, 9e9, 99, single),
    (2, 9e9, 99, masked),
    (3, 9e9, 99, sections),
    (1, 9e9, 99, barrier),
    (3, 9e9, 99, members_tasks),
    (3, 9e9, 99, each_member),
    (1, 9e9, 99, count_members),
    (2, 9e9, 99, repetition),
]
