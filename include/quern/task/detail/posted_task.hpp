// SPDX-License-Identifier: BSL-1.0
// A task without a result, made by post. What does not depend on its function is posted_item.
#pragma once

#include <quern/base/detail/blocks.hpp>
#include <quern/scheduler/detail/queued_task.hpp>
#include <quern/task/stop.hpp>

#include <stop_token>
#include <type_traits>
#include <utility>

namespace quern::detail {

class posted_item : public runnable, public in_blocks {
protected:
    /// What the library has to know of the type of the function.
    struct typed {
        /// Calls the function. May throw.
        void (*call)(posted_item& self);
        void (*destroy)(posted_item& self) noexcept;
        /// The token by which it may be cancelled. Null: there is none.
        std::stop_token* (*stop)(posted_item& self) noexcept;
    };

    constexpr explicit posted_item(run_function f) noexcept : runnable(f) {}
    ~posted_item() = default;

    /// The run function. Destroys the task.
    context* run_queued(const typed& as) noexcept;

private:
    void call_or_end(const typed& as) noexcept;
    void call_but_for_stops(const typed& as);
    void call(const typed& as) noexcept;
    void call_under(const stop_signal* signal, const typed& as) noexcept;
};

/// Token: std::stop_token, or no_token where none was given.
template <class F, class Token>
class posted_task final : public posted_item {
public:
    template <class... Parts>
    explicit posted_task(const Token& stop, Parts&&... parts)
        : posted_item(run_queued), m_stop(stop), m_function(std::forward<Parts>(parts)...) {}

private:
    static posted_task& cast(posted_item& self) noexcept { return static_cast<posted_task&>(self); }

    static context* run_queued(work& item) {
        return static_cast<posted_task&>(static_cast<runnable&>(item))
            .posted_item::run_queued(k_typed);
    }
    static void call(posted_item& item) { std::move(cast(item).m_function)(); }
    static void destroy(posted_item& item) noexcept { delete &cast(item); }
    static std::stop_token* stop(posted_item& item) noexcept {
        if constexpr (k_has_token) {
            return &cast(item).m_stop;
        } else {
            return nullptr;
        }
    }

    static constexpr bool k_has_token = !std::is_same_v<Token, no_token>;
    static constexpr typed k_typed{call, destroy, k_has_token ? stop : nullptr};

    [[no_unique_address]] Token m_stop;
    F m_function;
};

}  // namespace quern::detail
