// SPDX-License-Identifier: BSL-1.0
// Which call holds the entrance, and the words of it.
#include "progress/long_calls.hpp"

#include "progress/entrance_watch.hpp"

#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <set>
#include <string_view>

namespace quern::mpi::detail {

namespace {

/// Written under g_long_lock, as what it points to.
constinit std::atomic<long_call*> g_long{nullptr};
constinit std::mutex g_long_lock;

bool is_named_first(const char* function) {
    static std::set<std::string_view> named;
    const std::scoped_lock guard(g_long_lock);
    return named.insert(function).second;
}

}  // namespace

void in_long_call::set(long_call* one) noexcept {
    const std::scoped_lock guard(g_long_lock);
    g_long.store(one, std::memory_order_relaxed);
}

void warn_of(const long_call& one) noexcept try {
    if (is_named_first(one.name)) {
        std::fprintf(stderr,
                     "quern: %s %s%s: until it returns, all other calls of "
                     "MPI in this rank wait for it. Initialise MPI by MPI_Init_thread with "
                     "MPI_THREAD_MULTIPLE, or set mpi-threads=multiple, or call it where nothing "
                     "else needs MPI\n",
                     one.name, one.why, place_of(one).c_str());
    }
} catch (const std::exception&) {
    return;  // no memory for words
}

bool is_in_long_call() noexcept { return g_long.load(std::memory_order_relaxed) != nullptr; }

std::optional<long_call> long_call_now() noexcept {
    const std::scoped_lock guard(g_long_lock);
    const long_call* const one = g_long.load(std::memory_order_relaxed);
    return one != nullptr ? std::optional(*one) : std::nullopt;
}

void note_wait_for_long_call() noexcept {
    {
        const std::scoped_lock guard(g_long_lock);
        if (long_call* const one = g_long.load(std::memory_order_relaxed)) {
            one->is_waited_for = true;
        }
    }
    if (const auto one = long_call_now()) {
        warn_of(*one);
        watch_entrance();
    }
}

std::string place_of(const long_call& one) {
    const std::string caller = quern::detail::describe_caller(one.from);
    return caller.empty() ? std::string() : " (called in " + caller + ")";
}

}  // namespace quern::mpi::detail
