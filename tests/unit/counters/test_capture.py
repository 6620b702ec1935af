# SPDX-License-Identifier: BSL-1.0
"""Captures this computer's system files and checks that the tree is complete and names none of its control groups.

Usage: test_capture.py <path of capture-system-files>
"""

import os
import subprocess
import sys
import tempfile
import unittest

CAPTURE = sys.argv.pop()


def capture(folder):
    return subprocess.run([sys.executable, CAPTURE, folder], capture_output=True, text=True, timeout=120, check=False)


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class CaptureTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tree = os.path.join(self.folder.name, "tree")

    def test_tree_is_complete(self):
        self.assertEqual(capture(self.tree).returncode, 0)
        manifest = text_of(self.tree, "manifest.txt")
        for line in ("captured by", "date: ", "kernel: Linux", "processor: ", "could not be read:"):
            self.assertIn(line, manifest)
        self.assertTrue(text_of(self.tree, "proc/stat").startswith("cpu "))
        self.assertIn("MemAvailable:", text_of(self.tree, "proc/meminfo"))

    def test_groups_are_not_named(self):
        self.assertEqual(capture(self.tree).returncode, 0)
        for line in text_of(self.tree, "proc/self/cgroup").splitlines():
            path = line.split(":", 2)[2]
            self.assertRegex(path, r"^/(g\d+(/g\d+)*)?$")

    def test_a_folder_that_exists_is_refused(self):
        ended = capture(self.folder.name)
        self.assertEqual(ended.returncode, 1)
        self.assertIn("exists; name a folder that does not", ended.stderr)


if __name__ == "__main__":
    unittest.main()
