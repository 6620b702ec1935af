# SPDX-License-Identifier: BSL-1.0
"""Checks that the code in a document is the code that a test runs.

Usage: check_examples.py <source directory> <folder of sources> <document>... [--fix]
A block of C++ below a line `<!-- file.cpp name -->` must be the lines between the two markers `// [name]` in that file,
without their common indentation; below `<!-- file.cpp -->`, the whole file but the comment it opens with. Every marked region,
and every file without one outside of tests/, must be shown, and every block that mentions quern:: must have such a line above it. With --fix
the blocks are rewritten instead.
"""

import pathlib
import re
import sys
import textwrap

MARKER = re.compile(r"^\s*// \[(\w+)\]$")
BLOCK = re.compile(r"(?:^<!-- (\S+\.(?:[ch]pp|txt))(?: (\w+))? -->\n)?^```(cpp|cmake)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SOURCES = {".cpp", ".hpp", ".txt"}


def regions_of(file):
    """The marked regions of a source: name -> text; without one, the whole: None -> text. An unterminated or repeated region is
    an error."""
    regions, name, lines = {}, None, []
    for line in file.read_text().splitlines():
        marker = MARKER.match(line)
        if not marker:
            lines.append(line)
        elif name is None:
            name, lines = marker[1], []
            if name in regions:
                sys.exit(f"{file}: two regions are named {name}")
        elif marker[1] != name:
            sys.exit(f"{file}: [{marker[1]}] begins inside [{name}]")
        else:
            # A pragma begins in the first column, whatever the indentation of its code.
            code = [line if not line.startswith("#") else "" for line in lines]
            indent = min(len(line) - len(line.lstrip()) for line in code if line)
            regions[name] = "".join((line if line.startswith("#") else line[indent:]) + "\n" for line in lines)
            name = None
    if name is not None:
        sys.exit(f"{file}: [{name}] does not end")
    return regions or {None: re.sub(r"\A((//|# ).*\n)+", "", file.read_text())}


def main():
    fix = "--fix" in sys.argv
    source, folder, *documents = (argument for argument in sys.argv[1:] if argument != "--fix")
    folder = pathlib.Path(source, folder)
    expected = {
        (file.name, name): text
        for file in sorted(folder.iterdir())
        if file.suffix in SOURCES
        for name, text in regions_of(file).items()
        if name is not None or folder.relative_to(source).parts[0] != "tests"  # tests without regions are no examples
    }
    shown, faults = set(), []

    def check(document, match):
        file, name, language, code = match.groups()
        if file is None:
            if language == "cpp" and "quern::" in code:
                faults.append(f"{document}: no test is named above this block:\n{textwrap.indent(code, '    ')}")
            return match[0]
        wanted = expected.get((file, name))
        if wanted is None:
            faults.append(f"{document}: {folder.name} has no file {file} with {f'a region [{name}]' if name else 'no regions'}")
            return match[0]
        shown.add((file, name))
        if code != wanted and not fix:
            faults.append(f"{document}: {file}{f' [{name}]' if name else ''} is now:\n{textwrap.indent(wanted, '    ')}")
        return f"<!-- {file}{f' {name}' if name else ''} -->\n```{language}\n{wanted}```"

    for document in documents:
        page = pathlib.Path(source, document)
        text = BLOCK.sub(lambda match: check(document, match), page.read_text())
        if fix:
            page.write_text(text)
    faults += [f"{file}: {f'[{name}]' if name else 'it'} is on no page" for file, name in sorted(expected.keys() - shown, key=str)]
    print("\n".join(faults + [f"examples: {len(shown)} shown, {len(faults)} faults"]))
    sys.exit(1 if faults or not shown else 0)


if __name__ == "__main__":
    main()
