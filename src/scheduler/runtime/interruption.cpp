// SPDX-License-Identifier: BSL-1.0
// SIGINT and SIGTERM while exit actions exist. The handler returns both signals to the system, so
// that a second one ends the process at once, and wakes a waiting thread. That thread performs the
// exit actions while workers may still run. Then it sends the signal again, which ends the process
// as it would have done. For SIGABRT there is only time for one line.
//
// The thread sleeps on one word, the only one that the handler accesses.
#include "runtime/exit_action_parts.hpp"

#include <quern/base/detail/atomics.hpp>
#include <quern/scheduler/detail/process_registry.hpp>

#include <pthread.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <utility>

namespace quern::detail {

namespace {

constexpr std::uint32_t k_no_thread = 0, k_waits = 1000, k_ends = 1001;

/// The thread's order, or the signal that it is handling.
constinit std::atomic<std::uint32_t> g_order{k_no_thread};
constinit std::atomic<pid_t> g_process{0};  ///< the process that has the thread; a child of a
                                            ///< fork() has none
constinit std::thread* g_thread = nullptr;  ///< under the lock exit_actions

void on_interruption(int signal);
void on_abort(int signal);

struct taken_signal {
    int number;
    void (*handler)(int);
};
constexpr std::array k_taken = {taken_signal{SIGINT, on_interruption},
                                taken_signal{SIGTERM, on_interruption},
                                taken_signal{SIGABRT, on_abort}};

bool is_handled_by(void (*handler)(int), int signal) noexcept {
    struct sigaction present {};
    return ::sigaction(signal, nullptr, &present) == 0 && (present.sa_flags & SA_SIGINFO) == 0 &&
           present.sa_handler == handler;
}

void handle(int signal, void (*handler)(int)) noexcept {
    struct sigaction wanted {};
    wanted.sa_handler = handler;
    wanted.sa_flags = SA_RESTART;
    sigemptyset(&wanted.sa_mask);
    ::sigaction(signal, &wanted, nullptr);
}

void give_signals_back() noexcept {
    for (const taken_signal& each : k_taken) {
        if (is_handled_by(each.handler, each.number)) {
            handle(each.number, SIG_DFL);
        }
    }
}

void unblock(int signal) noexcept {
    sigset_t these;
    sigemptyset(&these);
    sigaddset(&these, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &these, nullptr);
}

/// Ends the process by the signal's default action; called in a handler.
void end_by(int signal) noexcept {
    handle(signal, SIG_DFL);
    unblock(signal);
    ::raise(signal);
}

void on_interruption(int signal) {
    const int program_errno = errno;
    give_signals_back();
    std::uint32_t expected = k_waits;
    if (g_process.load(std::memory_order_relaxed) == ::getpid() &&
        g_order.compare_exchange_strong(expected, static_cast<std::uint32_t>(signal),
                                        std::memory_order_release,  // pairs with await_order
                                        std::memory_order_relaxed)) {
        std_atomics::futex_wake(g_order, 1);
    } else {
        end_by(signal);
    }
    errno = program_errno;
}

void on_abort(int signal) {
    say_what_is_lost("the program aborts");
    end_by(signal);
}

std::uint32_t await_order() noexcept {
    for (;;) {
        const std::uint32_t order = g_order.load(std::memory_order_acquire);
        if (order != k_waits) {
            return order;
        }
        std_atomics::futex_wait(g_order, k_waits);
    }
}

/// If the program has installed a handler meanwhile, that is called on one of the program's own
/// threads.
void send_again(int signal) noexcept {
    const bool is_fatal = is_handled_by(SIG_DFL, signal);
    if (is_fatal) {
        unblock(signal);
    }
    ::kill(::getpid(), signal);
    if (is_fatal) {
        constexpr int k_shells_base = 128;
        ::_exit(k_shells_base + signal);  // the first process of a container survives the signal
    }
}

void run() noexcept {
    ::pthread_setname_np(::pthread_self(), "quern/signal");
    const harmless_thread wakes_no_task;
    const std::uint32_t order = await_order();
    if (order != k_ends) {
        const std::string places = perform_exit_actions();
        if (!places.empty()) {
            std::fprintf(stderr, "quern: interrupted; what was recorded up to now is %s\n",
                         places.c_str());
        }
        send_again(static_cast<int>(order));
    }
    g_order.store(k_no_thread, std::memory_order_release);  // pairs with take_signals
}

/// The signals of the process are for the program's own threads.
bool start_thread() noexcept {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before);
    g_order.store(k_waits, std::memory_order_relaxed);
    try {
        g_thread = new std::thread(run);
    } catch (const std::exception&) {
        g_order.store(k_no_thread, std::memory_order_relaxed);
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return g_thread != nullptr;
}

}  // namespace

void take_signals() noexcept {
    if (g_process.load(std::memory_order_relaxed) != ::getpid()) {
        g_thread = nullptr;  // the parent's
        g_order.store(k_no_thread, std::memory_order_relaxed);
        g_process.store(::getpid(), std::memory_order_relaxed);
    }
    const std::uint32_t order = g_order.load(std::memory_order_acquire);  // pairs with run
    if (order == k_no_thread) {
        leave_signals();  // joins the thread of an interruption that was survived
        if (!start_thread()) {
            return;
        }
    } else if (order != k_waits) {
        return;  // the process is ending
    }
    for (const taken_signal& each : k_taken) {
        if (is_handled_by(SIG_DFL, each.number)) {
            handle(each.number, each.handler);
        }
    }
}

std::unique_ptr<std::thread> leave_signals() noexcept {
    give_signals_back();
    std::unique_ptr<std::thread> ended(std::exchange(g_thread, nullptr));
    if (ended == nullptr) {
        return nullptr;
    }
    std::uint32_t expected = k_waits;
    if (g_order.compare_exchange_strong(expected, k_ends, std::memory_order_relaxed)) {
        std_atomics::futex_wake(g_order, 1);
        ended->join();
        return nullptr;
    }
    if (expected == k_no_thread) {
        ended->join();
        return nullptr;
    }
    return ended;
}

}  // namespace quern::detail
