#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Compiles the OpenMP programs of this folder by gcc, gfortran and clang, and runs each binary on its own OpenMP library and on
Quern's: preload puts libquern_omp.so before the compiler's library, replace has it found instead of that.

Each program compares its answer with a serial one and prints a line. A run passes if the program ends with status 0 and prints
what it prints on its own library with one thread.
"""

import argparse
import concurrent.futures
import dataclasses
import difflib
import itertools
import os
import shlex
import shutil
import subprocess
import sys
import threading

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(FOLDER)))
COMPILE_LIMIT_S = 300
WAYS = ("own", "preload", "replace")
LEVELS = ("O0", "O1", "O2", "O3", "Os")
# Without -fPIC means at a fixed address: the default of both compilers here is code that can be moved.
PIC = {"on": ["-fPIC"], "off": ["-fno-pic", "-no-pie"]}
COMPILERS = {
    "gcc": {".c": ["gcc", "-std=c11"], ".cpp": ["g++", "-std=c++20"], ".f90": ["gfortran"]},
    "clang": {".c": ["clang-19", "-std=c11"], ".cpp": ["clang++-19", "-std=c++20"]},
}
# What single programs need.
VARIABLES = {"cancelled_search": {"OMP_CANCELLATION": "true"}}
# On a busy machine the members of the compilers' libraries spin for seconds before they sleep; libomp says on stderr that a
# team is smaller than asked for.
OWN_VARIABLES = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "0", "KMP_WARNINGS": "0"}
EXAMPLES = """
examples:
  run_matrix.py                                            everything
  run_matrix.py --levels O3 --pic off --threads 2          a sample
  run_matrix.py --compilers clang --ways replace scan bfs  two programs of clang where libomp is replaced
"""


@dataclasses.dataclass(frozen=True)
class Build:
    """One binary."""

    program: str  # the name of its source, with the ending
    compiler: str
    level: str
    pic: str

    @property
    def name(self):
        return os.path.splitext(self.program)[0]

    def __str__(self):
        return f"{self.name}, {self.compiler} -{self.level}, pic {self.pic}"

    def binary(self, work):
        return os.path.join(work, f"{self.name}_{self.compiler}_{self.level}_pic_{self.pic}")

    def compile_command(self, work):
        command = COMPILERS[self.compiler][os.path.splitext(self.program)[1]]
        modules = ["-J", self.binary(work) + ".modules"] if command[0] == "gfortran" else []
        return [*command, f"-{self.level}", *PIC[self.pic], "-fopenmp", "-Wall", "-Wextra", *modules,
                os.path.join(FOLDER, self.program), "-o", self.binary(work), "-lm"]


def fail(message):
    print(f"run_matrix.py: {message}", file=sys.stderr)
    sys.exit(2)


def nearest(value, accepted):
    close = difflib.get_close_matches(value, accepted, 1, 0.3)
    return f"; nearest: {close[0]}" if close else ""


def chosen(option, text, accepted):
    values = [value.strip() for value in text.split(",")]
    for value in values:
        if value not in accepted:
            fail(f"{option} = '{value}' is not accepted; accepted: {', '.join(accepted)}, separated by commas"
                 f"{nearest(value, accepted)}")
    return list(dict.fromkeys(values))


def number(option, text, most):
    if not text.strip().isdecimal() or not 1 <= int(text) <= most:
        fail(f"{option} = '{text}' is not accepted; accepted: whole numbers of 1 to {most}")
    return int(text)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        words = [word for word in message.split() if word.startswith("--")]
        known = [option for action in self._actions for option in action.option_strings]
        fail(message + (nearest(words[0].split("=")[0], known) if "unrecognized" in message and words else ""))


def options():
    parser = Parser(description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter,
                    allow_abbrev=False)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="names of sources here, without ending; default: all")
    parser.add_argument("--levels", default="O0,O3", help=f"of {', '.join(LEVELS)}; default: %(default)s")
    parser.add_argument("--pic", default="on,off", help="with -fPIC, or at a fixed address; default: %(default)s")
    parser.add_argument("--compilers", default="gcc,clang",
                        help="gcc stands for g++ and gfortran too, clang is clang 19; default: %(default)s")
    parser.add_argument("--ways", default=",".join(WAYS), help="default: %(default)s")
    parser.add_argument("--threads", default="1,2,8", help="numbers of 1 to 4095; default: %(default)s")
    parser.add_argument("--jobs", default="2", help="compilations and runs at once; default: %(default)s")
    parser.add_argument("--limit", default="60", help="seconds that a run may take; default: %(default)s")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "dev"), help="with Quern's library; default: build/dev")
    parser.add_argument("--work", help="for the binaries; default: tests/omp/matrix in the build")
    words = parser.parse_args()
    words.levels = chosen("--levels", words.levels, LEVELS)
    words.pic = chosen("--pic", words.pic, list(PIC))
    words.compilers = chosen("--compilers", words.compilers, list(COMPILERS))
    words.ways = chosen("--ways", words.ways, WAYS)
    words.threads = list(dict.fromkeys(number("--threads", text, 4095) for text in words.threads.split(",")))
    words.jobs = number("--jobs", words.jobs, 1024)
    words.limit = number("--limit", words.limit, 86400)
    words.build = os.path.abspath(words.build)
    words.work = os.path.abspath(words.work or os.path.join(words.build, "tests", "omp", "matrix"))
    sources = {os.path.splitext(name)[0]: name for name in sorted(os.listdir(FOLDER)) if name.endswith((".c", ".cpp", ".f90"))}
    for name in words.programs:
        if name not in sources:
            fail(f"'{name}' is no program; accepted: {', '.join(sources)}{nearest(name, list(sources))}")
    words.programs = [sources[name] for name in words.programs or sources]
    return words


class Matrix:
    def __init__(self, words):
        self.words = words
        self.library = os.path.join(words.build, "lib", "libquern_omp.so")
        self.replacements = os.path.join(words.build, "lib", "quern", "omp")
        self.lock = threading.Lock()
        self.passed = {}  # (program, compiler) -> number of runs
        self.failures = []  # (program, compiler, what, command, why)

    def check_library(self):
        if set(self.words.ways) != {"own"} and not os.path.exists(self.library):
            fail(f"--build = '{self.words.build}' has no lib/libquern_omp.so; build it: scripts/build-preset dev")

    def builds(self):
        found = []
        for compiler in self.words.compilers:
            for program in self.words.programs:
                command = COMPILERS[compiler].get(os.path.splitext(program)[1])
                if command is None:
                    continue
                if shutil.which(command[0]) is None:
                    fail(f"{command[0]} is not installed, which {program} needs; --compilers chooses among gcc and clang")
                found += [Build(program, compiler, level, pic) for level in self.words.levels for pic in self.words.pic]
        return found

    def environment(self, build, way, threads):
        """The variables of a run: (what is added, all)."""
        added = {"OMP_NUM_THREADS": str(threads), **VARIABLES.get(build.name, {})}
        if way == "own":
            added.update(OWN_VARIABLES)
        elif way == "preload":
            added["LD_PRELOAD"] = self.library
        else:
            added["LD_LIBRARY_PATH"] = self.replacements
        foreign = ("OMP_", "GOMP_", "KMP_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        return added, {**kept, **added}

    def fail(self, build, what, command, why):
        with self.lock:
            self.failures.append((build.name, build.compiler, f"{build}{what}", command, why))
            print(f"FAILED {build}{what}: {why}\n  {command}", flush=True)

    def compile(self, build):
        """Compiles if the binary is older than its source or comes from another command."""
        command, binary = build.compile_command(self.words.work), build.binary(self.words.work)
        note, source = binary + ".command", os.path.join(FOLDER, build.program)
        if os.path.exists(binary) and os.path.exists(note) and os.path.getmtime(binary) > os.path.getmtime(source):
            with open(note, encoding="utf-8") as file:
                if file.read() == shlex.join(command):
                    return True
        if "-J" in command:
            os.makedirs(binary + ".modules", exist_ok=True)
        result, text = execute(command, None, COMPILE_LIMIT_S)
        if result != 0 or "warning:" in text.lower():
            self.fail(build, ", compilation", shlex.join(command), text.strip() or f"ended with {result}")
            return False
        with open(note, "w", encoding="utf-8") as file:
            file.write(shlex.join(command))
        return True

    def loads(self, build, way):
        """Whether the dynamic linker takes the library that the way stands for."""
        _, variables = self.environment(build, way, 1)
        _, text = execute([build.binary(self.words.work)], {**variables, "LD_TRACE_LOADED_OBJECTS": "1"}, self.words.limit)
        own = "libomp.so.5" if build.compiler == "clang" else "libgomp.so.1"
        expected = {"own": f"{own} => /", "preload": self.library, "replace": f"{own} => {self.replacements}/"}[way]
        if expected in text and (way != "own" or self.replacements not in text):
            return True
        self.fail(build, f", {way}", shlex.join(["ldd", build.binary(self.words.work)]),
                  f"does not load '{expected}' but\n{text}")
        return False

    def run(self, build):
        """Compiles one binary and runs it in all ways."""
        if not self.compile(build):
            return
        binary = build.binary(self.words.work)
        result, reference = execute([binary], self.environment(build, "own", 1)[1], self.words.limit)
        reference = reference if result == 0 else None  # then the run of its own library with one thread fails, if asked for
        passed = 0
        for way in self.words.ways:
            if not self.loads(build, way):
                continue
            for threads in self.words.threads:
                added, variables = self.environment(build, way, threads)
                result, text = execute([binary], variables, self.words.limit)
                if result == 0 and text == (reference or text):
                    passed += 1
                    continue
                why = f"no end after {self.words.limit} s" if result is None else f"ended with {result}"
                if result == 0:
                    why = f"printed another line than its own library with one thread: {reference!r}"
                command = shlex.join(["env", *(f"{name}={value}" for name, value in added.items()), binary])
                self.fail(build, f", {way}, {threads} threads", command, f"{why}; output: {text.strip()!r}")
        with self.lock:
            key = (build.name, build.compiler)
            self.passed[key] = self.passed.get(key, 0) + passed
            print(f"{build}: {passed} of {len(self.words.ways) * len(self.words.threads)} runs passed", flush=True)

    def table(self, builds):
        print(f"\n{'program':<20}" + "".join(f"{compiler + ' passed':>14}{'failed':>8}" for compiler in self.words.compilers))
        for name in dict.fromkeys(build.name for build in builds):
            cells = ""
            for compiler in self.words.compilers:
                if not any(build.name == name and build.compiler == compiler for build in builds):
                    cells += f"{'-':>14}{'-':>8}"
                    continue
                failed = sum(failure[:2] == (name, compiler) for failure in self.failures)
                cells += f"{self.passed.get((name, compiler), 0):>14}{failed:>8}"
            print(f"{name:<20}{cells}")
        for _, _, what, command, why in self.failures:
            print(f"\nFAILED {what}: {why}\n  {command}")


def execute(command, variables, limit):
    """Runs a command: (status or None at the time limit, what it has printed on both streams)."""
    try:
        done = subprocess.run(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=limit, check=False)
    except subprocess.TimeoutExpired as error:
        return None, (error.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def main():
    words = options()
    matrix = Matrix(words)
    matrix.check_library()
    builds = matrix.builds()
    os.makedirs(words.work, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
        try:
            for done in pool.map(matrix.run, builds):
                assert done is None
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print(f"interrupted; {sum(matrix.passed.values())} passed until then; failures are above, and may be of the interruption")
            return 130
    matrix.table(builds)
    passed, failed = sum(matrix.passed.values()), len(matrix.failures)
    print(f"\n{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
