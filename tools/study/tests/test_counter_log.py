# SPDX-License-Identifier: BSL-1.0
"""Reading of printed counters: units, instances, several lines, and invalid lines."""

import math
import os
import tempfile
import unittest

from study.counter_log import read_counter_log


def counter(name, value, unit=""):
    return f'{{"name":"{name}","value":{value},"unit":"{unit}","state":"ok","why":"a reason"}}'


def line(*counters):
    return f'{{"time_s":1.5,"sequence":0,"counters":[{",".join(counters)}]}}\n'


class CounterLog(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            self.path = os.path.join(folder, "log")
            with open(self.path, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            return read_counter_log(self.path)

    def test_converts_units(self):
        reading = self.read(line(counter("/threads{locality#0/total}/time/average", 1500, "ns"),
                                 counter("/threads{locality#0/total}/idle-rate", 2500, "0.01 %"),
                                 counter("/threads{locality#0/total}/count/cumulative", 42)))
        self.assertAlmostEqual(reading.total("/threads/time/average"), 1.5e-6, places=18)
        self.assertAlmostEqual(reading.total("/threads/idle-rate"), 0.25)
        self.assertEqual(reading.total("/threads/count/cumulative"), 42)
        self.assertEqual(reading.time_s, 1.5)

    def test_tells_the_whole_from_its_parts(self):
        reading = self.read(line(counter("/threads{locality#0/worker-thread#0}/idle-rate", 1),
                                 counter("/threads{locality#0/pool#a/worker-thread#0}/idle-rate", 2),
                                 counter("/threads{locality#0/worker-thread#1}/idle-rate", 3),
                                 counter("/threads{locality#0/pool#a/total}/idle-rate", 4),
                                 counter("/threads{locality#0/total}/idle-rate", 5)))
        self.assertEqual(reading.total("/threads/idle-rate"), 5)
        self.assertEqual(reading.workers, 2)

    def test_keeps_why_a_counter_has_no_value(self):
        reading = self.read(line(counter("/threads{locality#0/total}/idle-rate", "null")))
        self.assertTrue(math.isnan(reading.total("/threads/idle-rate")))
        self.assertEqual(reading.missing["/threads/idle-rate"], "a reason")
        self.assertTrue(math.isnan(reading.total("/no/such")))

    def test_takes_the_runtime_with_the_most_tasks(self):
        lines = [line(counter("/threads{locality#0/total}/count/cumulative", tasks)) for tasks in (1, 9, 3)]
        self.assertEqual(self.read("".join(lines)).total("/threads/count/cumulative"), 9)

    def test_is_none_without_a_file_or_a_line(self):
        self.assertIsNone(read_counter_log("/no/such/file"))
        self.assertIsNone(self.read(""))
        self.assertIsNone(self.read("\n \n"))

    def test_names_the_line_that_is_none(self):
        for broken in ("{", "3", "[]", '{"counters":3}', '{"counters":[{"value":1}]}', '{"counters":[{"name":3,"value":1}]}',
                       '{"counters":[3]}', '{"counters":[{"name":"/a","value":NaN}]}', "\udcff", "[" * 100000):
            with self.assertRaisesRegex(RuntimeError, ":2: not a line of counters: ") as raised:
                self.read(line() + broken + "\n")
            self.assertTrue(str(raised.exception).startswith(self.path))


if __name__ == "__main__":
    unittest.main()
