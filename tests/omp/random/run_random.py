#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs random OpenMP programs on Quern's library and on the compilers' own, and compares their answers with the serial ones.

Each seed is a program of a few bodies (generate.py). It is compiled once without -fopenmp, whose answers count, and by each
compiler with -fopenmp; then it runs each way with each number of threads.

examples:
  run_random.py --seed 1 --count 20 --build build/dev
  run_random.py --seconds 600 --threads 2,8 --ways preload,replace
  run_random.py --seed 17 --count 1 --compilers clang --ways own --keep     only libomp: checks the program itself
"""

import argparse
import difflib
import os
import shutil
import sys
import tempfile
import time

import runs

WAYS = ("own", "preload", "replace")
# Runs of one body that may name it, each of ten times as many rounds as in the program.
TRIES = 3


def nearest(word, accepted):
    near = difflib.get_close_matches(word, accepted, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def names(option, accepted):
    """A reader of a list of names; says what is accepted and what may be meant."""
    def read(text):
        chosen = text.split(",")
        for word in chosen:
            if word not in accepted:
                raise argparse.ArgumentTypeError(f"{option} has '{word}'; accepted: {', '.join(accepted)}, separated by commas"
                                                 + nearest(word, accepted))
        return chosen
    return read


def number(option, least, most):
    def read(text):
        if not text.isdecimal() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{option} is '{text}'; accepted: a number of {least} to {most}")
        return int(text)
    return read


def numbers(option, least, most):
    def read(text):
        return [number(option, least, most)(word) for word in text.split(",")]
    return read


def options():
    summary, _, rest = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--seed", type=number("--seed", 0, 10**9), default=1, help="the first seed (default: 1)")
    parser.add_argument("--count", type=number("--count", 1, 10**6), help="how many seeds (default: 10)")
    parser.add_argument("--seconds", type=number("--seconds", 1, 10**6), help="as many seeds as begin within this time")
    parser.add_argument("--bodies", type=number("--bodies", 1, 100), default=4, help="bodies of each program (default: 4)")
    parser.add_argument("--compilers", type=names("--compilers", tuple(runs.COMPILERS)), default=list(runs.COMPILERS),
                        help="gcc,clang (the default)")
    parser.add_argument("--ways", type=names("--ways", WAYS), default=list(WAYS), help="own,preload,replace (the default)")
    parser.add_argument("--threads", type=numbers("--threads", 1, 256), default=[1, 2, 8], help="default: 1,2,8")
    parser.add_argument("--limit", type=number("--limit", 1, 3600), default=60, help="seconds for each run (default: 60)")
    parser.add_argument("--build", default="build/dev", help="the build with lib/libquern_omp.so (default: build/dev)")
    parser.add_argument("--work", help="a folder for the programs (default: one that is made, and removed if all is right)")
    parser.add_argument("--keep", action="store_true", help="keep the programs that are right too")
    chosen, unknown = parser.parse_known_args()
    if unknown:
        accepted = [name for action in parser._actions for name in action.option_strings if name.startswith("--")]
        parser.error(f"'{unknown[0]}' is no option; accepted: {', '.join(accepted)}" + nearest(unknown[0].split("=")[0], accepted))
    if chosen.count and chosen.seconds:
        parser.error("--count and --seconds exclude each other; accepted: one of them")
    chosen.build = os.path.abspath(chosen.build)
    library = os.path.join(chosen.build, "lib/libquern_omp.so")
    if set(chosen.ways) != {"own"} and not os.path.exists(library):
        parser.error(f"--build is '{chosen.build}', which has no lib/libquern_omp.so; accepted: a folder of a build with the "
                     "target quern_omp")
    return chosen


class Session:
    def __init__(self, chosen, folder):
        self.chosen, self.folder = chosen, folder
        self.passed = self.failed = 0
        self.slowest = (0.0, "")

    def one(self, run, answers):
        chosen = self.chosen
        result = runs.execute(run, chosen.build, self.folder, answers, chosen.limit)
        self.slowest = max(self.slowest, (result.seconds, str(run)))
        if not result.fault:
            self.passed += 1
            return True
        self.failed += 1
        print(f"FAILED {run}: {result.fault}\n{result.output}"
              f"  to repeat: {runs.command_of(run, chosen.build, self.folder, None)}")
        self.name_body(run, answers, result)
        if run.way != "own":
            self.compare_with_own(run, answers)
        sys.stdout.flush()
        return False

    def name_body(self, run, answers, result):
        """Runs each body without the others, that of the fault first."""
        order = sorted(range(len(answers)), key=lambda body: body != result.body)
        for body in order[:1] * TRIES + order[1:]:
            single = runs.execute(run, self.chosen.build, self.folder, answers, self.chosen.limit, body, runs.ROUNDS * 10)
            if single.fault:
                first = single.fault.split("\n")[0]
                print(f"  body {body} fails without the others: {first}\n"
                      f"  to repeat: {runs.command_of(run, self.chosen.build, self.folder, body)}")
                return
        print("  no body has failed without the others")

    def compare_with_own(self, run, answers):
        own = runs.Run(run.seed, run.compiler, "own", run.threads)
        result = runs.execute(own, self.chosen.build, self.folder, answers, self.chosen.limit)
        verdict = result.fault.split("\n")[0] or f"right, in {result.seconds:.1f} s"
        print(f"  on the compiler's own library: {verdict}")

    def seed(self, seed):
        chosen = self.chosen
        start = time.monotonic()
        try:
            answers = runs.build_program(self.folder, seed, chosen.bodies, chosen.compilers)
        except (runs.BuildError, OSError) as error:
            self.failed += 1
            print(f"FAILED seed {seed}: {error}", flush=True)
            return
        built = time.monotonic() - start
        right = True
        for compiler in chosen.compilers:
            for way in chosen.ways:
                for threads in chosen.threads:
                    right &= self.one(runs.Run(seed, compiler, way, threads), answers)
        print(f"seed {seed}: {'right' if right else 'WRONG'}, built in {built:.1f} s, run in "
              f"{time.monotonic() - start - built:.1f} s", flush=True)
        if right and not chosen.keep:
            for file in runs.files_of(self.folder, seed):
                os.remove(file)


def main():
    chosen = options()
    folder = os.path.abspath(chosen.work) if chosen.work else tempfile.mkdtemp(prefix="random_openmp.")
    os.makedirs(folder, exist_ok=True)
    session = Session(chosen, folder)
    start = time.monotonic()
    seed = chosen.seed
    try:
        while time.monotonic() - start < chosen.seconds if chosen.seconds else seed < chosen.seed + (chosen.count or 10):
            session.seed(seed)
            seed += 1
    except KeyboardInterrupt:
        print(f"interrupted in seed {seed}; programs: {folder}; {session.passed} passed, {session.failed} failed until then")
        return 130
    print(f"seeds {chosen.seed} to {seed - 1}, {chosen.bodies} bodies each; the slowest run: {session.slowest[0]:.1f} s, "
          f"{session.slowest[1]}")
    if session.failed or chosen.keep:
        print(f"programs: {folder}")
    elif not chosen.work:
        shutil.rmtree(folder)
    print(f"{session.passed} passed, {session.failed} failed")
    return 1 if session.failed else 0


if __name__ == "__main__":
    sys.exit(main())
