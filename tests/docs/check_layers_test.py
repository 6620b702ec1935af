# SPDX-License-Identifier: BSL-1.0
"""Checks what scripts/check-layers finds in the folders of a layer, on a small tree of its own.

Usage: check_layers_test.py <source directory>
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)) / "scripts" / "check-layers"
ORDER = "# comment\nbase\nmpi\n  mpi: low < left right < high\n"
SOURCES = {
    "src/mpi/low/a.hpp": "",
    "src/mpi/left/b.hpp": '#include "low/a.hpp"',
    "src/mpi/right/c.cpp": '#include "low/a.hpp"',
    "src/mpi/high/d.cpp": '#include "left/b.hpp"\n#include "low/a.hpp"',
}


class Folders(unittest.TestCase):
    def check(self, option="--folders", order=ORDER, **changed):
        """The exit status and what is printed for the tree with some sources changed."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            files = {"cmake/layers.txt": order, "CONTRIBUTING.md": "| 0 | mpi |\n", "include/quern/base/z.hpp": "", **SOURCES}
            files.update({f"src/mpi/{name.replace('__', '/')}.cpp": text for name, text in changed.items()})
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text + "\n")
            (root / "scripts").mkdir()
            shutil.copy(SCRIPT, root / "scripts")
            done = subprocess.run([root / "scripts" / "check-layers", option], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr

    def test_includes_of_lower_folders_are_right(self):
        status, out = self.check()
        self.assertEqual(status, 0, out)
        self.assertIn("src/mpi: low 1, left 1, right 1, high 1", out)

    def test_an_include_of_a_higher_folder_is_a_fault(self):
        status, out = self.check(low__e='#include "left/b.hpp"')
        self.assertEqual(status, 1)
        self.assertIn("src/mpi/low/e.cpp:1: left/b.hpp: the folder left stands above low in cmake/layers.txt", out)
        self.assertIn("1 faults", out)

    def test_an_include_of_a_sibling_is_a_fault(self):
        status, out = self.check(right__e='#include "left/b.hpp"')
        self.assertEqual(status, 1)
        self.assertIn("the folder left stands beside right", out)

    def test_a_file_outside_the_folders_is_a_fault(self):
        for name in ("e", "other__e"):
            status, out = self.check(**{name: ""})
            self.assertEqual(status, 1)
            self.assertIn(f"src/mpi/{name.replace('__', '/')}.cpp: its folder has no place in the order of src/mpi", out)

    def test_a_folder_without_sources_is_a_fault(self):
        status, out = self.check(order=ORDER.replace("high", "high < top"))
        self.assertEqual(status, 1)
        self.assertIn("src/mpi has no folder top with sources", out)

    def test_a_header_that_does_not_exist_is_a_fault(self):
        status, out = self.check(low__e='#include "low/f.hpp"')
        self.assertEqual(status, 1)
        self.assertIn("no such private header", out)

    def test_an_unknown_option_is_named(self):
        status, out = self.check("--foldres")
        self.assertEqual(status, 1)
        self.assertIn("unknown argument '--foldres'", out)

    def test_a_layer_without_an_order_is_free(self):
        status, out = self.check(order="base\nmpi\n", low__e='#include "left/b.hpp"')
        self.assertEqual(status, 0, out)


if __name__ == "__main__":
    unittest.main()
