# SPDX-License-Identifier: BSL-1.0
"""The Python blocks of docs/python-trees.md run, one after the other."""

import os
import re

import pytest
from tree_support import CORES, on, quern, tree

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python-trees.md")


@pytest.mark.parametrize("core", CORES)
def test_blocks_run(core, tmp_path, monkeypatch):
    with open(PAGE, encoding="utf-8") as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), re.DOTALL)
    assert len(blocks) >= 2 and quern.tree is tree
    path = tmp_path / "page.py"
    path.write_text("\n".join(blocks))
    monkeypatch.chdir(tmp_path)
    with on(core):
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "page"})
    assert (tmp_path / "distances.html").exists()
