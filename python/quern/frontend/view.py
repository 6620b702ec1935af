# SPDX-License-Identifier: BSL-1.0
"""The page that shows a tree: its nodes with times and decisions, beside the source."""

import html
import json
import os

PARTS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "page")


def write(tree, path, compare=None):
    """Writes the page; the path. Errors: OSError of the file; ValueError where there is no tree, or where `compare` is not
    the JSON of one."""
    text = page(tree, compare)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return os.fspath(path)


def fragment(tree):
    """The page inside a page, for notebooks."""
    if tree.whole_function is not None:
        return f"<p>{html.escape(tree.explain())}</p>"
    return f'<iframe srcdoc="{html.escape(page(tree))}" style="width: 100%; height: 32rem; border: 0"></iframe>'


def page(tree, compare=None):
    """The whole page as text."""
    data = json.loads(tree.tree("json"))
    data["source"] = {"first": tree.source.first_line, "lines": tree.source.text.splitlines()}
    data["in_python"] = [f"line {line}: {text}" for line, text in tree.in_python]
    data["as_function"] = tree.chooser.explain()
    data["before"] = None if compare is None else earlier(compare, tree.name)
    text = part("page.html")
    for key, value in (("title", html.escape(f"{tree.name}: tree")), ("style", style()),
                       ("script", part("view.js")), ("data", embedded(data))):
        text = text.replace(f"@{key}@", value, 1)
    return text


def earlier(compare, name):
    """The nodes of an earlier run from its JSON."""
    try:
        return {str(node["id"]): node for node in json.loads(compare)["nodes"]}
    except (TypeError, ValueError, KeyError) as error:
        raise ValueError(f"quern.tree: compare is the text of {name}.tree(\"json\") of an earlier run: {error!r}") from None


def embedded(data):
    """JSON that can stand in a script element."""
    return json.dumps(data).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def part(name):
    with open(os.path.join(PARTS, name), encoding="utf-8") as file:
        return file.read()


def style():
    """The base sheet of all pages of Quern, in the package where it is installed, else in the sources; then that of this page."""
    beside = os.path.join(PARTS, "base.css")
    base = beside if os.path.exists(beside) else os.path.normpath(os.path.join(PARTS, "../../../../share/page/base.css"))
    return part(base) + part("style.css")
