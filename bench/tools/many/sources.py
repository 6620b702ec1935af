# SPDX-License-Identifier: BSL-1.0
"""The sources in a bundle, and the build of Quern's library from them with the compilers of the machine it runs on: says whether
another compiler accepts them. Measures nothing."""

import os
import re
import shutil
import subprocess
import tarfile
import tempfile

import machine
from kit import mistakes

ARCHIVE = "sources.tar.gz"
LAST_LINES = 20  # of a failed command: enough for a compiler's error
COMPILERS = ("g++", "clang++")


def _said(*command, **how):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **how)
    return done.returncode, done.stdout.strip()


def archive(build, folder):
    """Puts the commit of a build's sources into a bundle. Returns lines for the user."""
    home = machine.first(os.path.join(build, "CMakeCache.txt"), r"^CMAKE_HOME_DIRECTORY:[A-Z]+=(.+)$", "")
    if not home:
        raise mistakes.Mistake(f"the sources are not carried: {build} has no CMakeCache.txt that names them")
    status, said = _said("git", "-C", home, "archive", "-o", os.path.abspath(os.path.join(folder, ARCHIVE)), "HEAD")
    if status != 0:
        raise mistakes.Mistake(f"the sources in {home} are not carried: {said}")
    changed = _said("git", "-C", home, "status", "--porcelain", "--untracked-files=no")[1]
    return ["sources: the last commit" + (", without the changes since then" if changed else "")]


def build(bundle, jobs, limit):
    """Builds the library once with each compiler of this machine. Prints what happens; returns whether all succeeded, None if
    this machine cannot build."""
    path = os.path.join(bundle.folder, ARCHIVE)
    if not os.path.exists(path):
        raise mistakes.Mistake(f"{bundle.name} carries no sources: pack it with --sources")
    compilers = [name for name in COMPILERS if shutil.which(name)]
    missing = [what for what, there in (("cmake", shutil.which("cmake")), ("ninja or make", _generator()),
                                        (" or ".join(COMPILERS), compilers)) if not there]
    if missing:
        print(f"nothing is built: this machine has no {', no '.join(missing)}", flush=True)
        return None
    with tempfile.TemporaryDirectory(prefix="many-build-") as place:
        with tarfile.open(path) as sources:
            sources.extractall(os.path.join(place, "source"))
        return all([_build_with(compiler, place, jobs, limit) for compiler in compilers])


def _generator():
    return next((name for program, name in (("ninja", "Ninja"), ("make", "Unix Makefiles")) if shutil.which(program)), None)


def _build_with(compiler, place, jobs, limit):
    version = _said(compiler, "--version")[1].splitlines()[0]
    folder = os.path.join(place, compiler)
    off = [f"-DQUERN_BUILD_{part}=OFF" for part in ("TESTS", "APPS", "TOOLS", "BENCH")] + ["-DQUERN_WITH_HWLOC=OFF"]
    commands = (["cmake", "-S", os.path.join(place, "source"), "-B", folder, "-G", _generator(), "-DCMAKE_BUILD_TYPE=Release",
                 f"-DCMAKE_CXX_COMPILER={compiler}", *off],
                ["cmake", "--build", folder, "-j", str(jobs), "--target", "quern"])
    for command in commands:
        try:
            status, said = _said(*command, timeout=limit)
        except subprocess.TimeoutExpired:
            print(f"{version}: not ended in {limit} s", flush=True)
            return False
        if status != 0:
            last = "\n".join("    " + line for line in said.splitlines()[-LAST_LINES:])
            print(f"{version}: failed\n  {' '.join(command)}\n{last}", flush=True)
            return False
    warnings = len(re.findall(r"\bwarning:", said))
    print(f"{version}: builds the library, {warnings} warnings", flush=True)
    return True
