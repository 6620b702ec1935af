# SPDX-License-Identifier: BSL-1.0
"""The command line of a compiler, as far as the front end must know it: which words are sources, and which take another word."""

import os

from .mistakes import Mistake, accepted

C, CPP = "c", "c++"
LANGUAGES = {".c": C, ".cc": CPP, ".cpp": CPP, ".cxx": CPP, ".c++": CPP, ".C": CPP, ".cp": CPP, ".CPP": CPP}
FORTRAN = (".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08", ".F", ".F77", ".F90", ".F95", ".F03", ".F08", ".FOR")
TAKES_WORD = {"-I", "-D", "-U", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix",
              "-iwithprefixbefore", "-isysroot", "-imultilib", "-L", "-l", "-MF", "-MT", "-MQ", "-Xlinker", "-Xassembler",
              "-Xpreprocessor", "-Xclang", "-z", "-T", "-u", "-e", "-arch", "--param", "-aux-info", "-A", "-specs", "-wrapper"}
DEPENDENCIES = {"-M", "-MM", "-MD", "-MMD", "-MG", "-MP"}
DEPENDENCY_WORDS = {"-MF", "-MT", "-MQ"}
MPI = ("openmpi", "mpich")
OWN = {"--keep": "leaves the translated source beside the output",
       "--compiler": "the compiler, cc or c++ otherwise",
       "--mpi": "openmpi or mpich: blocking calls of MPI in tasks suspend them",
       "--verbose": "shows the commands",
       "--help": "shows this text"}


class Options:
    """The words of one command line."""

    def __init__(self, language, words):
        self.language = language
        self.sources = []   # (path, language)
        self.objects = []   # other inputs and libraries, in their order
        self.flags = []     # for every step
        self.dependencies = []
        self.output = None
        self.stop = None    # "-c", "-S" or "-E"
        self.keep = self.verbose = self.help = False
        self.compiler = None
        self.mpi = None
        self._forced = None
        words = list(words)
        while words:
            self._word(words.pop(0), words)
        if self.output is not None and self.stop is not None and len(self.sources) > 1:
            raise Mistake(f"-o {self.output} with {self.stop} and {len(self.sources)} sources; accepted: one source, or no -o")

    def _next(self, word, words):
        if not words:
            raise Mistake(f"{word} needs another word behind it")
        return words.pop(0)

    def _word(self, word, words):
        if word in ("-c", "-S", "-E"):
            self.stop = word
        elif word == "-o":
            self.output = self._next(word, words)
        elif word.startswith("-o") and len(word) > 2:
            self.output = word[2:]
        elif word == "-x" or word.startswith("-x") and len(word) > 2:
            self._force(self._next(word, words) if word == "-x" else word[2:])
        elif word.split("=")[0] in OWN:
            self._own(word, words)
        elif word.startswith("--") and word.split("=")[0] not in ("--param", "--sysroot", "--std", "--coverage", "--version"):
            raise Mistake(f"quern cc: unknown option '{word}'; {accepted(word, OWN)}; a compiler's own begin with one dash")
        elif word in DEPENDENCY_WORDS:
            self.dependencies += [word, self._next(word, words)]
        elif word in DEPENDENCIES or word[:3] in DEPENDENCY_WORDS:
            self.dependencies.append(word)
        elif word in TAKES_WORD:
            pair = [word, self._next(word, words)]
            (self.objects if word in ("-l", "-L", "-Xlinker", "-z", "-T", "-u", "-e") else self.flags).extend(pair)
        elif word.startswith(("-l", "-L", "-Wl,")):
            self.objects.append(word)
        elif word.startswith("-"):
            self.flags.append(word)
        else:
            self._input(word)

    def _force(self, language):
        if language not in (C, CPP, "none"):
            raise Mistake(f"-x {language}; accepted: c, c++, none")
        self._forced = None if language == "none" else language

    def _own(self, word, words):
        name, equals, value = word.partition("=")
        if name in ("--keep", "--verbose", "--help"):
            setattr(self, name[2:], True)
            return
        value = value if equals else self._next(word, words)
        if name == "--compiler":
            self.compiler = value
        else:
            if value not in MPI:
                raise Mistake(f"--mpi {value}; {accepted(value, MPI)}")
            self.mpi = value

    def _input(self, word):
        ending = os.path.splitext(word)[1]
        if self._forced is None and ending in FORTRAN:
            raise Mistake(f"'{word}' is Fortran, which this front end cannot read; accepted: C and C++; a Fortran program can call "
                          "task functions that are written in C, through interfaces with bind(c)")
        language = self._forced or LANGUAGES.get(ending)
        if language is None:
            self.objects.append(word)
        else:
            self.sources.append((word, CPP if self.language == CPP else language))

    def reading(self):
        """What libclang must know of the flags: the dialect, the machine, further folders of system headers."""
        kept, words = [], list(self.flags)
        while words:
            word = words.pop(0)
            if word in TAKES_WORD:
                value = words.pop(0)
                if word in ("-isystem", "-idirafter", "-isysroot"):
                    kept += [word, value]
            elif word.startswith(("-std=", "-m", "-ansi", "-fsigned-char", "-funsigned-char")) and word != "-march=native":
                kept.append(word)
        return kept

    def system_folders(self):
        return [value for word, value in zip(self.flags, self.flags[1:]) if word == "-isystem"]
