# SPDX-License-Identifier: BSL-1.0
"""Builds of revisions for bench/compare. A revision is checked out below build/compare and stays there with its build, so that
a second comparison is fast; `.` is the working tree itself. The rest of the repository is not touched.

    one = resolve(root, "main", ["-DQUERN_WITH_HWLOC=OFF"]); build(one, jobs=2)   # then one.folder has the programs
"""

import hashlib
import os
import subprocess
from dataclasses import dataclass

from kit import mistakes

PROGRAMS = ["bench-quern", "bench-serial"]
LAST_LINES = 20  # of a failed command: enough for a compiler's error


@dataclass
class Revision:
    name: str      # as the user wrote it
    commit: str    # its hash; of a working tree with changes it ends in -dirty
    source: str
    options: list  # of CMake
    folder: str    # the build directory

    def __str__(self):
        return f"{self.name} ({', '.join([self.commit, *self.options])})"

    def record(self):
        """For the JSON."""
        return {"revision": self.name, "commit": self.commit, "cmake": self.options, "build": self.folder}


def _run(command, folder):
    """Output of a command; throws Mistake with its last lines when it fails."""
    try:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
    except OSError as error:
        raise mistakes.Mistake(f"cannot run {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        last = "\n".join("    " + line for line in done.stdout.splitlines()[-LAST_LINES:])
        raise mistakes.Mistake(f"this failed in {folder} with status {done.returncode}:\n  {' '.join(command)}\n{last}")
    return done.stdout.strip()


def _commit(root, name):
    """The whole hash of a revision."""
    found = subprocess.run(["git", "-C", root, "rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"],
                           capture_output=True, text=True, check=False)
    if found.returncode != 0:
        known = _run(["git", "for-each-ref", "--format=%(refname:short)"], root).split()
        raise mistakes.Mistake(f"'{name}' is no revision of {root}; accepted: whatever names a commit for git, and . for the working "
                      f"tree{mistakes.hint(name, known)}")
    return found.stdout.split()[-1]


def _check_out(root, name):
    """(folder, short hash) of a revision, checked out."""
    commit = _commit(root, name)
    short = commit[:12]
    folder = os.path.join(root, "build", "compare", short)
    if not os.path.exists(os.path.join(folder, ".git")):
        # --force: git may still list a working tree there that was removed with the build directory.
        _run(["git", "worktree", "add", "--quiet", "--force", "--detach", folder, commit], root)
    changes = _run(["git", "status", "--porcelain", "--untracked-files=no"], folder)
    if changes or _run(["git", "rev-parse", "HEAD"], folder) != commit:
        raise mistakes.Mistake(f"{folder} is no longer what was checked out; remove it with: git worktree remove --force {folder}")
    return folder, short


def resolve(root, name, options):
    """The Revision of a name, checked out. Other options are another build of the same source."""
    if name == ".":
        source, commit = root, _run(["git", "describe", "--always", "--dirty"], root)
    else:
        source, commit = _check_out(root, name)
    build_name = "bench"
    if options:
        build_name += "-" + hashlib.sha256("\0".join(options).encode()).hexdigest()[:8]
    return Revision(name, commit, source, options, os.path.join(source, "build", build_name))


def build(revision, jobs):
    """Configures and builds the programs to compare; up-to-date ones stay."""
    if not os.path.exists(os.path.join(revision.folder, "build.ninja")):
        _run(["cmake", "--preset", "bench", "-B", revision.folder, "--log-level=NOTICE", *revision.options], revision.source)
    _run(["cmake", "--build", revision.folder, "-j", str(jobs), "--target", *PROGRAMS], revision.source)
