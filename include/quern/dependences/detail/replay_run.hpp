// SPDX-License-Identifier: BSL-1.0
// A replay() in progress: records what a step spawns, compares later steps with it, and while they
// are the same arms its tasks again. Belongs to the owner of the domain. Protocol:
// src/dependences/README.md, "Replay".
#pragma once

#include <quern/dependences/detail/replayed_task.hpp>
#include <quern/task/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quern::detail {

/// The attributes of a task for which none were given: all usual, so nothing is checked or copied.
struct usual_attributes {
    const void* site;
    operator task_attributes() const noexcept { return {.site = site}; }
};

using replay_slots = std::vector<std::unique_ptr<replay_slot>>;

class replay_run {
public:
    /// Throws std::logic_error if one is in progress in the domain.
    explicit replay_run(domain_core& home);
    replay_run(const replay_run&) = delete;
    replay_run& operator=(const replay_run&) = delete;
    /// Waits for its tasks.
    ~replay_run();

    void begin_step();
    void end_step() noexcept;

    /// Its tasks arm each other again: they are not in the map of the domain.
    bool is_replaying() const noexcept { return m_mode == mode::replaying; }
    /// Returns when all that have been spawned have ended.
    void wait_for_tasks() noexcept;
    /// The step does what cannot be replayed: the rest of it is as without a replay.
    void leave_step() noexcept;

    // A spawn, in two calls. The caller makes the body between them; if that throws, nothing has
    // been spawned.

    /// The next task of the recorded step, which is this one. Null: the caller makes a task as
    /// usual, which has been recorded. Throws std::bad_alloc.
    replayed_task* next(const usual_attributes&, const replayed_type& type,
                        std::span<const strided_region> where);
    replayed_task* next(const task_attributes& wanted, const replayed_type& type,
                        std::span<const strided_region> where);
    /// It has its body.
    void start(replayed_task& next, const usual_attributes& wanted) noexcept;
    void start(replayed_task& next, const task_attributes& wanted) noexcept;

    /// For the regions of a spawn that has lists of accesses. Valid until the next call.
    std::vector<strided_region>& room_for_lists(std::span<const strided_region> first) {
        m_of_lists.assign(first.begin(), first.end());
        return m_of_lists;
    }

private:
    enum class mode : std::uint8_t { recording, replaying, leaving };

    QUERN_NOINLINE replayed_task* next_after_all(const replayed_type& type,
                                                 std::span<const strided_region> where);
    void start(replayed_task& next) noexcept;
    QUERN_COLD void record(const replayed_type& type, std::span<const strided_region> where);
    void forget_from(std::size_t at) noexcept;
    void stop_replaying() noexcept;
    void keep_one_slot() noexcept;
    bool build();
    void make_room() noexcept;
    /// Of a step that many after the coming one, less than there are slots.
    replay_slot& slot_after(std::size_t steps) noexcept {
        const std::size_t at = m_next + steps;
        return *m_slots[at < m_slots.size() ? at : at - m_slots.size()];
    }

    domain_core& m_home;
    mode m_mode = mode::recording;
    bool m_has_changed = false;  ///< the present step is not as the one before
    std::size_t m_at = 0;        ///< tasks of the present step
    std::size_t m_next = 0;      ///< slot of the coming step
    std::uint32_t m_same = 0;    ///< steps in a row that were as the one before
    std::uint32_t m_enough = 0;  ///< such steps before the tasks are made
    bool m_is_recorded = false;  ///< a whole step
    replay_slots m_slots;        ///< while recording: one, with the recorded step
    std::vector<std::unique_ptr<replayed_task>>* m_tasks;  ///< of the slot of the present step
    std::vector<strided_region> m_of_lists;
};

// -- the graph of a step -----------------------------------------------------------------------

/// What waits for a task of a recorded step, by their places in it.
struct recorded_successors {
    std::vector<std::uint32_t> in_step;
    std::vector<std::uint32_t> in_next_step;
};

/// Of each task. Throws std::bad_alloc.
std::vector<recorded_successors> graph_of_steps(
    std::span<const std::unique_ptr<replayed_task>> step);

/// Makes the tasks of all slots, of which the first has them already.
void make_slots(replay_slots& slots, std::size_t count);

}  // namespace quern::detail
