// SPDX-License-Identifier: BSL-1.0
// Waiting for a gate, shared by latch and event, and for a level with a stop token; and the end of
// a primitive in which something waits.
#include <quern/sync/detail/waiting.hpp>

#include <quern/base/detail/assert.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/sync/detail/gate.hpp>
#include <quern/sync/detail/level.hpp>

#include <array>
#include <cstdio>
#include <mutex>

#include "timed_waiting.hpp"

namespace quern::detail {

namespace {

/// Null: no pool, since it is a thread outside that waits.
pool* pool_of(const waiter& w) noexcept {
    switch (w.kind) {
        case waiter::sleeper::task:
            return &w.suspended->host().home();
        case waiter::sleeper::coroutine:
            return &w.coroutine->waits_in();
        case waiter::sleeper::thread:
            break;
    }
    return nullptr;
}

/// Whether the workers of its pool have ended, or are those of the parent of a fork().
bool is_abandoned(const waiter& w) noexcept {
    const pool* const where = pool_of(w);
    return where != nullptr && (where->inherited() || where->at(0).thread_id() == 0);
}

const char* word_for(waiter::sleeper kind) noexcept {
    switch (kind) {
        case waiter::sleeper::task:
            return "task";
        case waiter::sleeper::coroutine:
            return "coroutine";
        case waiter::sleeper::thread:
            break;
    }
    return "thread";
}

}  // namespace

void refuse_waiters(const waiter& first, const char* what) noexcept {
    const waiter* left = &first;
    while (left != nullptr && is_abandoned(*left)) {
        left = left->next;
    }
    if (left == nullptr) {
        return;
    }
    const char* name = nullptr;
    if (left->kind == waiter::sleeper::task) {
        name = left->suspended->root().task().name;
    }
    std::array<char, 200> text{};
    std::snprintf(text.data(), text.size(), "%s is destroyed while a %s waits in it%s%s%s", what,
                  word_for(left->kind), name != nullptr ? ": '" : "", name != nullptr ? name : "",
                  name != nullptr ? "'" : "");
    QUERN_ASSERT(left == nullptr, text.data());
}

void wait_for(task_gate& closed, const wait_reason& why) noexcept {
    waiter self;
    wait_in(self, why, [&closed, &self] { return closed.enqueue(self); });
}

template <class Limit>
static bool wait_within(task_gate& closed, const wait_reason& why, const Limit& limit) noexcept {
    if (closed.is_open()) {
        return true;
    }
    if (has_passed(limit)) {
        return false;
    }
    waiter self;
    return wait_in_until(
        self, why, limit, [&closed, &self] { return closed.enqueue_in_time(self); },
        [&closed, &self] { return closed.withdraw(self) && wake_expired(self); });
}

bool wait_for_until(task_gate& closed, const wait_reason& why,
                    timer::clock::time_point deadline) noexcept {
    return wait_within(closed, why, deadline);
}

bool wait_for_until(task_gate& closed, const wait_reason& why,
                    const std::stop_token& stop) noexcept {
    return wait_within(closed, why, stop);
}

bool wait_for_until(task_gate& closed, const wait_reason& why, const stop_or_time& limit) noexcept {
    return wait_within(closed, why, limit);
}

bool wait_for_until(level& what, std::int64_t needs, spin_lock& lock, const wait_reason& why,
                    const std::stop_token& stop) noexcept {
    level_waiter self(needs);
    const auto withdraw = [&what, &lock, &self] {
        const std::scoped_lock guard(lock);
        return what.withdraw(self);
    };
    return wait_in_until(
        self, why, stop,
        [&what, &lock, &self] {
            const std::scoped_lock guard(lock);
            return what.enqueue(self);
        },
        [&withdraw, &self] { return withdraw() && wake_expired(self); });
}

}  // namespace quern::detail
