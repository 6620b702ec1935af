# SPDX-License-Identifier: BSL-1.0
"""The report of synthetic results, in Markdown and as a page: it is complete, and the page is self-contained."""

import html.parser
import os
import subprocess
import sys
import tempfile
import tomllib
import unittest

import figures
import markdown
import page
import sample_results
import targets

REPORT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "report")
VOID = {"meta", "br", "hr", "img", "input", "link"}  # elements of HTML without an end tag; SVG elements close themselves


def made(policies=("default", "sherwood")):
    """(sections, targets, runs) of synthetic results."""
    with tempfile.TemporaryDirectory() as folder:
        runs = figures.load(sample_results.write(folder, policies))
    problems = tomllib.loads(sample_results.PROBLEMS_TOML)
    return figures.gather(runs, problems), targets.evaluate(problems, runs), runs


class Reader(html.parser.HTMLParser):
    """The content for a browser: text, references, ids, and elements that are not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.words, self.references, self.ids, self.faults, self.tags, self._open = [], [], [], [], set(), []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self._open]

    def handle_startendtag(self, tag, attributes):
        self._look_at(tag, attributes)

    def handle_starttag(self, tag, attributes):
        self._look_at(tag, attributes)
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag):
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> in line {self.getpos()[0]}")

    def handle_data(self, data):
        self.words.append(data)

    def _look_at(self, tag, attributes):
        self.tags.add(tag)
        for name, value in attributes:
            if name in ("src", "srcset", "href", "xlink:href", "data", "action", "poster"):
                self.references.append(value)
            if name == "id":
                self.ids.append(value)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sections, cls.rows, cls.runs = made()
        cls.text = page.report(cls.sections, cls.rows, cls.runs)
        cls.read = Reader(cls.text)
        cls.words = " ".join(cls.read.words)

    def test_every_element_is_closed(self):
        self.assertEqual(self.read.faults, [])

    def test_needs_no_network_and_no_script(self):
        self.assertEqual([r for r in self.read.references if not r.startswith("#")], [])
        self.assertEqual(self.read.tags & {"script", "link", "iframe", "img", "object"}, set())
        for fetched in ("url(", "@import", "@font-face"):
            self.assertNotIn(fetched, self.text)

    def test_has_each_of_its_sheets_once(self):
        for rule in ("color-scheme: light dark;", "--c0: #5aa9f8;", "--quern: #5aa9f8;"):  # base, studies, benchmarks
            self.assertEqual(self.text.count(rule), 1, rule)

    def test_every_reference_leads_somewhere_and_no_name_is_given_twice(self):
        self.assertEqual({r[1:] for r in self.read.references} - set(self.read.ids), set())
        self.assertEqual(len(self.read.ids), len(set(self.read.ids)))

    def test_has_a_chart_and_a_table_of_every_problem(self):
        self.assertGreater(len(self.sections), 20)
        for section in self.sections:
            self.assertIn(section.anchor, self.read.ids)
            self.assertIn(f'aria-label="{section.title}: medians of all contenders"', self.text)

    def test_has_contenders_policies_failures_and_targets(self):
        for label in sample_results.LABELS:
            self.assertIn(label, self.read.words)
        self.assertIn("quern/context [sherwood]", self.read.words)
        for failure in sample_results.FAILURES.values():
            self.assertIn(failure, self.read.words)  # as text: escaped where it looks like HTML
        for row in self.rows:
            self.assertIn(row.text, self.read.words)
        for sign in ("✓ reached", "✗ not reached", "? not measured", "percent_of_copy"):
            self.assertIn(sign, self.words)

    def test_says_where_and_when_it_was_measured(self):
        for words in ("0123abc", "Debian, Linux 6", "c++ 12.2.0", "% stolen, load", "7 repetitions"):
            self.assertIn(words, self.words)


class Markdown(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sections, cls.rows, cls.runs = made()
        cls.text = markdown.report(cls.sections, cls.rows, cls.runs)

    def test_rows_of_a_table_have_as_many_cells_as_its_head(self):
        width = None
        for line in self.text.splitlines():
            if not line.startswith("|"):
                width = None
                continue
            cells = line.replace("\\|", "").count("|")
            self.assertEqual(cells, width or cells, line)
            width = cells

    def test_has_contenders_policies_failures_and_targets(self):
        for words in [*sample_results.LABELS, "quern/context [sherwood]", *sample_results.FAILURES.values(),
                      *(row.text for row in self.rows), "not reached", "percent_of_copy"]:
            self.assertIn(words, self.text)

    def test_what_stands_in_a_cell_cannot_break_it(self):
        self.assertEqual(markdown.table(["a"], [["x|y\nz"]])[-1], "| x\\|y z |")


class Command(unittest.TestCase):
    def report(self, *arguments):
        return subprocess.run([sys.executable, REPORT, *arguments], capture_output=True, text=True, check=False, timeout=120)

    def test_writes_both_files_and_prints_the_targets(self):
        with tempfile.TemporaryDirectory() as folder:
            result, = sample_results.write(folder)
            done = self.report(result, "--problems", f"{folder}/problems.toml", "--html", f"{folder}/new/x.html",
                               "--markdown", f"{folder}/new/x.md")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("not reached", done.stdout)
            with open(f"{folder}/new/x.html", encoding="utf-8") as file:
                self.assertEqual(Reader(file.read()).faults, [])
            with open(f"{folder}/new/x.md", encoding="utf-8") as file:
                self.assertIn("## Targets", file.read())

    def test_a_file_that_is_no_result_is_named(self):
        done = self.report(os.devnull)
        self.assertEqual((done.returncode, done.stderr), (1, "bench/report: /dev/null: is no result of bench/run\n"))


if __name__ == "__main__":
    unittest.main()
