// SPDX-License-Identifier: BSL-1.0
// Lets a thread that is no worker call something that must run on one: the call becomes a task,
// the thread sleeps until it is done. Used by everything that accepts "any thread".
#pragma once

#include <quern/scheduler/external_event.hpp>
#include <quern/scheduler/pool.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/task/attributes.hpp>
#include <quern/task/outcome.hpp>

#include <type_traits>

namespace quern::detail {

inline constexpr wait_kind k_run_on_wait{.name = "a call that it makes as a task",
                                         .is_passing = true};

/// Runs `f` on a worker of the pool and returns its result or throws its exception. `site` is where
/// the program called, for reports.
/// Requires: not called on a worker. Cost: a wake-up of a worker and one of the caller (50 us).
template <class F>
auto run_on(pool& where, const void* site, F&& f) -> std::invoke_result_t<F&> {
    using R = std::invoke_result_t<F&>;
    struct outside_call final : runnable {
        explicit outside_call(F& function) : runnable(run_call), f(function) {}
        static context* run_call(work& item) {
            auto& self = static_cast<outside_call&>(static_cast<runnable&>(item));
            detail::begin_task(self);  // never asks for a larger stack
            self.outcome.set_from([&self]() -> decltype(auto) {
                const task_body body;
                return self.f();
            });
            end_task();
            count_task();
            self.done.set();  // the call may be gone now
            return nullptr;
        }
        F& f;
        late_outcome<R> outcome;
        external_event done;
    } call(f);
    call.site = site;
    where.inject(call);
    call.done.wait({&k_run_on_wait, &call});
    return detail::take_as<R>(call.outcome);
}

}  // namespace quern::detail
