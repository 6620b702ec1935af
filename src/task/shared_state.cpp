// SPDX-License-Identifier: BSL-1.0
// Waiting for a shared state and telling those who wait.
#include <quern/task/shared_state.hpp>

#include <quern/scheduler/worker.hpp>

namespace quern::detail {

namespace {

struct suspended_waiter : state_waiter {
    explicit suspended_waiter(context& c) noexcept
        : state_waiter{[](state_waiter& self) noexcept {
              resume(static_cast<suspended_waiter&>(self).task);
          }},
          task(c) {}
    context& task;
};

struct sleeping_waiter : state_waiter {
    sleeping_waiter() noexcept
        : state_waiter{[](state_waiter& self) noexcept {
              static_cast<sleeping_waiter&>(self).event.set();
          }} {}
    external_event event;
};

}  // namespace

void state_base::wait() noexcept {
    if (ready()) {
        return;
    }
    context* here = current_context();
    if (m_begin != nullptr) {
        if (here != nullptr && here->is_low(__builtin_frame_address(0))) {
            call_on_fresh_stack(
                [](void* p) {
                    auto& self = *static_cast<state_base*>(p);
                    self.m_begin(self);
                },
                this);
        } else {
            m_begin(*this);
        }
        if (ready()) {
            return;
        }
    }
    if (current_context() == nullptr) {
        sleeping_waiter sleeper;
        if (add_waiter(sleeper)) {
            sleeper.event.wait();
        }
        return;
    }
    suspended_waiter node(*current_context());
    auto publish = [this, &node](context&) { return add_waiter(node); };
    suspend(publish);
}

void state_base::make_ready() noexcept {
    // acq_rel: release pairs with ready and add_waiter; acquire with add_waiter.
    const std::uintptr_t old = m_word.exchange(k_ready, std::memory_order_acq_rel);
    state_waiter* youngest_first = reinterpret_cast<state_waiter*>(old);
    state_waiter* oldest_first = nullptr;
    while (youngest_first != nullptr) {
        state_waiter* w = youngest_first;
        youngest_first = w->next;
        w->next = oldest_first;
        oldest_first = w;
    }
    while (oldest_first != nullptr) {
        state_waiter* w = oldest_first;
        oldest_first = w->next;  // before notify, which may destroy the waiter
        w->notify(*w);
    }
}

}  // namespace quern::detail
