# SPDX-License-Identifier: BSL-1.0
"""The Python blocks of docs/python.md run, one after the other, and print what the page says; so does README.md's program."""

import os
import re
import textwrap

import programs

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PAGE = os.path.join(ROOT, "docs", "python.md")


def test_blocks_print_what_the_page_says():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    outputs = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == len(outputs) == 3
    status, out, err = programs.run("\n".join(blocks))
    assert (status, err) == (0, "")
    assert out == "".join(outputs)


def test_the_program_of_the_readme_prints_what_the_page_says(tmp_path):
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        found = re.findall(r"^ *```python\n(.*?)```\n\n *```text\n(.*?)```", file.read(), re.DOTALL | re.MULTILINE)
    assert len(found) == 1
    program, output = (textwrap.dedent(part) for part in found[0])
    path = tmp_path / "distance.py"  # a tree needs its source in a file
    path.write_text(program)
    status, out, err = programs.run(f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')")
    assert (status, err) == (0, "")
    assert out.split() == output.split()
