// SPDX-License-Identifier: BSL-1.0
// Calls a function beside the entrance or inside it.
#include "calls/blocking_calls.hpp"

#include "calls/calls.hpp"
#include "library/mechanism.hpp"
#include "progress/entrance_watch.hpp"
#include "progress/inside.hpp"
#include "progress/long_calls.hpp"

#include <quern/scheduler/detail/blocked_call.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/task/blocking_region.hpp>

#include <unistd.h>
#include <atomic>
#include <exception>
#include <system_error>

namespace quern::mpi::detail {

namespace {

constinit std::atomic<std::uint64_t> g_blocking{0};

int run_beside(plain_operation::call_function call) noexcept {
    const auto beside = [&] {
        const beside_mpi here;
        return call();
    };
    if (quern::detail::current_context() == nullptr || quern::detail::is_busy_thread()) {
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
        warn_of(one);
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

}  // namespace quern::mpi::detail
