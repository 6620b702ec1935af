# SPDX-License-Identifier: BSL-1.0
"""Bundles: the programs of a build, the shared libraries that they need except glibc's, this script, and bundle.json, which says
what they are. A bundle has the form of a build directory, so that choosing.offered() reads it.

    pack(build, "new.tar.xz", ["quern", "tbb"]); with opened("new.tar.xz") as one: one.folder
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass

import choosing
import machine
from kit import mistakes
from many import rows, sources

HEAD = "bundle.json"
HEAD_KEYS = {"built", "arch", "glibc", "programs", "libraries", "problems"}
ARCHIVES = (".tar.xz", ".tar.gz", ".tar")
MIB = 2**20
OF_GLIBC = re.compile(r"^(ld-linux.*|lib(c|m|mvec|pthread|dl|rt|resolv|util|anl|nsl|BrokenLocale|thread_db))\.so")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SCRIPT = ("bench/many", "bench/tools", "tools/study/__init__.py", "tools/study/kit")


@dataclass
class Bundle:
    """A bundle in a folder. `side` is "A" or "B"."""
    name: str
    side: str
    folder: str
    head: dict  # bundle.json

    def environment(self):
        """Variables that its programs need to find its libraries."""
        return choosing.library_path(os.path.join(self.folder, "lib"))

    def __str__(self):
        return f"{self.side} = {self.name} (commit {self.head['built'].get('commit', 'unknown')})"


def pack(build, output, runtimes, with_sources, most_mib):
    """Writes a bundle to a folder or an archive. Returns the lines that say what it did."""
    programs = _programs(build, runtimes)
    suffix = next((s for s in ARCHIVES if output.endswith(s)), None)
    if not os.path.isdir(os.path.dirname(output) or "."):
        raise mistakes.Mistake(f"{output}: there is no folder {os.path.dirname(output)}")
    if os.path.exists(output) and not (suffix and os.path.isfile(output)):
        raise mistakes.Mistake(f"{output} exists; remove it, or choose another name")
    with tempfile.TemporaryDirectory() as place:
        folder = os.path.join(place, os.path.basename(output)[:-len(suffix)]) if suffix else output
        lines = _fill(folder, build, programs, with_sources)
        size = _size(folder)
        if suffix:
            with tarfile.open(output, "w:" + suffix[5:]) as archive:
                archive.add(folder, os.path.basename(folder))
            size = os.path.getsize(output)
    lines.append(f"{output}: {size / MIB:.1f} MiB")
    if size > most_mib * MIB and suffix:
        os.remove(output)
        raise mistakes.Mistake(f"{output} has {size / MIB:.1f} MiB, more than {most_mib}; leave runtimes out by --runtimes, or "
                               "raise --most-mib")
    if size > most_mib * MIB:
        lines.append(f"that is more than {most_mib} MiB; an archive such as {output}.tar.xz is smaller")
    return lines


def _programs(build, runtimes):
    """Paths in the build; bench-quern must be there."""
    if "quern" not in runtimes:
        raise mistakes.Mistake("--runtimes without quern; it is what the bundle is for")
    found = [os.path.join("bench", "bin", f"bench-{runtime}") for runtime in runtimes]
    found += [entry["command"].split()[0] for entry in rows.APPLICATIONS.values()]
    found = [path for path in found if os.path.exists(os.path.join(build, path))]
    if os.path.join("bench", "bin", "bench-quern") not in found:
        raise mistakes.Mistake(f"no {build}/bench/bin/bench-quern: build it with scripts/build-preset bench")
    return found


def _fill(folder, build, programs, with_sources):
    libraries, lines = {}, []
    for path in programs:
        place = os.path.join(folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        _copy_stripped(os.path.join(build, path), place)
        libraries.update(_libraries(os.path.join(build, path)))
    os.makedirs(os.path.join(folder, "lib"), exist_ok=True)
    for name, path in libraries.items():
        _copy_stripped(path, os.path.join(folder, "lib", name))
    for part in SCRIPT:
        _copy_script(os.path.join(ROOT, part), os.path.join(folder, part))
    built = machine.describe(build)
    if with_sources:
        lines += sources.archive(build, folder)
    files = [os.path.join(folder, p) for p in programs] + [os.path.join(folder, "lib", name) for name in libraries]
    head = {"built": built, "arch": _architecture(build), "glibc": newest_glibc(files), "programs": programs,
            "libraries": sorted(libraries), "problems": choosing.forms(None, full=True)}
    with open(os.path.join(folder, HEAD), "w", encoding="utf-8") as file:
        json.dump(head, file, indent=1)
    lines.append(f"programs: {', '.join(os.path.basename(p) for p in programs)}; commit {built['commit']}")
    lines.append(f"libraries: {', '.join(sorted(libraries)) or 'none'}")
    lines.append(f"needs glibc {head['glibc'] or 'of any version'} and a processor of -march={head['arch']}")
    if head["arch"] == "native":
        lines.append("built only for this processor: configure with -DQUERN_BENCH_ARCH=x86-64-v3 for programs that travel")
    return lines


def _architecture(build):
    return machine.first(os.path.join(build, "CMakeCache.txt"), r"^QUERN_BENCH_ARCH:[A-Z]+=(.+)$", "native")


def _is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def _copy_stripped(path, place):
    shutil.copy(path, place)
    if _is_elf(place) and shutil.which("strip"):
        os.chmod(place, 0o755)
        subprocess.run(["strip", "--strip-unneeded", place], check=False, capture_output=True)


def _copy_script(path, place):
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if os.path.isdir(path):
        shutil.copytree(path, place, ignore=shutil.ignore_patterns("__pycache__", "test_*", "*.css"))
    else:
        shutil.copy(path, place)


def _libraries(program):
    """{name: path} of the shared libraries that a program loads, without glibc's."""
    if not _is_elf(program):
        return {}
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    found = {}
    for name, path in re.findall(r"^\s*(\S+) => (not found|\S+)", said, re.MULTILINE):
        if path == "not found":
            raise mistakes.Mistake(f"{program} needs {name}, which is not found here")
        if not OF_GLIBC.match(name):
            found[name] = path
    return found


def newest_glibc(files):
    """The newest version of glibc that a program or library asks for, "2.34"; empty: none does."""
    asked = set()
    for path in files:
        with open(path, "rb") as file:
            asked |= set(re.findall(rb"\0GLIBC_(\d+)\.(\d+)", file.read())) if _is_elf(path) else set()
    return ".".join(map(str, max((int(a), int(b)) for a, b in asked))) if asked else ""


def _size(folder):
    return sum(os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(folder) for name in names)


@contextlib.contextmanager
def opened(path, side):
    """The Bundle of a folder or an archive; an archive is unpacked until the end of the block."""
    if os.path.isdir(path):
        yield _read(path, side, path)
    elif os.path.isfile(path):
        with tempfile.TemporaryDirectory(prefix="many-") as place:
            yield _read(path, side, _unpacked(path, place))
    else:
        beside = os.listdir(os.path.dirname(path) or ".") if os.path.isdir(os.path.dirname(path) or ".") else []
        raise mistakes.Mistake(f"{path}: there is no such bundle{mistakes.hint(os.path.basename(path), sorted(beside))}")


def _unpacked(path, place):
    try:
        with tarfile.open(path) as archive:
            members = archive.getmembers()
            for member in members:
                if member.name.startswith("/") or ".." in member.name.split("/") or not (member.isreg() or member.isdir()):
                    raise mistakes.Mistake(f"{path}: {member.name} does not belong into a bundle")
            archive.extractall(place, members)
    except mistakes.Mistake:
        raise
    except Exception as error:  # of the decompressors, each has its own
        said = (str(error).splitlines() or ["damaged"])[0].rstrip(":")
        raise mistakes.Mistake(f"{path} is no archive that this Python reads ({said}); unpack it with tar, and name the folder") \
            from error
    folders = os.listdir(place)
    return os.path.join(place, folders[0]) if len(folders) == 1 else place


def _read(path, side, folder):
    try:
        with open(os.path.join(folder, HEAD), encoding="utf-8") as file:
            head = json.load(file)
        if not isinstance(head, dict) or not HEAD_KEYS <= head.keys():
            raise ValueError("no head")
        return Bundle(path, side, folder, head)
    except (OSError, ValueError) as error:
        raise mistakes.Mistake(f"{path} is no bundle: it has no readable {HEAD}; bench/many pack makes one") from error
