# SPDX-License-Identifier: BSL-1.0
"""Finds the subcommand and turns errors into one message and an exit status, as `quern` does: 2 for a mistake of the user, 1
for a failure."""

import signal
import sys

from .grain import command as grain
from .kit.mistakes import Mistake, accepted_values
from .quern import Quern

FAILURE, USAGE = 1, 2
SETTING = "--quern:"  # begins an option of the runtime, which any program of Quern accepts
SUBCOMMANDS = {"grain": grain.run}


def act_as_a_program_of_the_system():
    """Ctrl-C and a closed pipe end it without a traceback; bytes that are not UTF-8 are printed unchanged."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="surrogateescape")


def without_settings(words):
    """(settings of the runtime, everything else). All words after "--" belong to the program."""
    end = words.index("--") if "--" in words else len(words)
    settings = [word for word in words[:end] if word.startswith(SETTING)]
    return settings, [word for word in words[:end] if not word.startswith(SETTING)] + words[end:]


def main(path, words):
    """Runs a subcommand; returns its exit status. `path` is that of `quern`."""
    act_as_a_program_of_the_system()
    settings, words = without_settings(words)
    try:
        name = words[0] if words else ""
        if name not in SUBCOMMANDS:
            raise Mistake(f"quern: unknown subcommand '{name}'; {accepted_values(name, list(SUBCOMMANDS))}")
        return SUBCOMMANDS[name](Quern(path, settings), words[1:])
    except Mistake as mistake:
        print(f"{mistake}\nTry 'quern --help'.", file=sys.stderr)
        return USAGE
    except OSError as error:
        where = f"'{error.filename}': " if error.filename else ""
        print(f"quern: {where}{error.strerror}", file=sys.stderr)
        return FAILURE
    except RuntimeError as error:
        print(f"quern: {error}", file=sys.stderr)
        return FAILURE
