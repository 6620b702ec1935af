# SPDX-License-Identifier: BSL-1.0
"""The user's compiler preprocesses; here its output becomes two texts of the same user's lines.

`Unit.text` is what is compiled in the end: all of the output, without the macro definitions that -dD has kept. `Unit.reading`
is what libclang reads: only the user's lines, with a #include in the place of each header of the system, since the
compiler's own branches of those headers are not for clang."""

import bisect
import io
import re
import shlex
import subprocess
from dataclasses import dataclass

from .mistakes import Mistake, Place

MARKER = re.compile(r'# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)\s*$')
# Raw strings' beginnings, other strings and characters, one of which may hold a quote.
STRINGS = re.compile(r'(?<!\w)(?:u8?|U|L)?R"(?P<mark>[^()\\\s]{0,16})\('
                     r'|"(?:[^"\\]|\\.)*"'
                     r"|(?<![0-9A-Fa-f])'(?:[^'\\]|\\.)+'")
OWN_HEADER = "quern/omp/task_functions.h"


@dataclass
class Pragma:
    """A pragma of the user that may be one of ours."""
    words: str     # what follows "#pragma"
    file: str
    line: int
    at: int        # offset of its line in the text
    end: int       # and behind it, without the end of line
    reading_at: int
    order: int     # number of macro directives before it


def run(command, what, text=None):
    """The standard output of a compiler; its messages go through, and its failure ends this program with its status."""
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=False, encoding="utf-8", errors="surrogateescape")
    if done.returncode != 0:
        raise CompilerFailed(done.returncode, f"{what} failed: {shlex.join(command)}")
    return done.stdout


class CompilerFailed(Exception):
    def __init__(self, status, what):
        super().__init__(what)
        self.status = status


def search_folders(compiler, language):
    """The compiler's own include folders, the longest names first."""
    done = subprocess.run([*compiler, "-x", language, "-E", "-v", "-"], input="", capture_output=True, text=True, check=False,
                          env=None)
    lines = done.stderr.splitlines()
    if "#include <...> search starts here:" not in lines:
        return []
    first = lines.index("#include <...> search starts here:") + 1
    last = lines.index("End of search list.")
    return sorted((line.strip() for line in lines[first:last]), key=len, reverse=True)


def open_raw_string(text, end=None):
    """What ends the raw string that the line leaves open, or None. `end`: the same of the line before."""
    at = 0
    if end is None and 'R"' not in text:
        return None
    while True:
        if end is not None:
            found = text.find(end, at)
            if found < 0:
                return end
            at, end = found + len(end), None
        literal = STRINGS.search(text, at)
        if literal is None:
            return None
        at = literal.end()
        if literal["mark"] is not None:
            end = f'){literal["mark"]}"'


class Unit:
    """One source after its preprocessing."""

    def __init__(self, source, output, folders):
        self.source = source
        self.pragmas = []
        self.directives = []   # of the user and of headers: lines of #define and #undef
        self.macro_names = set()
        self.main_at = None    # where the first line of the source itself is
        self._folders = folders
        self._has_begun = False  # a line of the source itself has been read
        self._lines, self._reading = [], []
        self._at = self._reading_at = 0
        self._user_macros = {}
        self._places = []      # (offset in text, file, line) of each of the user's lines
        self._mapping = []     # (offset in reading, offset in text, length)
        self._split(output)
        self.text, self.reading = "".join(self._lines).encode(errors="surrogateescape"), "".join(self._reading)
        self._reading_starts = [each[0] for each in self._mapping]
        self._text_starts = [each[1] for each in self._mapping]

    # -- offsets, in bytes ------------------------------------------------------------------------

    def text_offset(self, reading_offset):
        """Where that byte of the user's is in the text; None for one of a header of the system."""
        i = bisect.bisect_right(self._reading_starts, reading_offset) - 1
        if i < 0:
            return None
        start, at, length = self._mapping[i]
        return at + reading_offset - start if reading_offset <= start + length else None

    def place(self, offset):
        """File, line and column of an offset in the text."""
        i = bisect.bisect_right(self._text_starts, offset) - 1
        at, file, line = self._places[i]
        return Place(file, line, offset - at + 1)

    def line_of_reading(self, offset):
        """The text of the user's line with that byte."""
        i = bisect.bisect_right(self._reading_starts, offset) - 1
        start, _, length = self._mapping[i]
        return self.reading.encode(errors="surrogateescape")[start:start + length].decode(errors="surrogateescape")

    # -- reading the compiler's output ------------------------------------------------------------

    def _split(self, output):
        file, line, is_system, is_builtin = self.source, 1, False, False
        raw_end = None  # of a string whose lines are no directives
        for text in io.StringIO(output):
            is_raw, raw_end = raw_end is not None, open_raw_string(text, raw_end)
            if is_raw:
                if is_system:
                    self._keep(text)
                else:
                    self._user_line(text, file, line, True)
                line += 1
                continue
            marker = MARKER.match(text) if text.startswith("# ") else None
            if marker:
                flags = marker[3].split()
                new_file = marker[2].encode().decode("unicode_escape") if "\\" in marker[2] else marker[2]
                if "3" in flags and "1" in flags and not is_system and not new_file.endswith("stdc-predef.h"):
                    self._include(new_file)
                if new_file != file or "1" in flags or "2" in flags:  # else a macro of the system within the user's line
                    is_system = "3" in flags
                file, line = new_file, int(marker[1])
                is_builtin = file == "<built-in>"
                if file == self.source and line == 1 and not self._has_begun:
                    self.main_at = self._at
                self._keep(text)
                continue
            if text.startswith(("#define ", "#undef ")):
                self._directive(text, is_system, is_builtin)
                self._keep("\n")
            elif is_system:
                self._keep(text)
            else:
                self._user_line(text, file, line)
            line += 1

    def _keep(self, text):
        self._lines.append(text)
        self._at += len(text.encode(errors="surrogateescape"))

    def _read(self, text):
        self._reading.append(text)
        self._reading_at += len(text.encode(errors="surrogateescape"))

    def _user_line(self, text, file, line, is_raw=False):
        self._has_begun |= file == self.source
        if text.startswith("#pragma ") and not is_raw:
            end = self._at + len(text.rstrip("\n").encode(errors="surrogateescape"))
            self.pragmas.append(Pragma(text[len("#pragma"):].rstrip("\n"), file, line, self._at, end, self._reading_at,
                                       len(self.directives)))
            text_read = "\n"  # libclang need not know it
        else:
            text_read = text
        self._mapping.append((self._reading_at, self._at, len(text_read.encode(errors="surrogateescape"))))
        self._places.append((self._at, file, line))
        self._read(text_read)
        self._keep(text)

    def _directive(self, text, is_system, is_builtin):
        name = re.split(r"[\s(]", text.split(None, 1)[1], maxsplit=1)[0]
        if is_builtin:
            return
        self.directives.append(text)
        self.macro_names.add(name)
        if is_system:
            return
        if text.startswith("#define"):
            self._user_macros[name] = text
        elif self._user_macros.pop(name, None) is None:
            self._read(text)

    def _include(self, path):
        """A header of the system, as the user's macros make it."""
        relative = next((path[len(folder) + 1:] for folder in self._folders if path.startswith(folder + "/")), None)
        self._read("".join(self._user_macros.values()))
        self._read(f"#include <{relative}>\n" if relative else f'#include "{path}"\n')
        self._read("".join(f"#undef {name}\n" for name in self._user_macros))

    # -- macros in pragmas ------------------------------------------------------------------------

    def expand(self, compiler, language, texts):
        """Replaces macros in expressions of pragmas, as they are defined there. `texts`: (pragma, expression)."""
        asked, done = [], 0
        for number, (pragma, expression) in enumerate(texts):
            asked += self.directives[done:pragma.order]
            done = pragma.order
            asked.append(f"quern_expression_{number} {expression}\n")
        output = run([*compiler, "-x", language, "-E", "-P", "-w", "-"], "expanding macros of pragmas", "".join(asked))
        found = {}
        for line in output.splitlines():
            word, _, rest = line.partition(" ")
            if word.startswith("quern_expression_"):
                found[int(word[len("quern_expression_"):])] = rest
        if len(found) != len(texts):
            raise Mistake("the compiler has not expanded the macros of all pragmas")
        return [found[number] for number in range(len(texts))]
