# SPDX-License-Identifier: BSL-1.0
"""Programs with pragmas: those of the thesis's figures as printed, and one of each form. Compiled by `quern cc` they print what
they print when a plain compiler, which ignores the pragmas, has compiled them."""

import os
import shutil
import unittest

import quern_cc

FLAGS = ["-O1", "-w"]
COMPILERS = {"cc": ("gcc", ["-std=gnu11", "-lm"]), "c++": ("g++", ["-std=c++17"])}


class Programs(quern_cc.Case):
    """The same answers."""

    def compare(self, name, language="cc"):
        source = os.path.join(quern_cc.PROGRAMS, name)
        compiler, more = COMPILERS[language]
        self.output(compiler, *FLAGS, source, "-o", "serial", *more)
        self.quern(language, *FLAGS, source, "-o", "parallel", *more)
        expected = self.output("./serial")
        for threads in ("1", "3"):
            self.assertEqual(self.output("./parallel", env={**os.environ, "QUERN_THREADS": threads}), expected)

    def compare_with_mpi(self, name):
        """With the first MPI library that is there."""
        if not quern_cc.MPI or shutil.which(f"mpiexec.{quern_cc.MPI[0]}") is None:
            self.skipTest("no MPI library")
        library = quern_cc.MPI[0]
        source = os.path.join(quern_cc.PROGRAMS, name)
        start = [f"mpiexec.{library}", "-n", "2"]
        if library == "openmpi":
            start += ["--allow-run-as-root", "--oversubscribe"]
        self.output(f"mpicc.{library}", *FLAGS, source, "-o", "serial")
        self.quern("cc", "--mpi", library, *FLAGS, source, "-o", "parallel")
        expected = self.output(*start, "./serial")
        self.assertIn("checksum", expected)
        self.assertEqual(self.output(*start, "./parallel"), expected)

    # The figures of the seed with their pragmas as printed have the answers of the serial program.
    def test_figure_2_4(self):
        self.compare("figure_2_4_cholesky.c")

    def test_figure_5_2(self):
        self.compare_with_mpi("figure_5_2_receive.c")

    def test_figure_5_3(self):
        self.compare_with_mpi("figure_5_3_broadcast.c")

    def test_figure_5_5(self):
        self.compare_with_mpi("figure_5_5_communication_thread.c")

    def test_figure_6_6(self):
        self.compare("figure_6_6_factorization.c")

    def test_figure_6_18(self):
        self.compare_with_mpi("figure_6_18_matrix_product.c")

    def test_figure_6_23(self):
        self.compare_with_mpi("figure_6_23_conjugate_gradient.c")

    def test_figure_7_3(self):
        self.compare_with_mpi("figure_7_3_jacobi.c")

    # Extents come from shapes of parameters, [n] p, p[i;len], p[a:b] and {a..b}; scalars are copied at the call; nesting; statements.
    def test_forms(self):
        self.compare("forms.c")

    # Macros and headers of real programs survive.
    def test_headers(self):
        self.compare("headers.c")
        self.compare("headers.cc", "c++")

    # Declarations as programs write them, and tasks before main().
    def test_declarators(self):
        self.compare("declarators.c")

    # What only looks like pragmas.
    def test_literals(self):
        self.compare("literals.cc", "c++")

    # In C++ namespaces, overloads, references, objects by value, lambdas of statements, members.
    def test_cpp(self):
        self.compare("forms.cc", "c++")


if __name__ == "__main__":
    unittest.TestCase.maxDiff = None
    quern_cc.main()
