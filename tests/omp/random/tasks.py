# SPDX-License-Identifier: BSL-1.0
"""Statements that one thread runs: in tasks, iterations, sections and serial code. Each function takes the writer, the place
and the name of a local variable r, whose value it changes in a way that depends on the order. What a statement leaves behind
without waiting adds to shared variables by operations that commute, so every schedule has the answer of the serial program."""

from writer import nested_loops, new_reduction

GLOBAL_UPDATES = (
    ("#pragma omp atomic", "g_sum += {v};"),
    ("#pragma omp atomic update seq_cst", "g_bits ^= {v};"),
    ("#pragma omp atomic", "g_product = g_product * ({v} | 1);"),
    ("#pragma omp atomic relaxed", "g_double += (double)({v} & 0xffff);"),
    ("#pragma omp atomic", "g_unsigned += (unsigned){v};"),
    ("#pragma omp atomic", "g_byte ^= (unsigned char){v};"),
    ("#pragma omp atomic compare", "if (g_largest < {v}) { g_largest = {v}; }"),
)
LOCKED_UPDATES = (
    ("#pragma omp critical", "g_critical[0] += {v};"),
    ("#pragma omp critical(first)", "g_critical[1] += {v};"),
    ("#pragma omp critical(first)", "{", "    g_critical[1] ^= 0;", "#pragma omp critical(second)", "    g_critical[2] += {v};", "}"),
    ("#pragma omp critical(second)", "g_critical[2] += work({v}) & 0xffff;"),
    ("omp_set_lock(&g_lock[0]);", "g_locked[0] += {v};", "omp_unset_lock(&g_lock[0]);"),
    ("while (!omp_test_lock(&g_lock[1])) {", "}", "g_locked[1] ^= {v};", "omp_unset_lock(&g_lock[1]);"),
    ("omp_set_nest_lock(&g_nest_lock);", "g_nested += {v};", "omp_set_nest_lock(&g_nest_lock);", "g_nested += {v} >> 7;",
     "omp_unset_nest_lock(&g_nest_lock);", "g_nested += 1;", "omp_unset_nest_lock(&g_nest_lock);"),
)


def compute(w, _, r):
    w(f"{r} = mix({r}, work({r} ^ {w.constant()}));")


def add(w, place, r):
    """Adds a value to something that tasks share."""
    ways = [("local", sink) for sink in place.sinks] + [("reduction", x) for x in place.reductions]
    if place.shared:
        ways += [("global", row) for row in w.rng.sample(GLOBAL_UPDATES + (("ticket",),), 2)]
        ways += [("global", w.rng.choice(LOCKED_UPDATES))]
    if not ways:
        return compute(w, place, r)
    kind, what = w.rng.choice(ways)
    v = w.name("v")
    w(f"u64 {v} = work(mix({r}, {w.constant()}));")
    if kind == "reduction":
        return w(what.add(v))
    if kind == "local":
        return w("#pragma omp atomic", f"{what[0]} {what[1]}= {v};")
    if what == ("ticket",):
        return w("#pragma omp atomic capture", f"{{ {v} = g_captured; g_captured += 1; }}", "#pragma omp atomic",
                 f"g_tickets += {v} * {v};")
    return w(*(line.replace("{v}", v) for line in what))


def clauses(w, place, shared, first, is_loop=False):
    """The clauses of a task, and the reductions in which it takes part."""
    reductions = tuple(x for x in place.offered if w.chance(70))
    text = f" firstprivate({', '.join(first)})"
    names = list(dict.fromkeys([*shared, *(name for name, _ in place.sinks)]))
    text += f" shared({', '.join(names)})" if names else ""
    text += "".join(x.clause("in_reduction") for x in reductions)
    if not reductions and w.chance(15):
        return text + " untied", reductions  # with `if` or `final` clang's code is wrong, with libomp too
    text += w.maybe(15, f"if ({w.one_of('0', '1', f'({first[0]} & 1) == 0')})")
    text += w.maybe(10, f"final({w.one_of('1', f'({first[0]} & 2) == 0')})")
    text += "" if is_loop else w.maybe(15, "mergeable")
    text += w.maybe(15, f"priority({w.rng.randrange(100)})")
    return text, reductions


def limits(text):
    """An untied task makes no tasks and waits for none: what clang compiles of one that does fails with libomp too."""
    return {"level": 90} if " untied" in text else {}


def task(w, place, r, result="", more="", times=1):
    """A task with statements in it; its value is stored in `result`, or added to something shared."""
    s, inner = w.name("s"), w.name("r")
    w(f"u64 {s} = mix({r}, {w.constant()});")
    text, reductions = clauses(w, place, [result] if result else [], [s])
    w(f"#pragma omp task{text}{more}")
    with w.block():
        w(f"u64 {inner} = {s};")
        inside = place.inside(times, reductions=reductions, offered=reductions, **limits(text))
        sequence(w, inside, inner)
        if result:
            w(f"{result} = {inner};")
        else:
            add(w, inside, inner)


def waited_tasks(w, place, r):
    """Children in a row or in a loop, while their parent continues, and a wait."""
    begin, end = w.one_of(([], ["#pragma omp taskwait"]), (["#pragma omp taskgroup"], []))
    if w.chance(50):
        t, k, s, inner = (w.name(kind) for kind in "tksr")
        n = w.one_of(1, 3, 9, 40) if place.count < 500 else 3
        w(f"u64 {t}[{n}] = {{}};", *begin)
        with w.block(f"for (int {k} = 0; {k} < {n}; ++{k})"):
            w(f"u64 {s} = mix({r}, {k});")
            text, reductions = clauses(w, place, [t], [s, k])
            w(f"#pragma omp task{text}")
            with w.block():
                w(f"u64 {inner} = {s};")
                sequence(w, place.inside(n, reductions=reductions, offered=reductions, **limits(text)), inner, 2)
                w(f"{t}[{k}] = {inner};")
        return w(*end, f"{r} = fold({r}, {t}, {n});")
    names = [w.name("t") for _ in range(w.rng.randint(1, 3))]
    w(f"u64 {' = 0, '.join(names)} = 0;", *begin)
    with w.block():
        for name in names:
            task(w, place, r, name)
            if w.chance(40):
                compute(w, place, r)
    return w(*end, f"{r} = mix({r}, {' ^ 3 * '.join(names)});")


def floating_task(w, place, r):
    """A task that only the end of a group or a region waits for."""
    if not place.shared and not place.sinks:
        return waited_tasks(w, place, r)
    return held_task(w, place, r) if w.chance(30) else task(w, place, r)


def held_task(w, place, r):
    """A task with an object that it copies and destroys."""
    h, v, a = w.name("h"), w.name("v"), w.name("a")
    text, reductions = clauses(w, place, [], [h, a])
    text = text.replace(f"({h} & ", f"({h}.value & ")
    with w.block():
        w(f"held {h}({r});", f"u64 {a}[9] = {{{r}, 1, 2, 3, {r}}};", f"#pragma omp task{text}")
        with w.block():
            w(f"u64 {v} = fold({h}.sum(), {a}, 9);")
            add(w, place.inside(reductions=reductions), v)


def group(w, place, r):
    """Tasks of a group, and those that they leave behind, add to one variable."""
    n = w.one_of(1, 4, 10)
    if w.chance(60) or place.depth == 0:  # libgomp's task reductions fail outside of regions
        name, operator = w.name("g"), w.one_of("+", "^")
        w(f"u64 {name} = {r};", "#pragma omp taskgroup")
        inside, value = place.inside(n, sinks=place.sinks + ((name, operator),)), name
    else:
        x = new_reduction(w)
        w(x.declaration(), f"#pragma omp taskgroup{x.clause('task_reduction')}")
        inside, value = place.inside(n, offered=place.offered + (x,)), x.value()
    with w.block():
        inner, k = w.name("r"), w.name("k")
        with w.block(f"for (int {k} = 0; {k} < {n}; ++{k})"):
            w(f"u64 {inner} = mix({r}, {k});")
            for _ in range(w.rng.randint(1, 2)):
                w.pick(((4, 9e9, 9, task), (2, 9e9, 9, held_task), (1, 9e9, 9, add)), inside)(w, inside, inner)
    w(f"{r} = mix({r}, {value});")


def task_loop(w, place, r):
    heads, index, count = nested_loops(w, 14, is_rectangular=True)
    s, inner, a = w.name("s"), w.name("r"), w.name("a")
    last = w.name("l") if count and w.chance(30) else ""
    x = new_reduction(w) if w.chance(30) and place.depth else None
    waits = x is None and not last and w.chance(25)
    w(f"u64 {s} = mix({r}, {w.constant()});", f"u64 {a}[{max(count, 1)}] = {{}};")
    w(*([f"u64 {last} = 0;"] if last else []), *([x.declaration()] if x else []))
    text, reductions = clauses(w, place, [a], [s], is_loop=True)
    if x:
        text = text.replace(" untied", "") + x.clause()
    text += f" lastprivate({last})" if last else ""
    grain = w.one_of("", f" grainsize({w.rng.randint(1, 9)})", f" num_tasks({w.rng.randint(1, 20)})",
                     f" grainsize(strict: {w.rng.randint(1, 5)})")
    text += grain if count or "grainsize" not in grain else ""  # clang 19: 2^32 iterations of an unsigned variable
    text += f" collapse({len(heads)})" if len(heads) > 1 else ""
    w(f"#pragma omp taskloop{text}{' nogroup' if waits else ''}", *heads[:-1])
    with w.block(heads[-1]):
        w(f"u64 {inner} = mix({s}, {index});")
        taking = reductions + ((x,) if x else ())
        inside = place.inside(count, reductions=taking, offered=taking, **limits(text))
        sequence(w, inside, inner, 2)
        w(*([f"{last} = {inner};"] if last else []), *([x.add(inner)] if x else []), f"{a}[{index}] = {inner};")
    w(*(["#pragma omp taskwait"] if waits else []), f"{r} = fold({r}, {a}, {count});")
    w(*([f"{r} = mix({r}, {last});"] if last else []), *([f"{r} = mix({r}, {x.value()});"] if x else []))


def tree(w, place, r):
    kind, deepest = w.one_of(("taskwait", 7), ("taskgroup", 4), ("depend", 5), ("group", 7))
    w(f"{r} = mix({r}, tree_{kind}({r}, {w.rng.randint(1, deepest if place.count < 40 else 3)}));")


def cancelled_group(w, place, r):
    """Some task finds what is looked for, with or without OMP_CANCELLATION; nothing else counts."""
    f, k, s, v, n = w.name("f"), w.name("k"), w.name("s"), w.name("v"), w.one_of(2, 10, 50)
    w(f"int {f} = 0;", f"u64 {s} = {r};", "#pragma omp taskgroup")
    with w.block(f"for (int {k} = 0; {k} < {n}; ++{k})"):
        w(f"#pragma omp task firstprivate({k}, {s}) shared({f}){w.maybe(15, f'if ({k} & 1)')}")
        with w.block():
            w(f"u64 {v} = work(mix({s}, {k}));", *(["#pragma omp cancellation point taskgroup"] if w.chance(60) else []))
            with w.block(f"if ({k} == {w.rng.randrange(n)} || ({v} & 15) == 0)"):
                w("#pragma omp atomic write", f"{f} = 1;", "#pragma omp cancel taskgroup")
            if w.chance(30):
                w("#pragma omp task", "work(3);")
    w(f"{r} = mix({r}, {f});")


SEQUENTIAL = [
    # weight, largest count, largest level
    (4, 9e9, 99, compute),
    (6, 9e9, 99, add),
    (5, 900, 3, waited_tasks),
    (4, 3000, 3, floating_task),
    (4, 400, 3, group),
    (4, 400, 3, task_loop),
    (2, 200, 4, tree),
    (1, 200, 4, cancelled_group),
]


def sequence(w, place, r, most=3):
    for _ in range(w.rng.randint(1, max(1, most - place.level // 2))):
        w.pick(SEQUENTIAL, place)(w, place, r)
