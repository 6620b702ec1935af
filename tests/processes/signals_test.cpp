// SPDX-License-Identifier: BSL-1.0
// Delivery of signals: a signal to the process goes to the host's threads, a signal raised by a
// task's own instruction goes to the task. A process that is stopped for a while loses nothing.
#include "child.hpp"

#include <quern/quern.hpp>
#include <quern/trace/efficiency.hpp>
#include <quern/trace/recorder.hpp>

#include <fcntl.h>
#include <csignal>
#include <cstring>

namespace {

using clock = std::chrono::steady_clock;
using quern::runtime;
using quern::runtime_options;
using quern_test::alone;

std::atomic<int> g_handled{0};
std::atomic<bool> g_on_main{true};
pthread_t g_main;

void count(int) {
    g_handled.fetch_add(1);
    if (::pthread_equal(::pthread_self(), g_main) == 0) {
        g_on_main.store(false);
    }
}

sigset_t blocked_here() {
    sigset_t blocked;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    return blocked;
}

class signals_test : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(on, signals_test, testing::Values(1U, 2U, 8U));

TEST_P(signals_test, what_is_sent_to_the_process_is_handled_by_the_hosts_thread) {
    const auto end = alone([] {
        g_main = ::pthread_self();
        runtime rt(runtime_options::with_workers(GetParam()));
        std::signal(SIGUSR1, count);
        constexpr int k_signals = 100;
        auto busy = quern::async(rt, [] {
            for (int i = 0; i < k_signals; ++i) {
                const int before = g_handled.load();
                ::kill(::getpid(), SIGUSR1);
                while (g_handled.load() == before) {
                    quern::this_task::yield();
                }
            }
        });
        // The thread sanitizer notes a signal and calls the handler at the next atomic operation:
        // one that comes just before the host sleeps would be handled after its sleep alone.
        while (quern::detail::k_tsan &&
               busy.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready) {
        }
        busy.get();
        return g_handled.load() == k_signals && g_on_main.load() ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

TEST_P(signals_test, a_host_that_waits_for_a_signal_gets_it) {
    const auto end = alone([] {
        std::signal(SIGUSR1, count);  // must not run: only the waiting host takes the signal
        runtime rt(runtime_options::with_workers(GetParam()));
        sigset_t expected;
        ::sigemptyset(&expected);
        ::sigaddset(&expected, SIGUSR1);
        ::pthread_sigmask(SIG_BLOCK, &expected, nullptr);
        for (int i = 0; i < 20; ++i) {
            quern::post({.pool = &rt.default_pool().get()}, [] { ::kill(::getpid(), SIGUSR1); });
            const timespec limit{10, 0};
            if (::sigtimedwait(&expected, nullptr, &limit) != SIGUSR1) {
                return 1;
            }
        }
        return g_handled.load();
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

TEST(signals_of_workers, are_those_of_their_own_instructions_and_the_hosts_mask_stays) {
    const auto end = alone([] {
        runtime rt(runtime_options::with_workers(1));
        const sigset_t host = blocked_here();
        const sigset_t worker = quern::async(rt, [] { return blocked_here(); }).get();
        int wrong = 0;
        for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD, SIGWINCH}) {
            wrong += ::sigismember(&host, signal) != 0 || ::sigismember(&worker, signal) != 1;
        }
        for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF}) {
            wrong += ::sigismember(&host, signal) != 0 || ::sigismember(&worker, signal) != 0;
        }
        return wrong;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

TEST(signals_of_workers, reach_the_hosts_handler) {
    const auto end = alone([] {
        std::signal(SIGFPE, [](int) { ::_exit(17); });
        runtime rt(runtime_options::with_workers(2));
        quern::async(rt, [] { std::raise(SIGFPE); }).get();
        return 1;
    });
    EXPECT_EQ(end.status, 17) << end.output;
}

constexpr auto k_stop = std::chrono::milliseconds(300);

/// Whether a process is stopped. Asks the kernel only, because the caller is a child of fork():
/// another thread of its parent may have held the heap's lock, which gcc 12's address sanitizer
/// does not take before a fork.
bool is_stopped(const char* stat) {
    char text[256];
    const int file = ::open(stat, O_RDONLY | O_CLOEXEC);
    const ssize_t size = ::read(file, text, sizeof text - 1);
    ::close(file);
    text[std::max<ssize_t>(size, 0)] = '\0';
    const char* const behind_name = std::strrchr(text, ')');
    return behind_name != nullptr && std::strncmp(behind_name, ") T", 3) == 0;
}

/// Stops the calling process for a while, through a child.
void stop_for_a_while() {
    const pid_t parent = ::getpid();
    const std::string stat = "/proc/" + std::to_string(parent) + "/stat";
    const int status = quern_test::fork_and_wait([parent, &stat] {
        ::kill(parent, SIGSTOP);
        const bool stopped = quern_test::eventually([&stat] { return is_stopped(stat.c_str()); });
        std::this_thread::sleep_for(k_stop);  // the pause of the process
        ::kill(parent, SIGCONT);
        return stopped ? 0 : 1;
    });
    if (status != 0) {
        std::puts("the process was not stopped");
        std::_Exit(98);
    }
}

/// In a process of its own: 0 if a recording that ends so long after a stop says what was lost.
int record_a_stop(unsigned workers, std::chrono::milliseconds afterwards) {
    runtime rt(runtime_options::with_workers(workers));
    std::atomic<bool> is_over{false};
    quern::trace::recorder recorder(rt);
    auto spins = quern::async({.name = "spins", .pool = &rt.default_pool().get()}, [&] {
        while (!is_over) {
        }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // looks have begun
    stop_for_a_while();
    std::this_thread::sleep_for(afterwards);
    is_over = true;
    spins.get();
    const auto run = recorder.stop();
    const auto what = quern::trace::efficiency_of(run);
    std::printf("%s", quern::trace::verdict_text(what).c_str());
    double of_sites = 0;
    for (const auto& each : run.sites) {
        of_sites += each.blocked_ns;
    }
    const double stopped = 1e9 * std::chrono::duration<double>(k_stop).count();
    const bool is_lost = what.lost_ns.value_or(stopped) >= 0.8 * stopped * workers;
    const bool blocks = what.blocked_ns.value_or(0.0) > 0.2 * stopped || of_sites > 0.2 * stopped ||
                        what.starvation_ns < 0;
    const bool is_said = what.note.find("The process was stopped for ") != std::string::npos;
    return is_lost && is_said && !blocks ? 0 : 1;
}

// Time in which the process was stopped is lost, not blocked; also when the recording ends at once,
// before the thread that looks has a processor again.
TEST_P(signals_test, a_stopped_process_is_not_said_to_block) {
    for (const int afterwards : {50, 0}) {
        const auto end = alone([afterwards] {
            return record_a_stop(GetParam(), std::chrono::milliseconds(afterwards));
        });
        EXPECT_EQ(end.status, 0) << end.output;
    }
}

TEST_P(signals_test, a_stopped_process_goes_on_with_its_sleepers_and_timed_waits) {
    const auto end = alone([] {
        runtime rt(runtime_options::with_workers(GetParam()));
        constexpr int k_sleepers = 100;
        std::atomic<int> woken{0}, early{0};
        quern::task_group group(rt.default_pool());
        for (int i = 0; i < k_sleepers; ++i) {
            group.run([&, i] {  // due before, while and after the process is stopped
                const auto due = clock::now() + std::chrono::milliseconds(5 * i);
                quern::this_task::sleep_until(due);
                early.fetch_add(clock::now() < due);
                woken.fetch_add(1);
            });
        }
        quern::promise<void> never;
        auto gate = never.get_future().share();
        auto timed = quern::async(rt, [gate] {
            return gate.wait_for(std::chrono::milliseconds(100)) == std::future_status::timeout;
        });
        stop_for_a_while();
        const bool outside =
            gate.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout;
        group.wait();
        const bool all = woken.load() == k_sleepers && early.load() == 0;
        return all && timed.get() && outside ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

TEST_P(signals_test, a_stopped_process_books_the_time_to_what_its_workers_did_and_nothing_twice) {
    const auto end = alone([] {
        const auto start = clock::now();
        runtime rt(runtime_options::with_workers(GetParam()));
        quern_test::eventually([&] { return rt.totals().parks >= GetParam(); });
        const auto before = rt.totals();
        stop_for_a_while();
        quern::async(rt, [] {}).get();
        quern_test::eventually([&] { return rt.totals().tasks > before.tasks; });
        const auto after = rt.totals();
        const double wall = std::chrono::duration<double, std::nano>(clock::now() - start).count();
        const double booked = after.running_ns + after.managing_ns + after.idle_ns;
        constexpr double k_drift = 1.01;  // of the ticks relative to the clock
        const double stop = std::chrono::duration<double, std::nano>(k_stop).count();
        std::printf("%.0f of %.0f ms booked, %.0f ms idle\n", booked * 1e-6,
                    GetParam() * wall * 1e-6, (after.idle_ns - before.idle_ns) * 1e-6);
        const bool asleep = after.idle_ns - before.idle_ns > GetParam() * stop / k_drift;
        const bool sane = booked < GetParam() * wall * k_drift && after.running_ns < stop;
        const bool counted = after.tasks == before.tasks + 1;
        return asleep && sane && counted ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

}  // namespace
