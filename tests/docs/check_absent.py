# SPDX-License-Identifier: BSL-1.0
"""Checks the lists of what is "Not here (yet)": that it is not here.

Usage: check_absent.py <source directory> <document>...
Below such a paragraph stands a comment, not shown, with a line for each item of the list, in the words of the list, and the
names that it would have:
    <!-- not here
    flow graphs: graph, function_node
    -->
None of the names may be declared in a public header (those for programs of HPX, compat, and the private ones, detail, do not
count), nor be the start of a row of a table on the page: such a row says what to use. A document may have no list.
"""

import pathlib
import re
import sys

PARAGRAPH = re.compile(r"^Not here \(yet\): (.*?)\.(?:\s.*?)?\n\n(?:<!-- not here\n(.*?)^-->)?", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def words_of(text):
    return " ".join(re.sub(r"[`\s]+", " ", text).split())


def code_of(source):
    headers = [file for file in sorted((source / "include").rglob("*.hpp")) if not {"compat", "detail"} & set(file.parts)]
    return "\n".join(COMMENT.sub("", file.read_text()) for file in headers)


def is_declared(name, code):
    word = re.escape(name)
    return re.search(rf"\b(?:class|struct|enum|concept|using|namespace)\s+{word}\b|[\w>&*\]]\s+{word}\s*\(", code)


def faults_of(text, code):
    """Yields what is wrong with a page; the items that were looked at come as None."""
    for paragraph, items in PARAGRAPH.findall(text):
        left = words_of(paragraph)
        for line in items.splitlines():
            item, _, names = line.partition(": ")
            if words_of(item) not in left or not names.strip():
                yield f"'{line}': the words of an item of the list, a colon, and the names that it would have"
            left = left.replace(words_of(item), "", 1)
            for name in re.findall(r"\w+", names):
                yield None
                if is_declared(name, code):
                    yield f"'{item}' is here: {name} is declared in include/quern"
                if re.search(rf"^\|[^|\n]*`(?:\w+::)*{re.escape(name)}\b", text, re.MULTILINE):
                    yield f"'{item}': a table of the page says what to use for {name}"
        if re.sub(r"\band\b|\bor\b|[,;\s]", "", left):
            yield f"no names are given for '{left.strip(' ,;')}'"


def main():
    source = pathlib.Path(sys.argv[1])
    code = code_of(source)
    count = faults = 0
    for document in sys.argv[2:]:
        for fault in faults_of((source / document).read_text(), code):
            count += fault is None
            if fault:
                faults += 1
                print(f"{document}: {fault}")
    print(f"{count} names that are not here, {faults} faults")
    sys.exit(1 if faults or not count else 0)


if __name__ == "__main__":
    main()
