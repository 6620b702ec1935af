#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes the random OpenMP program of a seed to the standard output: C++ whose answers are those of the same program compiled
without -fopenmp, whatever the number of threads and the schedule. The grammar: writer.py (places, loops, reductions), tasks.py
and dependences.py (what one thread runs), regions.py and loops.py (what all members of a region run).

Usage: generate.py SEED [BODIES]
"""

import os
import random
import sys

import dependences  # its statements join the tables
import loops  # likewise
import regions
from tasks import sequence
from writer import Place, Writer, new_reduction

PRELUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prelude.h")
PARTS = (dependences, loops)


def league(w, place, r):
    """A league of teams, which share a loop."""
    x, s, i = new_reduction(w), w.name("s"), w.name("i")
    v = w.name("v")
    w(f"u64 {s} = {r};", x.declaration())
    kind = w.one_of("distribute parallel for", "distribute", "distribute parallel for simd")
    w(f"#pragma omp teams {kind} num_teams({w.rng.randint(1, 4)}){x.clause()}")
    with w.block(f"for (int {i} = 0; {i} < {w.one_of(0, 1, 30)}; ++{i})"):
        w(f"u64 {v} = work({s} + {i});", x.add(v))
    w(f"{r} = mix({r}, {x.value()});")


def body(w, number, is_last):
    w.indent = 0
    with w.block(f"static u64 body_{number}(u64 r)"):
        for _ in range(w.rng.randint(1, 3)):
            kind = w.rng.randrange(10)
            if kind == 0:
                w("#pragma omp taskgroup")
                with w.block():
                    sequence(w, Place(), "r")
            elif kind == 1 and is_last:  # libomp makes smaller regions behind a league
                league(w, Place(), "r")
            elif kind == 2:
                regions.combined(w, Place(), "r")
            else:
                regions.parallel(w, Place(), "r")
        w("return r;")
    w("")


def program_of(seed, bodies):
    rng = random.Random(seed)
    w = Writer(rng)
    w("// SPDX-License-Identifier: BSL-1.0", f"// Written by generate.py {seed} {bodies}.", f'#include "{PRELUDE}"', "")
    for number in range(bodies):
        body(w, number, number == bodies - 1)
    names = ", ".join(f"body_{number}" for number in range(bodies))
    w.indent = 0
    w("int main(int argc, char** argv) {", f"    u64 (*const bodies[])(u64) = {{{names}}};",
      f"    return run_bodies(bodies, {bodies}, argc, argv);", "}")
    first = w.lines[:4]
    return "\n".join([line.strip() for line in first] + w.lines[4:]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(program_of(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 6))
