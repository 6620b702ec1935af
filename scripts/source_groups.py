# SPDX-License-Identifier: BSL-1.0
"""The sources of the layers, applications and tools in groups that can be compiled as one file each.

Nearly all of the time of a check goes into the headers of the standard library, which a group includes once. Imported by
check-tidy and check-qualified.
"""

import json
import os
import re
import shlex

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("src", "apps", "tools")
# Of a command, what clang needs: macros, include folders, the language. A precompiled header is gcc's alone.
KEPT = re.compile(r"-(D|I|isystem|std=)")
MOST_AT_ONCE = 64  # sources in one; more would leave nothing for the other processors to do
HAS_MAIN = re.compile(r"^int main\(", re.MULTILINE)


def options_of(command):
    words = shlex.split(command)
    options = []
    for position, word in enumerate(words):
        if KEPT.match(word):
            options.append(word)
            if word == "-isystem":
                options.append(words[position + 1])
    return tuple(options)


def sources(build):
    """Yields (path, options) of each source of ours, and of each public header with the options of its layer."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = json.load(file)
    layers, seen = {}, set()
    for command in commands:
        relative = os.path.relpath(command["file"], ROOT)
        parts = relative.split(os.sep)
        if relative.endswith(".cpp") and parts[0] in FOLDERS:
            if relative in seen and parts[0] != "src":
                continue  # a program for each MPI library, of the same text but for the layer's
            seen.add(relative)
            options = options_of(command["command"])
            yield relative, options
            if parts[0] == "src":
                layers[parts[1]] = options
    for layer, options in layers.items():
        folder = os.path.join("include", "quern", layer)
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in names:
                if name.endswith(".hpp"):
                    yield os.path.relpath(os.path.join(path, name), ROOT), options


def has_main(file):
    with open(os.path.join(ROOT, file), encoding="utf-8") as source:
        return HAS_MAIN.search(source.read()) is not None


def groups(files):
    """Yields (options, files), the largest first: at most MOST_AT_ONCE files of a folder with the same options."""
    together = {}
    for file, options in files:
        together.setdefault((file.split(os.sep)[0], options), set()).add(file)
    found = []
    for (_, options), members in together.items():
        parts = -(-len(members) // MOST_AT_ONCE)
        found += [(options, sorted(members)[part * len(members) // parts:(part + 1) * len(members) // parts])
                  for part in range(parts)]
    return sorted(found, key=lambda group: -len(group[1]))


def to_compile_apart(files, output, error):
    """Of files that do not compile as one: those that the compiler names beside `error`, or half of them if it names none or all."""
    named = [file for file in files if re.search(f"^{re.escape(ROOT)}/{re.escape(file)}:.*{error}", output, re.MULTILINE)]
    return named if 0 < len(named) < len(files) else files[len(files) // 2:]


def including(number, file):
    """The lines that include a file; its main function gets a number, so that several can stand in one source."""
    include = f'#include "{ROOT}/{file}"  // NOLINT(bugprone-suspicious-include)\n'
    return f"#define main main_{number}\n{include}#undef main\n" if has_main(file) else include
