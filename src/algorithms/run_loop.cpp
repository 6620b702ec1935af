// SPDX-License-Identifier: BSL-1.0
// The way of a loop to a worker of the pool it is for.
#include <quern/algorithms/detail/loop.hpp>
#include <quern/scheduler/detail/branches.hpp>
#include <quern/task/async.hpp>
#include <quern/task/detail/enough_stack.hpp>
#include <quern/task/detail/run_on.hpp>

namespace quern::detail {

namespace {

/// The entry of parts of a loop that run on the stack of its task. Never called.
context* part_of_loop(work&) { return nullptr; }

/// Requires: this is a worker of that pool.
void run_loop_here(std::stop_token&& token, function_ref<void(fork_slot*, stop_signal&)> f) {
    detail::on_enough_stack([&token, f] {
        context& place = *current_context();
        this_worker(place).stats().loops.add();
        stop_signal stop(std::move(token), place.root().task().stop);
        const under_signal running(&stop);
        f(place.bottom(), stop);
        throw_if_stopped(stop.token(), task_cancelled::subject::loop);
    });
}

}  // namespace

void run_loop(pool* where, const void* site, std::stop_token token,
              function_ref<void(fork_slot*, stop_signal&)> f) {
    const auto here = [&token, f] {
        context& place = *current_context();
        if (!has_own_branches(place.root().task())) [[likely]] {
            run_loop_here(std::move(token), f);
            return;
        }
        const branch_record own(place, part_of_loop);
        run_loop_here(std::move(token), f);
    };
    context* const caller = current_context();
    if (caller == nullptr) [[unlikely]] {
        detail::run_on(where != nullptr ? *where : current_pool().get(), site, here);
    } else if (where != nullptr && where != &caller->host().home()) [[unlikely]] {
        quern::async(task_attributes{.pool = where, .site = site}, here).get();
    } else {
        here();
    }
}

}  // namespace quern::detail
