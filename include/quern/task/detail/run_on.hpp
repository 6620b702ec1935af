// SPDX-License-Identifier: BSL-1.0
// Lets a thread that is no worker call code that must run on one: the call becomes a task, and the
// thread sleeps until it is done. Used by every function that accepts "any thread".
#pragma once

#include <quern/scheduler/detail/external_event.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/task/attributes.hpp>
#include <quern/task/detail/outcome.hpp>

#include <type_traits>

namespace quern::detail {

inline constexpr wait_kind k_run_on_wait{.name = "a call that it makes as a task",
                                         .is_passing = true};

/// Runs `f` on a worker of the pool and returns its result or throws its exception. `site` is the
/// program's calling address, for reports. If a worker sleeps, the calling thread takes its place:
/// `f` begins at once on that thread, with its thread-local variables, on a stack of the pool, and
/// may continue on another thread after a suspension. Requires: not called on a worker. Cost: below
/// 1 us if a worker sleeps; otherwise the call is queued.
template <class F>
auto run_on(pool& where, const void* site, F&& f) -> std::invoke_result_t<F&> {
    using R = std::invoke_result_t<F&>;
    struct outside_call final : runnable {
        explicit outside_call(F& function) : runnable(run_call), f(function) {}
        static context* run_call(work& item) {
            auto& self = static_cast<outside_call&>(static_cast<runnable&>(item));
            return detail::run_from_queue(
                self,
                [&self] {
                    self.outcome.set_from([&self]() -> decltype(auto) {
                        const task_body body(task_body::part_of::task);
                        return self.f();
                    });
                },
                [&self] { self.done.set(); });  // the call may be destroyed now
        }
        F& f;
        late_outcome<R> outcome;
        external_event done;
    } call(f);
    call.site = site;
    if (!where.run_as_guest(call)) {
        where.inject(call);
    }
    call.done.wait({&k_run_on_wait, &call});
    return detail::take_as<R>(call.outcome);
}

}  // namespace quern::detail
