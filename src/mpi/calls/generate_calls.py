#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes the definitions of MPI's functions, as one C++ source, for the MPI library whose preprocessed mpi.h is read:
each MPI_X calls next::X, which is PMPI_X or a tool's MPI_X (interposed.hpp), in the way that its kind in functions.txt
asks for. The header has the declarations of these.
Usage: generate_calls.py <functions.txt> <preprocessed mpi.h> <source> <header>"""

import re
import sys

SKIPPED = re.compile(r"T_|.*_(c2f|f2c|f082c|c2f08|f082f|f2f08)$")

PROTOTYPE = re.compile(r"\bint\s+PMPI_(\w+)\s*\(([^;{()]*)\)\s*(?:__attribute__[^;]*)?;")


# Open MPI's: the twin is called by the function <name> of an object of <class> (corrected_calls.hpp).
CORRECTED = {
    "Neighbor_alltoall": ("corrected_neighbours", "alltoall"),
    "Neighbor_alltoallv": ("corrected_neighbours", "alltoallv"),
    "Neighbor_alltoallw": ("corrected_neighbours", "alltoallw"),
    "Alltoallv": ("corrected_exchange", "alltoallv"),
}


def read_kinds(path):
    """{name: (kind, twin or "")} of functions.txt."""
    kinds, kind = {}, ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.partition("#")[0].strip()
            if line.startswith("["):
                kind = line.strip("[]")
                continue
            for word in line.split():
                name, _, twin = word.partition("=")
                kinds[name] = (kind, twin)
    return kinds


def base_of(name):
    return name[:-2] if name.endswith("_c") else name


def parameters(text):
    """[(declaration, name)] of a parameter list."""
    text = " ".join(text.split())
    if text in ("void", ""):
        return []
    found = []
    for number, each in enumerate(text.split(",")):
        declaration = each.strip()
        if re.fullmatch(r"(const )?\w+|.*\*", declaration):  # it has no name
            declaration += f" argument{number}"
        name = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", declaration)
        found.append((declaration, name.group(1)))
    return found


def note_of(args):
    """The fields of call_note that the arguments give."""
    names = {name: declaration for declaration, name in args}
    # A pointer of that name is a result, as in MPI_Status_get_source, and no peer.
    names = {name: declaration for name, declaration in names.items() if name not in ("dest", "source", "root") or "*" not in declaration}
    fields = []
    if "dest" in names:
        fields += [".is_sent = true", ".peer = dest"]
    elif "source" in names:
        fields.append(".peer = source")
    elif "root" in names:
        fields.append(".peer = root")
    for field, accepted in (("tag", ("tag",)), ("count", ("count",)), ("type", ("datatype",)), ("comm", ("comm",))):
        for name in accepted:
            if name in names and "*" not in names[name] and "[" not in names[name]:
                fields.append(f".{field} = {name}")
    if "*" in names.get("message", ""):
        fields.append(".message = *message")
    return ", ".join(fields)


def origin_of(args):
    """The communicator from which a function makes another one, and that one; or None."""
    given = [name for declaration, name in args if re.fullmatch(r"MPI_Comm \w+", declaration)]
    made = [name for declaration, name in args if re.fullmatch(r"MPI_Comm ?\* ?\w+", declaration)]
    return (given[0], made[-1]) if given and made else None


def call(name, args, more=()):
    return f"next::{name}({', '.join([n for _, n in args] + list(more))})"


def split_status(args):
    """The arguments before a status at the end, and the name of that or None."""
    if args and "MPI_Status" in args[-1][0]:
        return args[:-1], args[-1][1]
    return args, None


class Call:
    """The definition of one function."""

    def __init__(self, name, args, kind, twin, corrected=None):
        self.name, self.args, self.kind, self.twin, self.corrected = name, args, kind, twin, corrected
        base = base_of(name)
        self.direct = call(name, args)
        if origin_of(args) and "dup" not in base:  # of a duplicate MPI itself copies the number
            whom = "all_members" if kind.endswith("all members") else "some"
            self.direct = f"has_made({', '.join(origin_of(args))}, made_by::{whom}, {self.direct})"
        if base in ("Comm_free", "Comm_disconnect"):
            self.direct = f"free_known({args[0][1]}, next::{name})"
        if re.fullmatch(r"Win_(create|allocate|create_dynamic|allocate_shared)", base):
            self.direct = f"window_made({self.direct})"
        if base == "Win_free":
            self.direct = f"window_freed({self.direct})"
        self.before, self.after = "return ", ";"
        if base in ("Comm_dup", "Comm_dup_with_info"):
            self.before, self.after = f"return has_duplicated({origin_of(args)[1]}, ", ");"
        self.head = f'int MPI_{name}({", ".join(d for d, _ in args) or "void"}) {{'
        self.static = f'    static constexpr call_kind kind{{"MPI_{name}"}};'
        self.run_direct = f"[&] {{ return {self.direct}; }}"

    def note(self, *more):
        fields = [".kind = &kind.wait"] + ([note_of(self.args)] if note_of(self.args) else []) + list(more)
        return f"{{{', '.join(fields)}}}"

    def way(self):
        return f".way = message_way::{'received' if 'receive' in self.kind else 'sent'}"

    def unless_shared(self, how):
        return f"    if (!is_shared()) {{ {self.before}{how}{self.after} }}"

    def ends(self, run, *words):
        return f"    {self.before}{run}({', '.join(words)}){self.after}"

    def post(self):
        leading, status = split_status(self.args)
        return f"    auto post = [&](MPI_Request* made) {{ return {call(self.twin, leading, ['made'])}; }};", status or "MPI_STATUS_IGNORE"

    # The kinds: the lines of the body. "send", "receive":

    def message(self):
        post, status = self.post()
        return [self.unless_shared(self.direct), self.static, post,
                self.ends("run_message", self.note(self.way()), "post", status)]

    def collective(self):
        post, status = self.post()
        kept = []
        if self.corrected:
            kept = [f"    {self.corrected[0]} corrected;"]
            post = post.replace(f"next::{self.twin}(", f"corrected.{self.corrected[1]}(")
        note = self.note(".is_collective = true")
        return [self.static, *kept, post, self.unless_shared(f"run_alone({note}, post)"), self.ends("run_twin", note, "post", status)]

    def file(self):
        post, status = self.post()
        file = self.args[0][1]
        note = self.note(f".file = {file}")
        which = "file_collective" if self.kind == "file collective" else "file"
        return [self.static, post, self.ends(f"run_{which}", note, "post", self.run_direct, status)]

    def start(self):
        request = self.args[-1][1]
        is_message = self.kind != "begin collective"
        note = self.note(self.way() if is_message else ".is_collective = true")
        run = "run_message_start" if is_message else "run_collective_start"
        return [f"    if (!is_shared() && !is_watched()) {{ return {self.direct}; }}", self.static,
                f"    if (!is_shared()) {{ return start_alone({note}, {self.run_direct}, {request}); }}",
                self.ends(run, note, self.run_direct, request)]

    def persistent(self):
        return [self.static, self.ends("run_persistent", self.note(self.way()), self.run_direct, "request")]

    def other(self, run):
        return [self.unless_shared(self.direct), self.static, self.ends(run, self.note(), self.run_direct)]

    def body(self):
        kind = self.kind
        if kind in ("send", "receive"):
            return self.message()
        if kind == "collective":
            return self.collective()
        if kind.startswith("file"):
            return self.file()
        if kind.startswith("begin"):
            return self.start()
        if kind.startswith("persistent"):
            return self.persistent()
        if kind == "local":
            return self.other("run_plain")
        if kind == "handler":
            return [f"    auto get = [&] {{ restore_errors({self.args[0][1]}); return {self.direct}; }};", self.unless_shared("get()"),
                    self.static, self.ends("run_plain", self.note(), "get")]
        if kind == "callback":
            return ["    expect_callbacks();"] + self.other("run_plain")
        if kind == "not followed":
            return [f'    note_unknown_call("MPI_{self.name}");'] + self.other("run_plain")
        return self.other("run_access" if kind == "access" else "run_blocking")

    def text(self):
        if self.kind == "direct":
            return f"{self.head} return {self.direct}; }}"
        return "\n".join([self.head, *self.body(), "}"])


def kind_of(name, kinds, known):
    """Its kind, and its twin in this library. One whose library has no twin waits."""
    kind, twin = kinds.get(base_of(name), ("waits", ""))
    if twin:
        twin += "_c" if name.endswith("_c") else ""
        if twin not in known:
            return "waits", ""
    return kind, twin


def next_calls(names):
    """The lines of the header that declares next::X, those that define it, and those that list the functions of the layer."""
    declared = ["// Generated by generate_calls.py. For each of MPI's functions the one that this layer calls (interposed.hpp).",
                "#pragma once", "", "#include <mpi.h>", "", "#pragma GCC diagnostic push", '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"',
                "namespace quern::mpi::detail::next {"]
    declared += [f"extern decltype(&PMPI_{name}) {name};" for name in names] + ["}", "#pragma GCC diagnostic pop"]
    defined = ["namespace quern::mpi::detail::next {"]
    defined += [f"constinit decltype(&PMPI_{name}) {name} = PMPI_{name};" for name in names] + ["}"]
    listed = ["std::span<const layer_function> quern::mpi::detail::layer_functions() noexcept {",
              "    static const layer_function k_all[] = {"]
    listed += [f'        {{"MPI_{name}", &next::{name}, reinterpret_cast<void*>(&MPI_{name})}},' for name in names]
    return declared, defined, listed + ["    };", "    return k_all;", "}"]


def main():
    kinds = read_kinds(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        text = re.sub(r"^#.*$", "", file.read(), flags=re.MULTILINE)
    known = {name: parameters(args) for name, args in PROTOTYPE.findall(text) if "..." not in args}
    if "Send" not in known:
        sys.exit("generate_calls.py: this mpi.h declares no PMPI_Send")
    defined = {name: args for name, args in sorted(known.items()) if not SKIPPED.match(name) and kind_of(name, kinds, known)[0] != "left out"}
    header, pointers, table = next_calls(defined)
    is_openmpi = "ompi_communicator_t" in text
    out = ["// Generated by generate_calls.py. MPI's functions, each by its kind.", '#include "calls/calls.hpp"', '#include "calls/corrected_calls.hpp"',
           '#include "interface/attach_mpi.hpp"', '#include "library/fortran.hpp"', '#include "library/interposed.hpp"',
           '#include "library/windows.hpp"', '#include "messages/find_channel.hpp"', '#include "notes/communicators.hpp"', "",
           '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"', "", *pointers, "", "using namespace quern::mpi::detail;", "", "namespace {",
           "[[maybe_unused]] const bool g_attached = attach_mpi();", "[[maybe_unused]] const bool g_has_tool = find_next_calls();",
           "[[maybe_unused]] const bool g_has_fortran = take_fortran_calls();", "}", "",
           'extern "C" {']
    for name, args in defined.items():
        kind, twin = kind_of(name, kinds, known)
        if kind != "own":
            out.append(Call(name, args, kind, twin, CORRECTED.get(name) if is_openmpi else None).text())
    out += ["}", "", *table]
    for path, lines in zip(sys.argv[3:5], (out, header)):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


main()
