# SPDX-License-Identifier: BSL-1.0
"""Compares the graph of dependent tasks that `cholesky` writes with the one that its algorithm has. Usage: test_graph.py <bin>"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

BIN = sys.argv.pop()
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith("QUERN_")}


def expected(tiles):
    """Names of the tasks in order, and the edges between their numbers."""
    names, edges, writer, readers = [], set(), {}, {}

    def task(name, reads, writes):
        names.append(name)
        number = len(names)
        for tile in reads:
            if tile in writer:
                edges.add((writer[tile], number))
            readers.setdefault(tile, []).append(number)
        since = readers.pop(writes, None) or ([writer[writes]] if writes in writer else [])
        edges.update((each, number) for each in since)
        writer[writes] = number

    for k in range(tiles):
        task("potrf", [], (k, k))
        for i in range(k + 1, tiles):
            task("trsm", [(k, k)], (i, k))
        for i in range(k + 1, tiles):
            for j in range(k + 1, i):
                task("gemm", [(i, k), (j, k)], (i, j))
            task("syrk", [(i, k)], (i, i))
    return names, edges


def graph_of(text):
    names = re.findall(r't(\d+) \[label="(\w+)\\n\1"', text)
    edges = {(int(a), int(b)) for a, b in re.findall(r"t(\d+) -> t(\d+);", text)}
    return [name for _, name in names], edges


class Graph(unittest.TestCase):
    def test_is_that_of_the_algorithm(self):
        for tiles, workers in [(1, 1), (5, 1), (5, 2), (5, 8), (6, 2)]:
            with self.subTest(tiles=tiles, workers=workers), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "run.dot")
                result = subprocess.run(
                    [os.path.join(BIN, "cholesky"), "--n", str(32 * tiles), "--tile", "32", "--repeat", "2", "--threads", str(workers)],
                    capture_output=True, text=True, timeout=60, check=False, env={**ENVIRONMENT, "QUERN_GRAPH": path})
                mistakes = re.sub(r"(?m)^note: .*\n", "", result.stderr)  # OpenBLAS may not know the processor
                self.assertEqual((result.returncode, mistakes), (0, ""))
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                self.assertEqual(graph_of(text), expected(tiles))
                self.assertIn("3 domains with this graph", text)
                self.assertEqual(len(expected(tiles)[0]), tiles * (tiles + 1) * (tiles + 2) // 6)


if __name__ == "__main__":
    unittest.main()
