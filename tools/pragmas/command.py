# SPDX-License-Identifier: BSL-1.0
"""Turns errors into one message and an exit status: 2 for a mistake of the user, the compiler's own where that has failed."""

import signal
import sys

from .driver import Driver
from .mistakes import Mistake
from .options import C, CPP, OWN
from .preprocess import CompilerFailed

FAILURE, USAGE = 1, 2
LANGUAGES = {"cc": C, "c++": CPP}


def help_text(name):
    source = "prog.c" if name == "cc" else "prog.cpp"
    lines = [f"Usage: quern {name} [OPTION]... SOURCE...",
             "",
             "Compiles and links sources whose functions are tasks by '#pragma omp task' or '#pragma css task' before their",
             f"declarations. All options of the compiler are accepted: quern {name} -O2 {source} -o prog. docs/pragmas.md.",
             "", "Options:"]
    return "\n".join(lines + [f"  {word:14}{about}" for word, about in OWN.items()])


def main(words):
    """Runs a subcommand; returns its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")
    words = [word for word in words if not word.startswith("--quern:")]  # settings of the runtime, which compiles nothing
    name, words = words[0], words[1:]
    if "--help" in words:
        print(help_text(name))
        return 0
    try:
        return Driver(LANGUAGES[name], words).main()
    except Mistake as mistake:
        print(mistake, file=sys.stderr)
        return USAGE
    except CompilerFailed as failed:
        if str(failed):
            print(f"quern {name}: {failed}", file=sys.stderr)
        return failed.status if failed.status > 0 else FAILURE
    except OSError as error:
        where = f"'{error.filename}': " if error.filename else ""
        print(f"quern {name}: {where}{error.strerror}", file=sys.stderr)
        return FAILURE
