# SPDX-License-Identifier: BSL-1.0
"""What the tests of this folder share: the command, its MPI libraries, programs that are compiled and run in a scratch folder."""

import os
import subprocess
import sys
import tempfile
import unittest

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
QUERN = "quern"
MPI = []


def main():
    """python3 test_X.py QUERN [MPI LIBRARY]..."""
    global QUERN  # pylint: disable=global-statement
    QUERN, MPI[:] = sys.argv[1], sys.argv[2:]
    try:
        sys.path.append("/usr/lib/python3/dist-packages")
        import clang.cindex  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        print("Python has no clang.cindex (Debian: python3-clang-19): nothing was tested")
        return
    unittest.main(argv=[sys.argv[0], "-v"])


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="quern-pragmas-")
        self.folder = self._folder.name
        self.addCleanup(self._folder.cleanup)

    def run_in_folder(self, *words, **more):
        return subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=100, check=False, **more)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def output(self, *words, **more):
        """Of a command that must succeed."""
        done = self.run_in_folder(*words, **more)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def quern(self, *words, **more):
        return self.output(QUERN, *words, **more)
