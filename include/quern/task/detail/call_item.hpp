// SPDX-License-Identifier: BSL-1.0
// What the tasks that call a function and keep its result have in common and does not depend on
// the types of either: one copy in the library instead of one for each call in a program.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/queued_task.hpp>
#include <quern/task/detail/inlining.hpp>
#include <quern/task/detail/shared_state.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>
#include <type_traits>

namespace quern::detail {

/// The item of a task with a result. The state of the result is another base of the same object;
/// the functions below that need it are given it.
class call_item : public runnable {
public:
    using sharing = state_base::sharing;

    /// What the library has to know of the types of a task.
    struct typed {
        /// Calls the function and keeps what it returns. May throw.
        void (*call)(call_item& self);
        /// Keeps an exception in the place of a result.
        void (*fail)(call_item& self, std::exception_ptr error) noexcept;
        /// Destroys the function and its input. Null: there is nothing to destroy.
        void (*drop)(call_item& self) noexcept;
        /// The token by which it may be cancelled. Null: there is none.
        std::stop_token* (*stop)(call_item& self) noexcept;
    };

    /// Asks the rules about a child task, and runs it if they say so. True: it has begun.
    QUERN_COLD bool starts_as_child(const pool& where, std::uint64_t instance) noexcept;

protected:
    constexpr explicit call_item(run_function f) noexcept : runnable(f) {}
    ~call_item() = default;

    /// Both call the function and destroy it; or cancel it, if that was asked. The result is there
    /// and has yet to be published. The first as a task, the second as part of the running one.
    void settle_as_task(state_base& state, const typed& as) noexcept;
    void settle_in_caller(const typed& as) noexcept;

    child_kind m_kind_of_child = k_no_kind;

private:
    bool has_no_token(const typed& as) noexcept;
    void settle_with_token(const typed& as, task_body::part_of what) noexcept;
    void call_and_drop(const typed& as, task_body::part_of what) noexcept;
};

/// Whether `drop` has something to do for these members.
template <class... Owned>
inline constexpr bool k_owns_something = !(std::is_trivially_destructible_v<Owned> && ...);

}  // namespace quern::detail
