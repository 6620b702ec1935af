# SPDX-License-Identifier: BSL-1.0
"""`quern cc` and `quern c++`: preprocess, translate, compile, link."""

import json
import os
import shlex
import subprocess
import sys
import tempfile

from .mistakes import Mistake
from .options import C, CPP, Options
from .preprocess import OWN_HEADER, CompilerFailed, Unit, run, search_folders
from .translate import Translation


def build_options():
    """Where Quern's headers and libraries are, as its build or installation says, and the folder that this is relative to."""
    path = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "pragmas.json")
    if not os.path.exists(path):
        raise Mistake(f"where Quern's headers and libraries are is not known: there is no '{path}'; it is installed with Quern")
    with open(path, encoding="utf-8") as file:
        return json.load(file), os.path.dirname(path)


class Driver:
    """One command line."""

    def __init__(self, language, words):
        self.options = Options(language, words)
        self.words = words
        self.settings, self.folder = build_options()
        usual = os.environ.get("CXX" if language == CPP else "CC") or ("c++" if language == CPP else "cc")
        self.compiler = shlex.split(self.options.compiler or usual)
        self.mpi = self.settings.get("mpi", {}).get(self.options.mpi) if self.options.mpi else None
        if self.options.mpi and self.mpi is None:
            raise Mistake(f"--mpi {self.options.mpi}: this Quern was built without it")

    def absolute(self, path):
        return path if os.path.isabs(path) or path.startswith("-") else os.path.normpath(os.path.join(self.folder, path))

    def call(self, command):
        if self.options.verbose:
            print(shlex.join(command), file=sys.stderr)
        status = subprocess.call(command)
        if status != 0:
            raise CompilerFailed(status, "")

    def main(self):
        options = self.options
        if not options.sources:
            if options.stop or not options.objects:
                self.call([*self.compiler, *self.words])  # -v, --version, an assembler source: the compiler's own
                return 0
            return self.link([], options.objects)
        with tempfile.TemporaryDirectory(prefix="quern-cc-") as scratch:
            made = [self.compile(path, language, scratch, index) for index, (path, language) in enumerate(options.sources)]
            if options.stop is None:
                self.link(made, options.objects)
        return 0

    # -- steps ------------------------------------------------------------------------------------

    def includes(self):
        folders = [self.absolute(each) for each in self.settings["include"]]
        mpi = self.mpi["compile"] if self.mpi else []
        return [word for each in folders for word in ("-isystem", each)] + mpi

    def preprocess(self, path, language):
        flags = [*self.options.flags, *self.includes()]
        dependencies = list(self.options.dependencies)
        if dependencies and self.options.output and "-MT" not in dependencies and "-MQ" not in dependencies:
            dependencies += ["-MT", self.options.output]
        if dependencies and "-MF" not in dependencies and self.options.stop:
            dependencies += ["-MF", os.path.splitext(self.output_of(path))[0] + ".d"]
        command = [*self.compiler, "-x", language, "-E", "-dD", *flags, *dependencies, "-include", OWN_HEADER, path]
        if self.options.verbose:
            print(shlex.join(command), file=sys.stderr)
        return run(command, f"preprocessing {path}")

    def output_of(self, path):
        if self.options.output is not None and self.options.stop is not None:
            return self.options.output
        endings = {"-c": ".o", "-S": ".s", "-E": ".i"}
        return os.path.splitext(os.path.basename(path))[0] + endings.get(self.options.stop, ".o")

    def compile(self, path, language, scratch, index):
        """Returns the object."""
        stem = os.path.splitext(os.path.basename(path))[0]
        output = self.output_of(path) if self.options.stop else os.path.join(scratch, f"{index}-{stem}.o")
        folders = search_folders(self.compiler, language) + [os.path.abspath(each) for each in self.options.system_folders()]
        unit = Unit(path, self.preprocess(path, language), sorted(folders, key=len, reverse=True))
        translation = Translation(unit, self.compiler, language, self.options.reading())
        text = translation.result()
        ending = ".quern.i" if language == C else ".quern.ii"
        translated = os.path.join(scratch, f"{index}-{stem}{ending}")
        if self.options.keep:
            translated = os.path.join(os.path.dirname(self.output_of(path) if self.options.stop else self.options.output or ""),
                                      stem + ending)
        with open(translated, "wb") as file:
            file.write(text)
        if self.options.stop == "-E":
            if self.options.output:
                with open(self.options.output, "wb") as file:
                    file.write(text)
            else:
                sys.stdout.buffer.write(text)
            return output
        flags = [*self.options.flags]
        if any("clang" in os.path.basename(word) for word in self.compiler):
            flags.append("-Qunused-arguments")  # it warns of -I and -D for what is preprocessed
        if translation.is_needed:
            source = ["-x", "cpp-output" if language == C else "c++-cpp-output", translated]
        else:
            source = ["-x", language, path]
            flags += self.mpi["compile"] if self.mpi else []
        self.call([*self.compiler, *flags, self.options.stop or "-c", *source, "-o", output])
        return output

    def link(self, made, objects):
        output = ["-o", self.options.output] if self.options.output else []
        first = [self.absolute(each) for each in (self.mpi["link"] if self.mpi else [])]
        last = [self.absolute(each) for each in self.settings["link"] + (self.mpi["last"] if self.mpi else [])]
        # Quern's own objects begin before the program's, whose constructors may add tasks.
        archives = [word for word in last if word.endswith(".a")]
        begin = ["-Wl,--undefined=quern_task_add", *archives] if made else []
        self.call([*self.compiler, *self.options.flags, *output, *begin, *made, *objects, *first, *last])
        return 0
