# SPDX-License-Identifier: BSL-1.0
"""Tasks with depend, and with detach: each update depends on the order, so a task that begins too early has another answer.
Functions as in tasks.py, whose table of statements they join."""

from tasks import SEQUENTIAL, add, clauses, limits, sequence


def accesses_of(w, width):
    """Returns the kind of access of some of the values: {number: kind}."""
    chosen = w.rng.sample(range(width), w.rng.randint(1, min(3, width)))
    is_commutative = w.chance(25)
    kinds = ("in", "mutexinoutset") if is_commutative else ("in", "in", "out", "inout")
    accesses = {k: w.rng.choice(kinds) for k in chosen}
    if all(kind == "in" for kind in accesses.values()) and w.chance(60):
        accesses[chosen[0]] = kinds[-1]
    return accesses


def depend_clauses(w, d, accesses):
    groups = {}
    for k, kind in accesses.items():
        groups.setdefault(kind, []).append(k)
    text = ""
    for kind, members in groups.items():
        consecutive = members == list(range(members[0], members[0] + len(members)))
        if kind == "in" and consecutive and len(members) > 1 and w.chance(70):
            it = w.name("q")
            text += f" depend(iterator(int {it} = {members[0]} : {members[-1] + 1}), in : {d}[{it}])"
        else:
            text += f" depend({kind} : {', '.join(f'{d}[{k}]' for k in members)})"
    return text


def graph(w, place, r):
    """Tasks with random accesses to a few values."""
    width, count = w.rng.randint(1, 5), w.rng.randint(3, 12)
    d, o = w.name("d"), w.name("o")
    begin, end = w.one_of(([], ["#pragma omp taskwait"]), (["#pragma omp taskgroup"], []))
    values = ", ".join(f"{r} + {k}" for k in range(width))
    w(f"u64 {d}[{width}] = {{{values}}};", f"u64 {o}[{count}] = {{}};", *begin)
    with w.block():
        for number in range(count):
            access_task(w, place, r, d, o, number, accesses_of(w, width))
        if w.chance(40):
            k = w.rng.randrange(width)
            w(f"#pragma omp taskwait depend(in : {d}[{k}])", f"{r} = mix({r}, {d}[{k}]);")
    w(*end, f"{r} = fold(fold({r}, {d}, {width}), {o}, {count});")


def access_task(w, place, r, d, o, number, accesses):
    s, y = w.name("s"), w.name("y")
    w(f"u64 {s} = mix({r}, {number});")
    text, reductions = clauses(w, place, [d, o], [s])
    w(f"#pragma omp task{text}{depend_clauses(w, d, accesses)}")
    with w.block():
        w(f"u64 {y} = work({s});")
        for k in (k for k, kind in accesses.items() if kind == "in"):
            w(f"{y} = mix({y}, {d}[{k}]);")
        inside = place.inside(12, reductions=reductions, offered=reductions, **limits(text))
        if w.chance(30):
            sequence(w, inside, y, 1)
        for k, kind in accesses.items():
            if kind == "inout":
                w(f"{d}[{k}] = mix({d}[{k}], {y});")
            elif kind == "out":
                w(f"{d}[{k}] = {y};")
            elif kind == "mutexinoutset":
                w(f"{d}[{k}] += {y};")
        w(f"{o}[{number}] = {y};")
        if w.chance(30):
            add(w, inside, y)


def wavefront(w, place, r):
    """A table of values of which each follows from two neighbours, or chains over a few values."""
    c, i, j, s = w.name("c"), w.name("i"), w.name("j"), w.name("s")
    side = w.rng.randint(2, 8)
    w(f"u64 {c}[{side}][{side}] = {{}};", f"u64 {s} = {r};")
    w(f"for (int {i} = 0; {i} < {side}; ++{i})")
    chain = w.chance(30)
    with w.block(f"for (int {j} = 0; {j} < {side}; ++{j})"):
        if chain:
            a, b = f"{c}[0][{j}]", f"{c}[0][({i} + {j} * {w.rng.randint(1, 3)}) % {side}]"
            depend = f"depend(inout : {a}) depend({w.one_of('in', 'inout')} : {b})"
            update = f"{a} = mix({a} + {i}, {b});"
        else:
            up, left = f"{c}[{i} ? {i} - 1 : 0][{j}]", f"{c}[{i}][{j} ? {j} - 1 : 0]"
            depend = f"depend(in : {up}, {left}) depend(out : {c}[{i}][{j}])"
            update = f"{c}[{i}][{j}] = mix(mix({up}, {left}), {s} + {i} * {side} + {j});"
        more = w.maybe(15, f"if (({i} + {j}) % 3 != 0)") or w.maybe(15, "untied")
        more += w.maybe(15, f"priority({i})")
        w(f"#pragma omp task shared({c}) firstprivate({i}, {j}, {s}){more} {depend}")
        with w.block():
            w(*([f"work({s} + {i} - {j});"] if w.chance(70) else []), update)
    w("#pragma omp taskwait", f"{r} = fold({r}, &{c}[0][0], {side * side});")


def objects(w, place, r):
    """The same dependence by an object of dependences and by a clause."""
    o, d, k, s, n = w.name("o"), w.name("d"), w.name("k"), w.name("s"), w.rng.randint(2, 9)
    w(f"u64 {d} = {r};", "#ifdef _OPENMP", f"omp_depend_t {o};", f"#pragma omp depobj({o}) depend(inout : {d})", "#endif")
    with w.block(f"for (int {k} = 0; {k} < {n}; ++{k})"):
        w(f"u64 {s} = mix({r}, {k});")
        for depend in (f"depobj : {o}", f"inout : {d}"):
            w(f"#pragma omp task shared({d}) firstprivate({s}, {k}) depend({depend})", f"{d} = mix({d}, work({s} + {k}));")
    w("#pragma omp taskwait", "#ifdef _OPENMP", f"#pragma omp depobj({o}) destroy", "#endif", f"{r} = mix({r}, {d});")


def events(w, place, r):
    """Tasks that end when another task, or their creator, has fulfilled their event; what depends on them comes after it. In a
    team of one, and where tasks run when they are made, nothing may fulfill an event later, so the values are computed without tasks there."""
    by, n, b, k, s = w.one_of("child", "creator", "sibling", "itself"), w.rng.randint(1, 6), w.name("b"), w.name("k"), w.name("s")
    w(f"u64 {b}[{n}] = {{}};")
    with w.block("if (omp_get_num_threads() > 1 && !omp_in_final())"):
        _events(w, r, by, n, b)
    w("else")
    with w.block(f"for (int {k} = 0; {k} < {n}; ++{k})"):
        w(f"u64 {s} = mix({r}, {k});", f"{b}[{k}] = mix({s}, work({s}));")
    w(f"{r} = fold({r}, {b}, {n});")


def _events(w, r, by, n, b):
    e, a, s, k = (w.name(kind) for kind in "eask")
    w(f"u64 {a}[{n}] = {{}};")
    with w.block(f"for (int {k} = 0; {k} < {n}; ++{k})"):
        w(f"u64 {s} = mix({r}, {k});", f"omp_event_handle_t {e} = {{}};")
        fulfil = [f"{a}[{k}] = work({s});", f"omp_fulfill_event({e});"]
        in_task = [f"#pragma omp task firstprivate({e}, {s}, {k}) shared({a})", "{", *(f"    {line}" for line in fulfil), "}"]
        w(f"#pragma omp task detach({e}) firstprivate({s}, {k}) shared({a}) depend(out : {a}[{k}])")
        with w.block():
            w(f"work({s} + 1);", *{"child": in_task, "itself": fulfil}.get(by, []))
        w(f"#pragma omp task shared({a}, {b}) firstprivate({s}, {k}) depend(in : {a}[{k}])", f"{b}[{k}] = mix({s}, {a}[{k}]);")
        if w.chance(40):
            w(f"work({s});")
        w(*{"sibling": in_task, "creator": fulfil}.get(by, []))
    w("#pragma omp taskwait")


SEQUENTIAL += [
    (4, 400, 3, graph),
    (2, 400, 4, wavefront),
    (1, 400, 4, objects),
    (2, 40, 4, events),
]
