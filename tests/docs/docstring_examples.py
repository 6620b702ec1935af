# SPDX-License-Identifier: BSL-1.0
"""Compiles the examples in the doc comments of the public headers.

Usage: docstring_examples.py <source directory> <generated.cpp> <compiler> [options...]
An example is a run of lines `///     code`. All go into one file below docstring_prelude.hpp, which declares the names that
they use: each in a namespace of its own, inside the one of its header. One that defines a function stays at namespace level,
the others become the body of one. Messages of the compiler name header and line. An example that begins with `// (fragment)` is
left out, and counted; so are those of the layer mpi without an MPI library, and those of the layer localities without cereal.
"""

import pathlib
import re
import subprocess
import sys

CODE = re.compile(r"^\s*///     (.*)$")
EMPTY = re.compile(r"^\s*///$")
DEFINES_FUNCTION = re.compile(r"^(?!return |else |new )[\w:<>&*,]+ \w+\([^()]*\) \{", re.MULTILINE)


def examples_of(header):
    """Yields (number of the first line, text); an empty line between two lines of code belongs to the example."""
    first, lines = 0, []
    for number, line in enumerate([*header.read_text().splitlines(), ""], 1):
        code = CODE.match(line)
        if code:
            first = first or number
            lines.append(code[1])
        elif lines and EMPTY.match(line):
            lines.append("")
        elif lines:
            yield first, "\n".join(lines)
            first, lines = 0, []


def compilable(header, first, text):
    code = f'#line {first} "{header}"\n{text}\n'
    if not DEFINES_FUNCTION.search(text):
        code = f"inline auto example() {{\n{code}}}\n"
    return f"namespace docstrings::of_{header.stem}::{header.parent.name}_line_{first} {{\n{code}}}\n"


def mpi_options():
    """The include paths of an installed MPI library, or nothing."""
    for package in "ompi", "mpich":
        try:
            found = subprocess.run(["pkg-config", "--cflags-only-I", package], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            break
        if found.returncode == 0:
            return ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", *(f"-isystem{each[2:]}" for each in found.stdout.split())]
    return []


def has_cereal(compiler):
    source = "#include <cereal/cereal.hpp>\n"
    return subprocess.run([*compiler, "-x", "c++", "-"], input=source, text=True, capture_output=True, check=False).returncode == 0


def main():
    source, generated, *compiler = sys.argv[1:]
    include = pathlib.Path(source, "include")
    mpi = mpi_options()
    left_out = {layer for layer, is_there in (("mpi", mpi), ("localities", has_cereal(compiler))) if not is_there}
    headers, examples, fragments = [], [], 0
    for header in sorted(include.glob("quern/**/*.hpp")):
        for first, text in examples_of(header):
            if text.startswith("// (fragment)") or header.relative_to(include).parts[1] in left_out:
                fragments += 1
                continue
            headers.append(f"#include <{header.relative_to(include)}>\n")
            examples.append(compilable(header, first, text))
    prelude = "#include <docs/docstring_prelude.hpp>\n"
    pathlib.Path(generated).write_text("".join([*dict.fromkeys(headers), prelude, *examples]))
    status = subprocess.run([*compiler, *mpi, generated], check=False).returncode
    print(f"examples: {len(examples)} compiled, {fragments} fragments left out")
    sys.exit(1 if status != 0 or not examples else 0)


if __name__ == "__main__":
    main()
