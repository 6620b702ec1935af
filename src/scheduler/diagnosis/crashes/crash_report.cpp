// SPDX-License-Identifier: BSL-1.0
// The text of a crash report. Symbol-free parts first, so even a badly damaged process reports
// something. Runs in a signal handler (crash_handler.cpp).
#include "diagnosis/crashes/crash_parts.hpp"
#include "diagnosis/waits/report_parts.hpp"

#include <quern/base/detail/symbols.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/record_copy.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace quern::detail {

namespace {

constexpr int k_file = STDERR_FILENO;
constexpr std::uint64_t k_kib = 1024;

struct signal_text {
    int signal;
    int code;  ///< k_any matches every code
    std::string_view text;
};

constexpr int k_any = -1000;  // not used by any system

/// The first matching row counts.
constexpr signal_text k_signal_texts[] = {
    {SIGSEGV, SEGV_MAPERR, "SIGSEGV, there is no memory"},
    {SIGSEGV, SEGV_ACCERR, "SIGSEGV, the memory must not be accessed in this way"},
    {SIGSEGV, k_any, "SIGSEGV"},
    {SIGBUS, BUS_ADRALN, "SIGBUS, the address is not aligned"},
    {SIGBUS, BUS_ADRERR, "SIGBUS, there is nothing behind the mapped memory"},
    {SIGBUS, k_any, "SIGBUS"},
    {SIGFPE, FPE_INTDIV, "SIGFPE, an integer was divided by zero"},
    {SIGFPE, k_any, "SIGFPE"},
    {SIGILL, k_any, "SIGILL, an instruction that does not exist, or a trap"},
    {SIGABRT, SI_TKILL, "SIGABRT, abort() was called"},
    {SIGABRT, k_any, "SIGABRT"},
};

std::string_view text_of(const fault& what) noexcept {
    const auto* const row =
        std::find_if(std::begin(k_signal_texts), std::end(k_signal_texts), [&](const auto& each) {
            return each.signal == what.signal &&
                   (each.code == k_any || each.code == what.info.si_code);
        });
    return row != std::end(k_signal_texts) ? row->text : "a signal";
}

struct victim {
    context* here;   ///< the context of the running stack, or null
    bool in_region;  ///< on a spare thread
    bool in_task;    ///< not between two tasks

    static victim find() noexcept {
        if (context* const here = current_context()) {
            return {here, false, here->host().stats().phase() == worker_phase::running};
        }
        context* const lent = spare_thread_context();
        return {lent, lent != nullptr, lent != nullptr};
    }
};

bool is_overflow(const fault& what, const context* here) noexcept {
    const bool at_address = what.signal == SIGSEGV || what.signal == SIGBUS;
    return here != nullptr && at_address && what.is_synchronous() &&
           (is_in_guard(here->span(), what.info.si_addr) || is_in_guard(here->span(), what.stack));
}

void add_task(fixed_text& text, const task_description& task) noexcept {
    if (const char* const name = task.name) {
        text.add("task '");
        for (const char* at = name; *at != '\0'; ++at) {
            const bool is_control = static_cast<unsigned char>(*at) < ' ' || *at == '\x7f';
            text.add(is_control ? std::string_view("?") : std::string_view(at, 1));
        }
        text.add("'");
    } else {
        text.add("a task without a name");
    }
    if (const std::uint64_t id = task.id) {
        text.add(" (id ").add(id).add(")");
    }
}

void add_stack_class(fixed_text& text, stack_class size) noexcept {
    text.add("stack of ").add(stack_bytes(size) / k_kib).add(" KiB (class ");
    text.add(k_stack_class_names[static_cast<std::size_t>(size)]).add(")");
}

void write_headline(const fault& what, context* here) noexcept {
    fixed_text text;
    text.add("\nquern: crash: ");
    if (is_overflow(what, here)) {
        add_task(text, *record_copy(*here));
        text.add(" has overflowed its ");
        add_stack_class(text, here->size());
    } else {
        text.add(text_of(what));
        if (what.is_synchronous()) {
            const bool in_code = what.signal == SIGFPE || what.signal == SIGILL;
            text.add(in_code ? ", in the code at " : " at ").add_address(what.info.si_addr);
        } else if (what.info.si_code == SI_USER) {
            text.add(", sent by process ").add(static_cast<std::uint64_t>(what.info.si_pid));
        }
    }
    write_text(k_file, text.add("\n"));
}

void write_advice(stack_class too_small) noexcept {
    if (too_small == stack_class::large) {
        write_text(k_file,
                   fixed_text().add("  there is no larger class: does the recursion end? What "
                                    "goes through the runtime gets fresh stacks\n"));
        return;
    }
    const auto next = k_stack_class_names[static_cast<std::size_t>(too_small) + 1];
    fixed_text text;
    text.add("  unless the recursion has no end, a larger one helps: .stack = quern::stack_class::")
        .add(next)
        .add(" in the task's attributes, or --quern:stack=")
        .add(next)
        .add(" for all tasks\n");
    write_text(k_file, text);
}

void write_worker(const victim& who) noexcept {
    fixed_text text;
    if (who.here == nullptr) {
        text.add("  on a thread that is no worker\n");
    } else if (who.in_region) {
        text.add("  in a blocking_region, on a spare thread of pool '");
        text.add(who.here->host().home().name()).add("'\n");
    } else {
        const worker_status& host = who.here->host();
        text.add("  on worker ").add(std::uint64_t{host.rank()}).add(" of pool '");
        text.add(host.home().name()).add("'\n");
    }
    write_text(k_file, text);
}

void write_stack_use(const fault& what, const context& here) noexcept {
    fixed_text text;
    text.add("  ");
    add_stack_class(text, here.size());
    const auto* const sp = static_cast<const char*>(what.stack);
    if (sp >= here.span().low && sp < here.span().top) {
        const auto used = static_cast<std::uint64_t>(here.span().top - sp);
        text.add(", ").add((used + k_kib - 1) / k_kib).add(" KiB of it used");
    }
    std::uint64_t full = 0;
    for (const context* c = here.below(); c != nullptr; c = c->below()) {
        ++full;
    }
    if (full != 0) {
        text.add("; it has filled ").add(full).add(" before");
    }
    write_text(k_file, text.add("\n"));
}

void write_task(const fault& what, const victim& who) noexcept {
    if (!who.in_task) {
        write_text(k_file, fixed_text().add("  between two tasks\n"));
        return;
    }
    context& here = *who.here;
    if (is_overflow(what, &here)) {
        write_advice(here.size());
        return;
    }
    fixed_text text;
    text.add("  in ");
    add_task(text, *record_copy(here));
    write_text(k_file, text.add("\n"));
    write_stack_use(what, here);
}

/// Where the task was created, or its function.
void write_origin(const task_description& task, spelling_of_names how) noexcept {
    fixed_text text;
    if (const void* const site = task.site) {
        text.add("  made in ");
        add_site(text, site, how);
    } else if (const work::run_function entry = task.entry) {
        text.add("  made for ");
        add_entry(text, reinterpret_cast<const void*>(entry), how);
    } else {
        return;
    }
    write_text(k_file, text.add("\n"));
}

/// The tasks inside which it runs inline, innermost first. Their records lie on a stack that may be
/// damaged.
void write_outer(const task_description& innermost, spelling_of_names how) noexcept {
    constexpr int k_most = 16;
    record_copy copy;
    const task_description* at = innermost.outer;
    for (int i = 0; i < k_most && at != nullptr && at != &g_creator_aside && copy.take(at); ++i) {
        task_description& task = *copy;
        shown_name name;
        copy_text(task.name, name);
        task.name = name.front() != '\0' ? name.data() : nullptr;
        fixed_text text;
        text.add("  in the place of ");
        add_task(text, task);
        write_text(k_file, text.add(", which waits for it\n"));
        write_origin(task, how);
        at = task.outer;
    }
    if (at == &g_creator_aside) {
        write_text(k_file, fixed_text().add("  inlined into its parent\n"));
    }
}

}  // namespace

void write_crash_report(const fault& what) noexcept {
    const victim who = victim::find();
    write_headline(what, who.here);
    write_worker(who);
    if (who.here != nullptr) {
        write_task(what, who);
    }
    const call_stack calls = call_stack::here(first_known_call(what));
    // A crash inside the heap may hold its lock.
    const auto how =
        calls.is_in_heap() ? spelling_of_names::as_linked : spelling_of_names::demangled;
    if (who.in_task) {
        record_copy task(*who.here);
        write_origin(*task, how);
        write_outer(*task, how);
    }
    write_text(k_file, fixed_text().add(calls.size() != 0 ? "  calls, the youngest first:\n"
                                                          : "  the calls cannot be found\n"));
    calls.write(k_file, how);
    if (const std::string_view why = why_no_lines(); !why.empty()) {
        write_text(k_file, fixed_text().add("  no lines are known: ").add(why).add("\n"));
    }
}

}  // namespace quern::detail
