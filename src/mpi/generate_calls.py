#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes the definitions of MPI's functions, as one C++ source, for the MPI library whose preprocessed mpi.h is read:
each MPI_X calls PMPI_X, in the way that its kind asks for. Usage: generate_calls.py <preprocessed mpi.h> <output>

A function is blocking with a twin if the library has one named MPI_Ix with the same arguments and a request. The other kinds
are listed below; what no list names enters MPI and returns at once."""

import re
import sys

# Defined by hand in own_calls.cpp, exchanges.cpp, persistent_calls.cpp and environment.cpp.
OWN = """Init Init_thread Finalize Abort Wait Waitall Waitany Waitsome Test Testall Testany Testsome Request_get_status
Request_free Start Startall Probe Mprobe Iprobe Improbe Sendrecv Sendrecv_replace Sendrecv_c Sendrecv_replace_c""".split()

# Read what belongs to the caller or never changes; called from any thread without the entrance.
DIRECT = """Initialized Finalized Query_thread Is_thread_main Get_version Get_library_version Get_processor_name Error_class
Error_string Comm_rank Comm_size Comm_remote_size Comm_test_inter Type_size Type_size_x Type_get_extent Get_count
Get_elements Get_elements_x Get_address Address Status_set_cancelled Status_set_elements Status_set_elements_x Test_cancelled
Pcontrol Group_rank Group_size Comm_compare""".split()

# May wait for other ranks and have no twin.
BLOCKING = """Buffer_detach Comm_accept Comm_connect Comm_disconnect Comm_spawn Comm_spawn_multiple Comm_join Comm_create
Comm_create_group Comm_create_from_group Comm_dup_with_info Comm_split Comm_split_type Comm_free Intercomm_create
Intercomm_create_from_groups Intercomm_merge Cart_create Cart_sub Graph_create Dist_graph_create Dist_graph_create_adjacent
Session_finalize""".split()
BLOCKING_PREFIX = ("Win_create", "Win_allocate", "Win_free", "Win_fence", "Win_lock", "Win_unlock", "Win_start", "Win_complete",
                   "Win_wait", "Win_flush", "File_")

# Pass one message each. Those that begin with I do not wait.
SENT = "Send Ssend Bsend Rsend Isend Issend Ibsend Irsend".split()
RECEIVED = "Recv Mrecv Irecv Imrecv".split()
# Make a persistent request of a message.
PERSISTENT = "Send_init Ssend_init Bsend_init Rsend_init Recv_init".split()
# The other functions with a twin are collective: a blocking and a non-blocking collective call do not match each other, so
# all ranks use the twin, those without a runtime too.

# Make a communicator from another one, all of whose members must call them (has_made in communicators.hpp).
MADE_BY_ALL = """Comm_create Comm_split Comm_split_type Cart_create Cart_sub Graph_create Dist_graph_create
Dist_graph_create_adjacent""".split()
# Their messages are not followed: afterwards the rank is never taken for stuck.
NOT_FOLLOWED = "Isendrecv Isendrecv_replace Psend_init".split()

SKIPPED = re.compile(r"T_|.*_(c2f|f2c|f082c|c2f08|f082f|f2f08)$|Pcontrol$")

PROTOTYPE = re.compile(r"\bint\s+PMPI_(\w+)\s*\(([^;{()]*)\)\s*(?:__attribute__[^;]*)?;")


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
    return f"PMPI_{name}({', '.join([n for _, n in args] + list(more))})"


def twin_of(name, args, known):
    """The twin, its leading arguments, and the name of the status argument or None."""
    base, suffix = (name[:-2], "_c") if name.endswith("_c") else (name, "")
    twin = known.get("I" + base[0].lower() + base[1:] + suffix) or known.get(base.replace("Comm_dup", "Comm_idup"))
    if twin is None or base.startswith("I"):
        return None
    status = args[-1][1] if args and "MPI_Status" in args[-1][0] else None
    leading = args[:-1] if status else args
    if len(twin[1]) != len(leading) + 1 or "MPI_Request" not in twin[1][-1][0]:
        return None
    return twin[0], leading, status


def starts_collective(base, args, known):
    """Whether it is the non-blocking form of a collective function."""
    return (base.startswith("I") and base[1:2].isalpha() and base[1].upper() + base[2:] in known and args
            and "MPI_Request" in args[-1][0] and base not in SENT + RECEIVED + NOT_FOLLOWED)


def definition(name, args, known):
    base = name[:-2] if name.endswith("_c") else name
    head = f'int MPI_{name}({", ".join(d for d, _ in args) or "void"}) {{'
    direct = call(name, args)
    if origin_of(args) and "dup" not in base:  # of a duplicate MPI itself copies the number
        whom = "all_members" if base in MADE_BY_ALL else "some"
        direct = f"has_made({', '.join(origin_of(args))}, made_by::{whom}, {direct})"
    if base in ("Comm_free", "Comm_disconnect"):
        direct = f"free_known({args[0][1]}, PMPI_{name})"
    if base in DIRECT:
        return f"{head} return {direct}; }}"
    kind = f'    static constexpr call_kind kind{{"MPI_{name}"}};'
    twin = twin_of(name, args, known)
    passes = "sent" if base in SENT else "received" if base in RECEIVED else None
    is_collective = twin is not None and passes is None
    is_received = base in RECEIVED or base == "Recv_init"
    is_start = twin is None and (passes or starts_collective(base, args, known))
    fields = [".kind = &kind.wait"] + ([note_of(args)] if note_of(args) else [])
    if passes or base in PERSISTENT:
        fields.append(f".way = message_way::{'received' if is_received else 'sent'}")
    if is_collective or is_start and not passes:
        fields.append(".is_collective = true")
    note = f"{{{', '.join(fields)}}}"
    if base in PERSISTENT:
        return f"{head}\n{kind}\n    return run_persistent({note}, [&] {{ return {direct}; }}, request);\n}}"
    lines = [head]
    if base in NOT_FOLLOWED:
        lines.append(f'    note_unknown_call("MPI_{name}");')
    before, after = "return ", ";"
    if base in ("Comm_dup", "Comm_dup_with_info"):
        before, after = f"return has_duplicated({origin_of(args)[1]}, ", ");"
    if is_start:
        request = args[-1][1]
        lines.append(f"    if (!is_shared() && !is_watched()) {{ return {direct}; }}")
        lines.append(kind)
        lines.append(f"    if (!is_shared()) {{ return start_alone({note}, [&] {{ return {direct}; }}, {request}); }}")
        run = "run_message_start" if passes else "run_collective_start"
        lines.append(f"    return {run}({note}, [&] {{ return {direct}; }}, {request});")
        return "\n".join(lines + ["}"])
    if not is_collective:
        lines.append(f"    if (!is_shared()) {{ {before}{direct}{after} }}")
    lines.append(kind)
    if twin is not None:
        post, leading, status = twin
        lines.append(f"    auto post = [&](MPI_Request* made) {{ return {call(post, leading, ['made'])}; }};")
        if is_collective:
            lines.append(f"    if (!is_shared()) {{ {before}run_alone({note}, post){after} }}")
        run = "run_message" if passes else "run_twin"
        lines.append(f"    {before}{run}({note}, post, {status or 'MPI_STATUS_IGNORE'}){after}")
    else:
        blocks = base in BLOCKING or base.startswith(BLOCKING_PREFIX)
        run = "run_blocking" if blocks else "run_plain"
        lines.append(f"    {before}{run}({note}, [&] {{ return {direct}; }}){after}")
    return "\n".join(lines + ["}"])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = re.sub(r"^#.*$", "", file.read(), flags=re.MULTILINE)
    known = {name: (name, parameters(args))
             for name, args in PROTOTYPE.findall(text) if "..." not in args}
    if "Send" not in known:
        sys.exit("generate_calls.py: this mpi.h declares no PMPI_Send")
    out = ["// Generated by generate_calls.py. MPI's functions, each by its kind.", '#include "calls.hpp"', '#include "communicators.hpp"', '#include "pools.hpp"',
           "",
           '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"', "", "using namespace quern::mpi::detail;", "", "namespace {",
           "[[maybe_unused]] const bool g_attached = attach_mpi();", "}", "",
           'extern "C" {']
    for name, (_, args) in sorted(known.items()):
        if name not in OWN and not SKIPPED.match(name):
            out.append(definition(name, args, known))
    out.append("}")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


main()
