// SPDX-License-Identifier: BSL-1.0
// Waiting for a shared state and notifying its waiters.
#include <quern/task/detail/shared_state.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/this_task.hpp>

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/task/detail/enough_stack.hpp>

#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <future>
#include <utility>

namespace quern::detail {

namespace {

struct suspended_waiter : state_waiter {
    explicit suspended_waiter(context& c) noexcept
        : state_waiter{[](state_waiter& self) noexcept -> state_waiter* {
              resume(static_cast<suspended_waiter&>(self).task);
              return nullptr;
          }},
          task(c) {}
    context& task;
};

struct sleeping_waiter : state_waiter {
    sleeping_waiter() noexcept
        : state_waiter{[](state_waiter& self) noexcept -> state_waiter* {
              static_cast<sleeping_waiter&>(self).event.set();
              return nullptr;
          }} {}
    external_event event;
};

state_waiter** end_of(state_waiter* chain) noexcept {
    while (chain->next != nullptr) {
        chain = chain->next;
    }
    return &chain->next;
}

/// One for all promises, allocated where that may fail. Destroyed after all static objects, whose
/// destructors may abandon promises.
constinit std::atomic<const std::exception_ptr*> g_broken_promise{nullptr};

const std::exception_ptr& make_broken_promise() {
    const auto* const made = new std::exception_ptr(
        std::make_exception_ptr(std::future_error(std::future_errc::broken_promise)));
    const std::exception_ptr* earlier = nullptr;
    if (!g_broken_promise.compare_exchange_strong(earlier, made, std::memory_order_acq_rel)) {
        delete made;
        return *earlier;
    }
    return *made;
}

[[maybe_unused]] const std::exception_ptr& g_made_before_main = broken_promise();

[[gnu::destructor(k_after_static_objects)]] void forget_broken_promise() {
    delete g_broken_promise.exchange(nullptr, std::memory_order_acq_rel);
}

}  // namespace

const std::exception_ptr& broken_promise() noexcept {
    const auto* const made =
        g_broken_promise.load(std::memory_order_acquire);  // pairs with make_broken_promise
    return made != nullptr ? *made : make_broken_promise();
}

void give_way() noexcept { this_task::yield(); }

const wait_kind state_base::k_wait{
    "a future",
    sizeof(state_base),
    [](const void* copy, wait_findings& into) noexcept {
        constexpr std::array k_words = {"of a task that has not ended",
                                        "of a promise that nobody has set",
                                        "of a continuation that has not run"};
        const auto who = static_cast<std::size_t>(static_cast<const state_base*>(copy)->m_maker);
        if (who < k_words.size()) {  // otherwise the future was destroyed meanwhile
            std::snprintf(into.words.data(), into.words.size(), "%s", k_words[who]);
        }
    },
    false,
    true,
    false,
    [](const void* state) noexcept {
        return static_cast<const state_base*>(state)->m_maker == maker::task;
    }};

void state_base::destroy_self() noexcept {
    on_enough_stack([this]() noexcept { m_destroy(*this); });
}

void state_base::wait(sharing with) noexcept {
    if (ready()) {
        return;
    }
    if (m_help != nullptr) {
        on_enough_stack([this, with]() noexcept { m_help->begin(*this, with); });
        if (ready()) {
            return;
        }
    }
    if (current_context() == nullptr) {
        sleeping_waiter sleeper;
        if (add_waiter(sleeper)) {
            sleeper.event.wait({&k_wait, this});
        }
        return;
    }
    suspended_waiter node(*current_context());
    auto publish = [this, &node](context&) { return add_waiter(node); };
    suspend(publish, {&k_wait, this});
}

state_waiter* state_base::mark_ready() noexcept { return waiters::close(); }

void tell(state_waiter* chain) noexcept {
    state_waiter* code = nullptr;  // waiters that run user code, in order
    state_waiter** code_end = &code;
    for (;;) {
        while (chain != nullptr) {
            state_waiter* w = std::exchange(chain, chain->next);  // before notify may destroy it
            w->next = nullptr;
            if (w->runs_code) {
                *code_end = w;
                code_end = &w->next;
            } else if (state_waiter* more = w->notify(*w)) {
                *end_of(more) = chain;
                chain = more;
            }
        }
        if (code == nullptr) {
            return;
        }
        state_waiter* w = std::exchange(code, code->next);
        code_end = code != nullptr ? code_end : &code;
        chain = w->notify(*w);
    }
}

}  // namespace quern::detail
