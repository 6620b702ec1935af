// SPDX-License-Identifier: BSL-1.0
// A periodic call that compares the holder of the entrance with the one of the last look.
#include "progress/entrance_watch.hpp"

#include "progress/engine.hpp"
#include "progress/inside.hpp"
#include "progress/long_calls.hpp"

#include <quern/scheduler/detail/periodic_call.hpp>
#include <quern/scheduler/detail/still_process.hpp>
#include <quern/settings/settings.hpp>

#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

namespace quern::mpi::detail {

namespace {

using namespace std::chrono_literals;
using clock_type = quern::detail::periodic_call::clock;

constexpr auto k_interval = 1s;
constexpr auto k_long = 5s;  ///< in the entrance, while others wait

/// As counted by the name of its poller (pools.cpp).
constexpr const char* k_poller = "MPI";

class entrance_watch {
public:
    void look();

private:
    void name_long_call();

    inside_now m_inside{};
    clock_type::time_point m_since = clock_type::now();
    bool m_was_still = false;
    std::uint64_t m_version = 0;
    bool m_is_named = false;
    quern::detail::periodic_call m_looks{"mpi-entrance", k_interval,
                                         [this] { look(); }};  ///< the last member: it uses others
};

bool are_reports_wanted() {
    try {
        return current_settings().at("hang-report").text != "off";
    } catch (const std::exception&) {
        return false;
    }
}

/// All threads sleep, so the holder does not run: it waits in a function that MPI has called. No
/// operation can end and none can begin, and nothing else can wake it.
[[noreturn]] void fail(const inside_now& inside) {
    std::fprintf(stderr,
                 "quern: a function that MPI has called in %s waits for ever: until it returns no "
                 "other call of MPI begins or ends, and nothing else can end its wait; %s",
                 engine::of_process().describe_inside(inside.call).c_str(),
                 quern::detail::collect_process_waits().report.c_str());
    std::abort();
}

void entrance_watch::name_long_call() {
    const auto one = long_call_now();
    if (!one || !one->is_waited_for || !are_reports_wanted()) {
        return;
    }
    m_is_named = true;
    std::fprintf(
        stderr,
        "quern: thread %d of process %d has been in %s for %.0f s%s, and other calls of MPI "
        "in this rank wait until it returns\n",
        one->thread, ::getpid(), one->name,
        std::chrono::duration<double>(clock_type::now() - m_since).count(), place_of(*one).c_str());
}

void entrance_watch::look() {
    const inside_now inside = look_inside();
    if (inside.holder == 0 || inside != m_inside) {
        m_inside = inside;
        m_since = clock_type::now();
        m_was_still = m_is_named = false;
        return;
    }
    if (!m_is_named && clock_type::now() - m_since >= k_long) {
        name_long_call();
    }
    const quern::detail::still_process now = quern::detail::look_whether_still(k_poller);
    if (now.is_still && m_was_still && now.version == m_version && look_inside() == inside) {
        fail(inside);
    }
    m_was_still = now.is_still;
    m_version = now.version;
}

std::mutex g_watch_lock;
std::unique_ptr<entrance_watch> g_watch;  // NOLINT(bugprone-throwing-static-initialization)

}  // namespace

void watch_entrance() noexcept try {
    const std::scoped_lock guard(g_watch_lock);
    if (g_watch == nullptr) {
        g_watch = std::make_unique<entrance_watch>();
    }
} catch (const std::exception&) {
    return;  // no memory or no thread: nothing is looked for
}

void end_entrance_watch() noexcept {
    const std::scoped_lock guard(g_watch_lock);
    g_watch.reset();
}

}  // namespace quern::mpi::detail
