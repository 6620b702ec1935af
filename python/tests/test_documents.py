# SPDX-License-Identifier: BSL-1.0
"""The Python blocks of docs/python.md run, one after the other, and print what the page says."""

import os
import re

import programs

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python.md")


def test_blocks_print_what_the_page_says():
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    outputs = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == len(outputs) == 3
    status, out, err = programs.run("\n".join(blocks))
    assert (status, err) == (0, "")
    assert out == "".join(outputs)
