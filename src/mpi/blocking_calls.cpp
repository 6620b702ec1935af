// SPDX-License-Identifier: BSL-1.0
#include "blocking_calls.hpp"

#include "calls.hpp"
#include "entrance_watch.hpp"
#include "inside.hpp"
#include "mechanism.hpp"

#include <quern/scheduler/detail/context.hpp>
#include <quern/task/blocking_region.hpp>

#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>

namespace quern::mpi::detail {

namespace {

constinit std::atomic<std::uint64_t> g_blocking{0};

constinit std::atomic<long_call*> g_long{nullptr};  ///< written under g_lock, as what it points to
constinit std::mutex g_lock;

/// While it lives the call is in the entrance.
class in_long_call {
public:
    explicit in_long_call(long_call& one) noexcept { set(&one); }
    in_long_call(const in_long_call&) = delete;
    in_long_call& operator=(const in_long_call&) = delete;
    ~in_long_call() { set(nullptr); }

private:
    static void set(long_call* one) noexcept {
        const std::scoped_lock guard(g_lock);
        g_long.store(one, std::memory_order_relaxed);
    }
};

bool is_named_first(const char* function) {
    static std::set<std::string_view> named;
    const std::scoped_lock guard(g_lock);
    return named.insert(function).second;
}

void warn(const long_call& one) noexcept try {
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

int run_beside(plain_operation::call_function call) noexcept {
    const auto beside = [&] {
        const beside_mpi here;
        return call();
    };
    if (quern::detail::current_context() == nullptr) {
        return beside();
    }
    bool has_begun = false;
    try {
        return quern::blocking([&] {
            has_begun = true;
            return beside();
        });
    } catch (const std::system_error&) {
        if (has_begun) {
            std::terminate();  // it comes from a function that MPI has called
        }
    }
    return beside();  // there is no spare thread: the worker is blocked
}

int run_in_entrance(const call_note& what, plain_operation::call_function call,
                    const char* why) noexcept {
    long_call one{.name = what.kind->name,
                  .why = why,
                  .from = quern::detail::call_chain::here(),
                  .since = quern::detail::ticks()};
    const bool is_task = quern::detail::current_context() != nullptr;
    one.is_waited_for = engine::of_process().outstanding() != 0;
    if (is_task || one.is_waited_for) {
        warn(one);
    }
    if (one.is_waited_for) {
        watch_entrance();
    }
    return run_plain(what, [&] {
        one.thread = ::gettid();
        const in_long_call here(one);
        return call();
    });
}

}  // namespace

int run_blocking(const call_note& what, plain_operation::call_function call,
                 const char* why) noexcept {
    if (is_within_mpi() || is_within_call_beside()) {
        return call();
    }
    if (quern::detail::current_context() != nullptr) {
        g_blocking.fetch_add(1, std::memory_order_relaxed);
    }
    return may_call_beside() ? run_beside(call) : run_in_entrance(what, call, why);
}

std::uint64_t blocking_calls() noexcept { return g_blocking.load(std::memory_order_relaxed); }

int run_access(const call_note& what, plain_operation::call_function call) noexcept {
    if (!may_call_beside() || is_within_mpi() || is_within_call_beside()) {
        return run_plain(what, call);
    }
    const beside_mpi here;
    return call();
}

bool is_in_long_call() noexcept { return g_long.load(std::memory_order_relaxed) != nullptr; }

std::optional<long_call> long_call_now() noexcept {
    const std::scoped_lock guard(g_lock);
    const long_call* const one = g_long.load(std::memory_order_relaxed);
    return one != nullptr ? std::optional(*one) : std::nullopt;
}

void note_wait_for_long_call() noexcept {
    {
        const std::scoped_lock guard(g_lock);
        if (long_call* const one = g_long.load(std::memory_order_relaxed)) {
            one->is_waited_for = true;
        }
    }
    if (const auto one = long_call_now()) {
        warn(*one);
        watch_entrance();
    }
}

std::string place_of(const long_call& one) {
    const std::string caller = quern::detail::describe_caller(one.from);
    return caller.empty() ? std::string() : " (called in " + caller + ")";
}

}  // namespace quern::mpi::detail
