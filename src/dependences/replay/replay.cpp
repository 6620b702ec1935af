// SPDX-License-Identifier: BSL-1.0
// The steps of a replay(): recording, comparing, the window of steps in flight. README.md,
// "Replay".
#include <quern/dependences/replay.hpp>

#include <quern/base/detail/blocks.hpp>
#include <quern/dependences/detail/graph_recording.hpp>

#include "run/ready_successors.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

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

// -- a task ------------------------------------------------------------------------------------

namespace {

static_assert(std::has_unique_object_representations_v<region>);
static_assert(sizeof(region) == 3 * sizeof(std::uint64_t));

QUERN_ALWAYS_INLINE std::uint64_t word(const region& of, std::size_t i) noexcept {
    std::uint64_t found;
    std::memcpy(&found, reinterpret_cast<const std::byte*>(&of) + i * sizeof found, sizeof found);
    return found;
}

/// By words: a replayed task is compared at each spawn.
QUERN_ALWAYS_INLINE bool is_same_row(const region& a, const region& b) noexcept {
    return ((word(a, 0) ^ word(b, 0)) | (word(a, 1) ^ word(b, 1)) | (word(a, 2) ^ word(b, 2))) == 0;
}

bool is_same_access(const strided_region& a, const strided_region& b) noexcept {
    return is_same_row(a, b) && (a.shape == b.shape || (a.shape != nullptr && b.shape != nullptr &&
                                                        *a.shape == *b.shape));
}

bool is_replayable(const strided_region& r) noexcept {
    return r.kind < access_kind::commutative && !r.is_weak;
}

/// Where the body lies in the memory of a task.
std::size_t begin_of_body(const replayed_type& type) noexcept {
    return (sizeof(replayed_task) + type.alignment - 1) / type.alignment * type.alignment;
}

}  // namespace

recorded_accesses::recorded_accesses(std::span<const strided_region> where)
    : m_where(where.begin(), where.end()) {
    const auto has_shape = [](const strided_region& each) { return each.shape != nullptr; };
    m_shapes.reserve(
        static_cast<std::size_t>(std::count_if(m_where.begin(), m_where.end(), has_shape)));
    for (strided_region& each : m_where) {
        if (has_shape(each)) {
            each.shape = &m_shapes.emplace_back(*each.shape);
        }
    }
}

replayed_task::replayed_task(domain_shared& home, const replayed_type& type,
                             std::shared_ptr<const recorded_accesses> of, void* body) noexcept
    : dependent_task(home),
      m_type(type),
      m_body(body),
      m_recorded(std::move(of)),
      m_where(m_recorded->where()) {
    set_replayed();
}

std::unique_ptr<replayed_task> replayed_task::make(domain_shared& home, const replayed_type& type,
                                                   std::shared_ptr<const recorded_accesses> of) {
    const std::size_t begin = begin_of_body(type);
    void* const memory =
        type.alignment <= k_block_step
            ? allocate_block(begin + type.bytes)
            : ::operator new (begin + type.bytes, std::align_val_t{type.alignment});
    void* const body = static_cast<std::byte*>(memory) + begin;
    return std::unique_ptr<replayed_task>(::new (memory)
                                              replayed_task(home, type, std::move(of), body));
}

void replayed_task::operator delete(replayed_task* task, std::destroying_delete_t) noexcept {
    const replayed_type& type = task->m_type;
    task->~replayed_task();
    if (type.alignment <= k_block_step) {
        free_block(task, begin_of_body(type) + type.bytes);
    } else {
        ::operator delete (task, std::align_val_t{type.alignment});
    }
}

bool replayed_task::is_of(const replayed_type& type,
                          std::span<const strided_region> where) const noexcept {
    return &m_type == &type &&
           std::equal(m_where.begin(), m_where.end(), where.begin(), where.end(), is_same_access);
}

QUERN_ALWAYS_INLINE bool replayed_task::is_surely_of(
    const replayed_type& type, std::span<const strided_region> where) const noexcept {
    if (&m_type != &type || m_where.size() != where.size()) {
        return false;
    }
    for (std::size_t i = 0; i < where.size(); ++i) {
        if (!is_same_row(m_where[i], where[i]) || m_where[i].shape != where[i].shape) {
            return false;
        }
    }
    return true;
}

void replayed_task::run_body() { m_type.call(m_body, regions_at(m_where)); }

void replayed_task::forget_body() noexcept {
    if (m_type.destroy != nullptr) {
        m_type.destroy(m_body);
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

// -- a spawn -----------------------------------------------------------------------------------

replayed_task* replay_run::next(const usual_attributes&, const replayed_type& type,
                                std::span<const strided_region> where) {
    if (m_mode == mode::replaying && m_at < m_tasks->size()) [[likely]] {
        replayed_task& found = *(*m_tasks)[m_at];
        if (found.is_surely_of(type, where)) [[likely]] {
            return &found;
        }
    }
    return next_after_all(type, where);
}

/// Apart, so that the way above has no frame.
replayed_task* replay_run::next_after_all(const replayed_type& type,
                                          std::span<const strided_region> where) {
    if (m_mode == mode::leaving) {
        return nullptr;
    }
    if (m_at == m_tasks->size() || !(*m_tasks)[m_at]->is_of(type, where)) {
        record(type, where);
        return nullptr;
    }
    if (m_mode == mode::replaying) {
        return (*m_tasks)[m_at].get();
    }
    ++m_at;
    return nullptr;
}

replayed_task* replay_run::next(const task_attributes& wanted, const replayed_type& type,
                                std::span<const strided_region> where) {
    // The order of those that pass messages is not recorded.
    if (!wanted.deferred || (wanted.communication && m_home.home_pool().orders_communication())) {
        leave_step();
    }
    return next(usual_attributes{wanted.site}, type, where);
}

void replay_run::record(const replayed_type& type, std::span<const strided_region> where) {
    m_has_changed = true;
    forget_from(m_at);
    if (m_at == k_longest_step || !std::all_of(where.begin(), where.end(), is_replayable)) {
        leave_step();
        return;
    }
    m_tasks->push_back(
        replayed_task::make(m_home, type, std::make_shared<const recorded_accesses>(where)));
    ++m_at;
}

void replay_run::start(replayed_task& next, const usual_attributes& wanted) noexcept {
    runnable& item = next;
    item.name = nullptr;
    item.last_as({});
    item.home = runnable::k_anywhere;
    item.site = wanted.site;
    next.set_nesting(false, true);
    next.set_communication_of_step(false);
    start(next);
}

void replay_run::start(replayed_task& next, const task_attributes& wanted) noexcept {
    detail::apply_attributes(wanted, next);
    next.set_nesting(wanted.final, true);
    next.set_communication_of_step(wanted.communication);
    start(next);
}

QUERN_ALWAYS_INLINE void replay_run::start(replayed_task& next) noexcept {
    ++m_at;
    if (graph_recording* const recording = current_graph_recording()) [[unlikely]] {
        recording->replays(m_home);
    }
    next.creator_is_done();
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
