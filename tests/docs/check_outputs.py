# SPDX-License-Identifier: BSL-1.0
"""Runs the commands that a document shows, and compares their output with the document's.

Usage: check_outputs.py <folder of programs>[:<folder>...] <document>... [--fix]
A block of text whose first line begins with `$ ` holds commands, each followed by its output, stdout and stderr together. A
line above the block says how both are compared:
    <!-- output -->                     the same, line by line
    <!-- output: numbers vary -->       the same but for numbers, units of time, bars and the width of columns
    <!-- output: holds 'a'; 'b' -->     both hold these texts; up to five runs, because a verdict depends on the machine
    <!-- not run -->                    not run: not every machine has what it needs, or it is no program of the tests
A command is `[NAME=value...] program [argument...]`, run in an empty folder; commands of one block share it. With --fix the
blocks are rewritten instead.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:^<!-- (output|not run)(?:: (.*?))? -->\n)?^```(?:text|console)?\n(\$ .*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"(?<![\w#])[-+]?\d[\d.,]*(?:e[-+]?\d+)?(?: ?(?:ns|µs|us|ms|s|%|B|KiB|MiB|GiB)\b| ?%)?")
VARIABLE = re.compile(r"^[A-Z_]+=")


def find(name, programs):
    for folder in programs:
        if os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    sys.exit(f"{name}: no such program in {', '.join(programs)}")


def run(command, programs, folder):
    """The output of the command. Programs that it names as ./program are copied into the folder, which is shown as …; others
    are found in PATH."""
    words = shlex.split(command)
    environment = dict(os.environ, PATH=os.pathsep.join([*programs, os.environ["PATH"]]))
    while VARIABLE.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    for word in words:
        if word.startswith("./") and not os.path.exists(os.path.join(folder, word)):
            shutil.copy(find(word[2:], programs), os.path.join(folder, word))
    if not words[0].startswith("./"):
        find(words[0], programs)
    result = subprocess.run(words, cwd=folder, env=environment, text=True, check=False, timeout=100,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = result.stdout.replace(os.path.realpath(folder), "…").splitlines() + ([f"(exit status {result.returncode})"] if result.returncode else [])
    return "".join(line.rstrip() + "\n" for line in lines)


def run_block(text, programs):
    """The block as it should be: its commands, each with its present output."""
    parts = []
    with tempfile.TemporaryDirectory() as folder:
        for line in text.splitlines():
            if line.startswith("$ "):
                parts.append(line + "\n" + run(line[2:], programs, folder))
    return "".join(parts)


def without_numbers(text):
    text = re.sub(r"#{2,}", " ", text)
    return "\n".join(" ".join(NUMBER.sub("#", line).split()) for line in text.splitlines())


def fault(how, shown, programs):
    """The fault of a block, or None; and the text of its last run."""
    if how is None or how == "numbers vary":
        now = run_block(shown, programs)
        same = (now == shown) if how is None else without_numbers(now) == without_numbers(shown)
        return (None if same else "prints now"), now
    wanted = re.findall(r"'([^']+)'", how) if how.startswith("holds ") else []
    if not wanted:
        return f"'{how}' is no way to compare; accepted: numbers vary, holds '...'", ""
    for _ in range(5):
        now = run_block(shown, programs)
        plain = " ".join(now.split())
        if all(text in plain for text in wanted):
            break
    else:
        return f"does not print all of {wanted}, but", now
    if not all(text in " ".join(shown.split()) for text in wanted):
        return f"does not show all of {wanted}; it prints now", now
    return None, now


def main():
    fix = "--fix" in sys.argv
    programs, *documents = (argument for argument in sys.argv[1:] if argument != "--fix")
    programs = [os.path.abspath(folder) for folder in programs.split(":")]
    count, faults = 0, []

    def check(document, match):
        nonlocal count
        kind, how, shown = match.groups()
        if kind is None:
            faults.append(f"{document}: no <!-- output --> stands above this block:\n{shown}")
        if kind != "output":
            return match[0]
        count += 1
        problem, now = fault(how, shown, programs)
        if problem and not fix:
            faults.append(f"{document}: {shown.splitlines()[0]} {problem}:\n{now}")
        return match[0].replace(shown, now) if fix else match[0]

    for document in documents:
        page = pathlib.Path(document)
        text = page.read_text()
        new = BLOCK.sub(lambda match: check(document, match), text)
        if fix and new != text:
            page.write_text(new)
    print("\n".join(faults + [f"outputs: {count} compared, {len(faults)} faults"]))
    sys.exit(1 if faults or not count else 0)


if __name__ == "__main__":
    main()
