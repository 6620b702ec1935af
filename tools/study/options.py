# SPDX-License-Identifier: BSL-1.0
"""The command line of a study: a table of options, their help in the form of the other subcommands of `quern`, and mistakes
with the nearest match. argparse supports neither that form nor the begin of the studied program's arguments."""

import re
from dataclasses import dataclass

from .kit.mistakes import Mistake, accepted_values

HELP_COLUMN = 30  # characters before the explanations, as in the help of the other subcommands


@dataclass(frozen=True)
class Option:
    """`--name VALUE`, or a switch if there is no type."""
    name: str
    help: str
    type: str = ""
    fallback: object = None
    shows_fallback: bool = False


@dataclass(frozen=True)
class Asked:
    """A parsed command line: values by name without dashes; `given` are the options that appeared in it."""
    values: dict
    given: set
    program: list  # and its arguments
    wants_help: bool = False


class CommandLine:
    def __init__(self, name, about, options, footer):
        self.name, self._about, self._footer = name, about, footer
        self._options = {option.name: option for option in options}

    def help(self):
        lines = [("-h,--help", "Print this help message and exit")]
        for option in self._options.values():
            shown = f"={option.fallback}" if option.shows_fallback else ""
            lines.append((f"{option.name} {option.type}{shown}".rstrip(), option.help))
        text = "".join(f"  {left:{HELP_COLUMN - 2}}{right}\n" for left, right in lines)
        return (f"{self._about}\nUsage: {self.name} [OPTIONS] [program...]\n\nPositionals:\n"
                f"  program -- PROGRAM ARGUMENT... ...\n{'':{HELP_COLUMN}}The program and its arguments, behind --\n\n"
                f"Options:\n{text}\n{self._footer}")

    def parse(self, words):
        """Parses the words after the subcommand. Words that are not options belong to the program."""
        values = {name.lstrip("-"): option.fallback for name, option in self._options.items()}
        given, program, unknown = set(), [], []
        words = list(words)
        while words:
            word = words.pop(0)
            name, equals, value = word.partition("=")
            option = self._options.get(name)
            if word == "--":
                program += words
                break
            if word in ("-h", "--help"):
                return Asked(values, given, program, wants_help=True)
            if option is None:
                (unknown if word.startswith("-") else program).append(word)
                continue
            values[name.lstrip("-")] = self._value_of(option, equals, value, words)
            if name in given:
                raise Mistake(f"{self.name}: {name} stands there twice; accepted: once")
            given.add(name)
        self._refuse(unknown, program)
        return Asked(values, {name.lstrip("-") for name in given}, program)

    def _value_of(self, option, equals, value, words):
        if not option.type:
            if equals:
                raise Mistake(f"{self.name}: {option.name} takes no value, and was given '{value}'")
            return True
        if not equals:
            if not words or words[0] == "--":
                raise Mistake(f"{self.name}: {option.name} needs a value: {option.name} {option.type}")
            value = words.pop(0)
        return value

    def _refuse(self, unknown, program):
        """Without "--", options of the program are parsed as options of the study; so the message mentions both."""
        if unknown:
            word = unknown[0].partition("=")[0]
            hint = f"; options of the program belong behind '--': {self.name} OPTION... -- PROGRAM ARGUMENT..." if program else ""
            raise Mistake(f"{self.name}: unknown option '{unknown[0]}'; "
                          f"{accepted_values(word, ['--help', *self._options])}{hint}")


def seconds(command, option, text):
    """The value of an option that is a duration; 0 if it is not given."""
    if text == "":
        return 0.0
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?|\.[0-9]{1,9}", text) or float(text) == 0:
        raise Mistake(f"{command}: {option} is '{text}'; accepted: seconds, a number above 0 such as 30 or 0.5")
    return float(text)


def whole_number(command, option, text, least, most):
    """The value of an option that counts."""
    if not re.fullmatch("[0-9]{1,18}", str(text)) or not least <= int(text) <= most:
        raise Mistake(f"{command}: {option} is '{text}'; accepted: a whole number from {least} to {most}")
    return int(text)
