# SPDX-License-Identifier: BSL-1.0
"""The command line: steps, several sources, headers, lines of the user, sites of reports."""

import json
import os
import re

import quern_cc

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
CMAKE_FUNCTION = os.path.join(ROOT, "cmake", "quern_pragmas.cmake")
DOCS = os.path.join(ROOT, "docs")

HEADER = """#pragma omp task inout([n] v)
void add(double *v, int n);
#define ADD(p) add(p, COUNT)
"""
FIRST = """#include "tasks.h"
#include <stdio.h>

int main(void) {
    double v[COUNT] = {0};
    ADD(v);
    add(v, 1);
#pragma omp taskwait
    printf("%g %g\\n", v[0], v[COUNT - 1]);
    return 0;
}
"""
SECOND = """#include "tasks.h"
void add(double *v, int n) {
    for (int i = 0; i < n; i++) {
        v[i] += 1;
    }
}
"""


class Options(quern_cc.Case):
    """What a build system and a user do."""

    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "include"))
        self.write("include/tasks.h", HEADER)
        self.write("first.c", FIRST)
        self.write("second.c", SECOND)

    # Quern cc compiles several sources with -I and -D, objects of -c and of other compilers are linked, a header has pragmas and macros that call.
    def test_sources_and_objects(self):
        words = ["-Iinclude", "-DCOUNT=3"]
        self.quern("cc", *words, "first.c", "second.c", "-o", "both")
        self.assertEqual(self.output("./both"), "2 1\n")
        self.quern("cc", *words, "-c", "first.c", "-MMD", "-MF", "first.d")
        self.output("gcc", *words, "-w", "-c", "second.c")
        self.quern("cc", "first.o", "second.o", "-o", "linked")
        self.assertEqual(self.output("./linked"), "2 1\n")
        with open(os.path.join(self.folder, "first.d"), encoding="utf-8") as file:
            self.assertIn("include/tasks.h", file.read())

    # The translated source keeps the user's lines: in messages of the compiler, in the debugger, and as sites of reports.
    def test_lines(self):
        self.write("wrong.c", FIRST.replace("return 0;", "return unknown;"))
        done = self.run_in_folder(quern_cc.QUERN, "cc", "-Iinclude", "-DCOUNT=3", "-c", "wrong.c")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("wrong.c:10:", done.stderr)
        self.quern("cc", "--keep", "-g", "-Iinclude", "-DCOUNT=3", "-c", "first.c")
        with open(os.path.join(self.folder, "first.quern.i"), encoding="utf-8") as file:
            kept = file.read()
        self.assertIn('{"add", "first.c", 6, 0}, {"add", "first.c", 7, 0}', kept)

    # Reports name a task "task <function> at <file>:<line>".
    def test_sites(self):
        self.write("bad.c", FIRST.replace("add(v, 1)", "add(v, -1)"))
        self.quern("cc", "-Iinclude", "-DCOUNT=3", "bad.c", "second.c", "-o", "bad")
        done = self.run_in_folder("./bad")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("quern: task add at bad.c:7: ", done.stderr)

    # Quern_add_pragma_sources() compiles the sources of a target of CMake.
    def test_cmake(self):
        data = os.path.join(os.path.dirname(quern_cc.QUERN), "..", "share", "quern", "pragmas.json")
        with open(data, encoding="utf-8") as file:
            link = ";".join(json.load(file)["link"])
        self.write("CMakeLists.txt", f"""cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
include("{CMAKE_FUNCTION}")
set(QUERN_COMMAND "{quern_cc.QUERN}")
add_library(quern::task_functions INTERFACE IMPORTED)
target_link_libraries(quern::task_functions INTERFACE "{link}")
add_executable(both)
target_compile_definitions(both PRIVATE COUNT=3)
target_include_directories(both PRIVATE include)
quern_add_pragma_sources(both first.c second.c)
""")
        self.output("cmake", "-S", ".", "-B", "made", "-G", "Ninja")
        self.output("cmake", "--build", "made")
        self.assertEqual(self.output("made/both"), "2 1\n")
        self.assertIn("no work to do", self.output("cmake", "--build", "made"))
        self.write("include/tasks.h", HEADER + "/* changed */\n")
        self.assertIn("second.c", self.output("cmake", "--build", "made"))

    # The examples of docs/pragmas.md are pieces of a program that computes what the plain compiler's does.
    def test_page(self):
        with open(os.path.join(DOCS, "pragmas.md"), encoding="utf-8") as file:
            pieces = re.findall(r"```c\n(.*?)```", file.read(), re.S)
        source = os.path.join(DOCS, "pragmas_example.c")
        with open(source, encoding="utf-8") as file:
            program = file.read()
        self.assertEqual(len(pieces), 3)
        for piece in pieces:
            self.assertIn(piece, program)
        self.output("gcc", "-w", source, "-o", "serial")
        self.quern("cc", source, "-o", "parallel")
        self.assertEqual(self.output("./parallel"), self.output("./serial"))

    def test_help(self):
        self.assertIn("--keep", self.quern("cc", "--help"))


if __name__ == "__main__":
    quern_cc.main()
