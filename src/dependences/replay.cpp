// SPDX-License-Identifier: BSL-1.0
// The steps of a replay(): recording, comparing, the window of steps in flight. README.md,
// "Replay".
#include <quern/dependences/replay.hpp>

#include "ready_successors.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace quern::detail {

namespace {

constexpr std::size_t k_longest_step = 65'536;  // tasks; longer ones take too much memory (guessed)

}  // namespace

void check_steps(std::int64_t steps) {
    if (steps < 0) {
        throw std::invalid_argument("quern: replay of " + std::to_string(steps) +
                                    " steps: the number is negative");
    }
}

// -- a step in flight --------------------------------------------------------------------------

const wait_kind replay_slot::k_wait{
    "the tasks of a replayed step", sizeof(replay_slot),
    [](const void* copy, wait_findings& into) noexcept {
        const auto left = static_cast<const replay_slot*>(copy)->m_count.outstanding();
        std::snprintf(into.words.data(), into.words.size(), "%lld of its tasks have not ended",
                      static_cast<long long>(left));
    }};

void replay_slot::wait() noexcept {
    if (!is_used()) {
        return;
    }
    domain_waiter self;
    self.task = current_context();
    if (self.task == nullptr || has_ended()) {
        if (m_count.wait(self)) {
            self.thread.wait({&k_wait, this});
        }
    } else {
        auto publish = [this, &self](context&) { return m_count.wait(self); };
        detail::suspend(publish, {&k_wait, this});
    }
    m_count.reset();
    m_spawned = 0;
}

void replay_slot::task_ended() noexcept {
    if (domain_waiter* const waiter = m_count.finished()) {
        if (waiter->task != nullptr) {
            detail::resume(*waiter->task);
        } else {
            waiter->thread.set();
        }
    }
}

/// Step R4. The task is armed again before anything can know that it has ended.
void replayed_task::step_ended(ready_successors& released) noexcept {
    missing.rearm(m_armed);
    this->reopen();
    if (is_large()) [[unlikely]] {
        tell_next_step();
    }
    for (replayed_task* const each : m_successors) {
        if (each->missing.satisfied()) {
            released.add(*each);
        }
    }
    m_slot->task_ended();
}

// -- the loop ----------------------------------------------------------------------------------

replay_run::replay_run(domain_core& home) : m_home(home) {
    if (home.replay() != nullptr) {
        throw std::logic_error(
            "quern: replay() was called in the body of a replay() of its domain");
    }
    m_slots.push_back(std::make_unique<replay_slot>());
    m_tasks = &m_slots.front()->tasks;
    home.set_replay(this);
}

replay_run::~replay_run() {
    m_home.wait_for_all();
    m_home.set_replay(nullptr);
}

void replay_run::wait_for_tasks() noexcept {
    for (const auto& each : m_slots) {
        each->wait();
    }
}

void replay_run::begin_step() {
    if (checks_accesses()) {
        leave_step();
        return;
    }
    if (m_mode == mode::leaving) {
        m_mode = mode::recording;
    }
    if (m_mode == mode::recording && m_is_recorded && m_same >= m_enough && build()) {
        m_mode = mode::replaying;
        m_next = 0;
    }
    if (m_mode == mode::replaying) {
        make_room();
        m_tasks = &m_slots[m_next]->tasks;
        m_next = m_next + 1 == m_slots.size() ? 0 : m_next + 1;
    }
    m_at = 0;
    m_has_changed = false;
}

void replay_run::end_step() noexcept {
    if (m_mode == mode::leaving) {
        return;
    }
    if (m_at != m_tasks->size()) {
        m_has_changed = true;
        forget_from(m_at);
    }
    if (m_mode == mode::recording) {
        m_same = m_has_changed || !m_is_recorded ? 0 : m_same + 1;
        m_is_recorded = m_at != 0;
    }
}

/// The present step differs from the recorded one there, or ends.
void replay_run::forget_from(std::size_t at) noexcept {
    if (m_mode == mode::replaying) {
        stop_replaying();
    }
    m_tasks->resize(at);
}

void replay_run::keep_one_slot() noexcept {
    while (m_slots.size() > 1) {
        m_slots.pop_back();
    }
}

/// Step R5.
void replay_run::stop_replaying() noexcept {
    constexpr std::uint32_t k_most = 64;  // steps (guessed)
    wait_for_tasks();
    keep_one_slot();
    m_tasks = &m_slots.front()->tasks;
    m_mode = mode::recording;
    m_enough = std::clamp(2 * m_enough, std::uint32_t{1}, k_most);
}

void replay_run::record(std::unique_ptr<replayed_task> next) {
    m_has_changed = true;
    forget_from(m_at);
    const auto where = next->where();
    if (m_at == k_longest_step || !std::all_of(where.begin(), where.end(), is_replayable)) {
        leave_step();
        return;
    }
    m_tasks->push_back(std::move(next));
    ++m_at;
}

void replay_run::leave_step() noexcept {
    if (m_mode != mode::leaving) {
        forget_from(0);
        m_mode = mode::leaving;
        m_is_recorded = false;
        m_same = 0;
    }
}

/// Step R2. False: there is no memory for it.
bool replay_run::build() {
    m_home.wait_for_all();
    constexpr std::size_t k_tasks_in_flight = 512;  // 150 KB, within a cache (guessed)
    constexpr std::size_t k_least = 4;              // steps: two run while a third is armed
    constexpr std::size_t k_most = 64;
    const std::size_t count =
        std::clamp(k_tasks_in_flight / m_slots.front()->tasks.size(), k_least, k_most);
    try {
        detail::make_slots(m_slots, count);
    } catch (const std::bad_alloc&) {
        keep_one_slot();
        leave_step();
        m_mode = mode::recording;
        return false;
    }
    return true;
}

/// Step R3: the slots of this step and of the next one are free afterwards. If that takes a wait,
/// it waits until half of the steps in flight have ended.
void replay_run::make_room() noexcept {
    replay_slot& following = slot_after(1);
    if (!following.is_used() || following.has_ended()) {
        following.wait();
        return;
    }
    const std::size_t half = (m_slots.size() - 2) / 2;
    for (std::size_t i = half + 1; i > 0; --i) {
        slot_after(i).wait();
    }
}

}  // namespace quern::detail
