// SPDX-License-Identifier: BSL-1.0
// The signals of a crashing program: delivery, one report at a time, and their effect afterwards.
// Everything below on_signal runs in a signal handler: no locks, no heap. A program that would have
// died must never survive or hang: a fault in the report ends it at once, and a report that takes
// too long is abandoned.
#include <quern/scheduler/crash_handler.hpp>

#include "diagnosis/crashes/crash_parts.hpp"
#include "runtime/exit_action_parts.hpp"

#include <quern/base/detail/config.hpp>
#include <quern/base/detail/symbols.hpp>
#include <quern/settings/settings.hpp>

#include <ucontext.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <mutex>

namespace quern {

namespace detail {

namespace {

/// Bytes for the report: two lines of text, and 70 KiB to demangle a name of 1000 characters.
constexpr std::size_t k_signal_stack = 256 * 1024;

constexpr unsigned k_longest_report = 60;  // seconds (guessed)

constexpr std::array k_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// The previous action of each signal. Written once, before the handlers are installed.
std::array<struct sigaction, k_signals.size()> before;

/// The reporting thread, or 0.
std::atomic<pid_t> reporter{0};
std::atomic<bool> reported{false};

/// Taken by the first thread that installs the handler and has no signal stack.
alignas(std::max_align_t) std::array<char, k_signal_stack> first_signal_stack;
std::atomic<bool> first_signal_stack_taken{false};

#if defined(__x86_64__)
const void* instruction_of(const ucontext_t& machine) noexcept {
    return reinterpret_cast<const void*>(machine.uc_mcontext.gregs[REG_RIP]);
}
const void* stack_of(const ucontext_t& machine) noexcept {
    return reinterpret_cast<const void*>(machine.uc_mcontext.gregs[REG_RSP]);
}
void step_back_to_caller(ucontext_t& machine) noexcept {
    greg_t& sp = machine.uc_mcontext.gregs[REG_RSP];
    machine.uc_mcontext.gregs[REG_RIP] = *reinterpret_cast<const greg_t*>(sp) - 1;
    sp += static_cast<greg_t>(sizeof(greg_t));
}
#elif defined(__aarch64__)
const void* instruction_of(const ucontext_t& machine) noexcept {
    return reinterpret_cast<const void*>(machine.uc_mcontext.pc);
}
const void* stack_of(const ucontext_t& machine) noexcept {
    return reinterpret_cast<const void*>(machine.uc_mcontext.sp);
}
void step_back_to_caller(ucontext_t& machine) noexcept {
    constexpr int k_link_register = 30;
    machine.uc_mcontext.pc = machine.uc_mcontext.regs[k_link_register] - 1;
}
#endif

void give_signals_back() noexcept {
    for (std::size_t i = 0; i < k_signals.size(); ++i) {
        ::sigaction(k_signals[i], &before[i], nullptr);
    }
}

void say(std::string_view words) noexcept { write_text(STDERR_FILENO, fixed_text().add(words)); }

void give_up_report(int) {
    say("quern: the report takes too long: given up\n");
    std::signal(SIGABRT, SIG_DFL);
    ::raise(SIGABRT);
}

/// With a time limit: the heap's lock may be held by a thread that waits for this one.
void report_in_time(const fault& what) noexcept {
    struct sigaction limit {};
    struct sigaction program {};
    limit.sa_handler = give_up_report;
    ::sigaction(SIGALRM, &limit, &program);
    const unsigned left = ::alarm(k_longest_report);
    write_crash_report(what);
    ::alarm(left);
    ::sigaction(SIGALRM, &program, nullptr);
}

void wait_for_other_report() noexcept {
    constexpr long k_millisecond = 1'000'000;
    while (!reported.load(std::memory_order_acquire)) {  // pairs with on_signal
        const timespec pause{0, k_millisecond};
        ::nanosleep(&pause, nullptr);
    }
}

void on_signal(int signal, siginfo_t* info, void* machine_state) {
    const int program_errno = errno;
    auto& machine = *static_cast<ucontext_t*>(machine_state);
    const mcontext_t interrupted = machine.uc_mcontext;
    const fault what{signal, *info, machine, instruction_of(machine), stack_of(machine)};
    const pid_t me = ::gettid();
    pid_t who = 0;
    if (reporter.compare_exchange_strong(who, me, std::memory_order_relaxed)) {  // exclusion only
        report_in_time(what);
        say_what_is_lost("the program has crashed");
        machine.uc_mcontext = interrupted;
        give_signals_back();
        reported.store(true, std::memory_order_release);  // pairs with wait_for_other_report
    } else if (who == me) {
        say("quern: a fault within the report, which ends here\n");
        give_signals_back();
    } else {
        wait_for_other_report();
    }
    if (!what.is_synchronous()) {
        ::raise(signal);
    }
    errno = program_errno;  // a synchronous fault happens again and then has its previous effect
}

bool has_signal_stack() noexcept {
    stack_t present{};
    return ::sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0;
}

void use_signal_stack(char* low, std::size_t size) noexcept {
    stack_t wanted{};
    wanted.ss_sp = low;
    wanted.ss_size = size;
    ::sigaltstack(&wanted, nullptr);
}

bool sanitizer_reports() noexcept { return k_asan || k_tsan; }

}  // namespace

const void* first_known_call(const fault& what) noexcept {
    if (what.is_synchronous() && what.info.si_addr == what.instruction && what.signal == SIGSEGV) {
        step_back_to_caller(what.machine);
    }
    return instruction_of(what.machine);
}

void lend_signal_stack(const stack_span& of_thread) noexcept {
    if (of_thread.low == nullptr || sanitizer_reports() || has_signal_stack()) {
        return;
    }
    const auto whole = static_cast<std::size_t>(of_thread.top - of_thread.low);
    use_signal_stack(of_thread.low, std::min(k_signal_stack, whole / 2));
}

}  // namespace detail

bool install_crash_handler() {
    using namespace detail;
    if (current_settings().at("crash-report").text == "off" || sanitizer_reports()) {
        return false;
    }
    if (!has_signal_stack() &&
        !first_signal_stack_taken.exchange(true, std::memory_order_relaxed)) {
        use_signal_stack(first_signal_stack.data(), first_signal_stack.size());
    }
    static std::once_flag once;
    std::call_once(once, [] {
        prepare_symbols();
        struct sigaction ours {};
        ours.sa_sigaction = on_signal;
        ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        for (std::size_t i = 0; i < k_signals.size(); ++i) {
            ::sigaction(k_signals[i], nullptr, &before[i]);
        }
        for (const int each : k_signals) {
            ::sigaction(each, &ours, nullptr);
        }
    });
    return true;
}

}  // namespace quern
