# SPDX-License-Identifier: BSL-1.0
"""Commands of gdb for programs that use Quern. A suspended task has a stack but no thread, so gdb alone does not show it.

    (gdb) source tools/gdb/quern.py
    (gdb) quern tasks        the waiting tasks and coroutines: name, pool, what for, where they were made
    (gdb) quern bt 2         the calls of the second of them; `quern bt all` shows those of all

Works on running programs, and on core files written by the kernel where code keeps frame pointers (gdb's own gcore omits stacks
with guard regions). Needs Quern's debug information (build it with -g); x86-64 only. Reads only, except for the registers of
the selected thread, which it restores.
"""

import gdb

# Offsets in the saved frame of a suspended stack: src/context/switch_x86_64.S.
FRAME = {"r15": 8, "r14": 16, "r13": 24, "r12": 32, "rbx": 40, "rbp": 48, "rip": 56}
FRAME_SIZE = 64
CENSUS = "'quern::detail::(anonymous namespace)::g_census'"
MOST_FRAMES = 200


def loaded(atomic):
    """The value of a std::atomic of libstdc++, of a pointer or a number, or of quern's relaxed<>."""
    kind = atomic.type.strip_typedefs()
    names = [field.name for field in kind.fields()]
    if "m_value" in names:
        return loaded(atomic["m_value"])
    if "_M_b" in names:
        return atomic["_M_b"]["_M_p"]
    if "_M_i" in names:
        return atomic["_M_i"]
    return loaded(atomic[kind.fields()[0]])  # atomic<number> derives from the class that holds it


def text_at(pointer):
    """The text that a const char* points to; empty for null and for unmapped memory."""
    try:
        return pointer.string(errors="replace") if int(pointer) else ""
    except gdb.MemoryError:
        return ""


def place_of(address):
    """Function, file and line of a code address, as far as known."""
    function = gdb.execute(f"info symbol {address - 1:#x}", to_string=True).split(" + ")[0].split(" in section")[0].strip()
    function = hex(address) if function.startswith("No symbol") else function
    line = gdb.find_pc_line(address - 1)
    if line.symtab is None:
        return function
    if "/include/" not in line.symtab.filename:
        return f"{function} at {line.symtab.filename}:{line.line}"
    block = gdb.block_for_pc(address - 1)  # an inlined function of a library: its caller's line
    while block is not None and (block.function is None or "/include/" in block.function.symtab.filename):
        block = block.superblock
    return f"{function}, which begins at {block.function.symtab.filename}:{block.function.line}" if block else function


def word(address):
    return int.from_bytes(gdb.selected_inferior().read_memory(address, 8).tobytes(), "little")


def without_arguments(function):
    """A function's name up to the parenthesis of its last parameter list."""
    depth = 0
    for at in range(function.rfind(")"), -1, -1):
        depth += (function[at] == ")") - (function[at] == "(")
        if depth == 0:
            return function[:at]
    return function


class Waiting:
    """A task or a coroutine that waits."""

    what = "task"

    def __init__(self, pool, note, name, site):
        self.pool = pool
        self.kind = text_at(loaded(note["m_kind"])["name"])
        self.thing = int(loaded(note["m_thing"]))
        self.name = text_at(name)
        self.site = int(site)

    def line(self):
        text = self.what + (f" '{self.name}'" if self.name else "")
        text += f" of pool '{self.pool}' waits for {self.kind}" + (f" {self.thing:#x}" if self.thing else "")
        return text + (f"\n     made in {place_of(self.site)}" if self.site else "")


class WaitingTask(Waiting):
    def __init__(self, pool, context):
        root = context
        while int(loaded(root["m_below"])):
            root = loaded(root["m_below"]).dereference()
        task = loaded(root["m_task"]).dereference()
        super().__init__(pool, context["waits"], loaded(task["name"]), loaded(task["site"]))
        self.sp = int(context["m_sp"])

    def calls(self):
        return backtrace(self.sp)


class WaitingCoroutine(Waiting):
    """A waiting coroutine of which a pool has a note."""

    what = "coroutine"

    def __init__(self, pool, note):
        who = loaded(note["who"])
        super().__init__(pool, note["wait"], who["name"], who["site"])
        self.resumes = word(int(loaded(note["frame"])))

    def line(self):
        return f"{super().line()}\n     waits in {self.place()}"

    def place(self):
        """The coroutine's function; the compiler has added arguments to its name."""
        function, at, line = place_of(self.resumes + 1).partition(" at ")
        return without_arguments(function) + at + line

    def calls(self):
        return f"no calls: a coroutine that waits has no stack; it goes on in {self.place()}\n"


def each_pool():
    try:
        head = gdb.parse_and_eval(CENSUS)["pools"]["m_head"]
    except gdb.error as error:
        raise gdb.GdbError(f"quern: no debug information of Quern in this program ({error})")
    entry_type = gdb.lookup_type("quern::detail::pool_entry").pointer()
    link = head["next"]
    while link != head.address:
        yield link.cast(entry_type)["which"].referenced_value()
        link = link["next"]


def waiting_coroutines(pool, name):
    """The waiting coroutines that have a note: at most 64 for each worker."""
    first = gdb.Value(word(int(pool["coroutines"]["m_notes"].address))).cast(
        gdb.lookup_type("quern::detail::coroutine_note").pointer())
    found = []
    for number in range(int(pool["coroutines"]["m_size"])):
        note = first[number]
        if int(loaded(note["who"])) and int(loaded(note["wait"]["m_kind"])):
            found.append(WaitingCoroutine(name, note))
    return found


def all_waiting():
    found = []
    for pool in each_pool():
        name = text_at(pool["m_name"]["_M_dataplus"]["_M_p"])
        context = loaded(pool["m_youngest"])
        while int(context):
            if int(loaded(context["waits"]["m_kind"])):
                found.append(WaitingTask(name, context.dereference()))
            context = context["m_made_before"]
        found += waiting_coroutines(pool, name)
    return found


def by_registers(sp):
    """The calls as gdb finds them: the selected thread gets the task's registers for a moment."""
    changed = {name: word(sp + offset) for name, offset in FRAME.items()}
    changed["rsp"] = sp + FRAME_SIZE
    gdb.newest_frame().select()
    before = {name: int(gdb.parse_and_eval(f"(unsigned long)${name}")) for name in changed}
    try:
        for name in ("rsp", "rbp", "rbx", "r12", "r13", "r14", "r15", "rip"):
            gdb.execute(f"set ${name} = {changed[name]:#x}", to_string=True)
        return gdb.execute(f"backtrace {MOST_FRAMES}", to_string=True)
    finally:
        for name in ("rip", "r15", "r14", "r13", "r12", "rbx", "rbp", "rsp"):
            gdb.execute(f"set ${name} = {before[name]:#x}", to_string=True)


def by_frame_pointers(sp):
    """The calls as far as code keeps frame pointers: registers cannot be set in a core file."""
    lines = [f"#0  {place_of(word(sp + FRAME['rip']))}"]
    frame = word(sp + FRAME["rbp"])
    while len(lines) < MOST_FRAMES:
        try:
            caller, address = word(frame), word(frame + 8)
        except gdb.MemoryError:
            break
        if address == 0:
            break
        lines.append(f"#{len(lines):<2} {place_of(address)}")
        if caller <= frame:
            break
        frame = caller
    return "\n".join(lines) + "\n"


def backtrace(sp):
    if gdb.selected_frame().architecture().name() != "i386:x86-64":
        raise gdb.GdbError("quern: stacks of tasks can be read only on x86-64")
    live = gdb.execute("info inferiors", to_string=True).find("core") < 0 and gdb.selected_thread() is not None
    if live:
        try:
            return by_registers(sp)
        except gdb.error as error:
            if "without a process" not in str(error):
                raise
    return by_frame_pointers(sp)


class QuernCommand(gdb.Command):
    """The waiting tasks and coroutines of Quern: `quern tasks`, `quern bt NUMBER`, `quern bt all`."""

    def __init__(self):
        super().__init__("quern", gdb.COMMAND_STACK, prefix=True)


class TasksCommand(gdb.Command):
    """Lists the waiting tasks and coroutines, and what they wait for."""

    def __init__(self):
        super().__init__("quern tasks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        found = all_waiting()
        print("nothing waits" if not found else f"{len(found)} {'waits' if len(found) == 1 else 'wait'}:")
        for number, each in enumerate(found, 1):
            print(f"  #{number} {each.line()}")


class BacktraceCommand(gdb.Command):
    """Shows the calls of one waiting task, by its number in `quern tasks`, or of all."""

    def __init__(self):
        super().__init__("quern bt", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        found = all_waiting()
        if not found:
            raise gdb.GdbError("quern: nothing waits")
        if argument == "all":
            numbers = range(1, len(found) + 1)
        elif argument.isdigit() and 1 <= int(argument) <= len(found):
            numbers = [int(argument)]
        else:
            raise gdb.GdbError(f"quern: '{argument}' is no task; accepted: a number from 1 to {len(found)}, or all")
        for number in numbers:
            print(f"#{number} {found[number - 1].line()}")
            print(found[number - 1].calls())


QuernCommand()
TasksCommand()
BacktraceCommand()
