// SPDX-License-Identifier: BSL-1.0
// A task of a recorded step: made once, then armed again for later steps. Its accesses are known,
// so it enters no map: what precedes it was found when the step was recorded. No template: of a
// spawn's types it knows a table. Protocol: src/dependences/README.md, "Replay".
#pragma once

#include <quern/dependences/detail/access_records.hpp>
#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/dependences/detail/domain_core.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace quern::detail {

class replayed_task;

/// The tasks of one step that is in flight, and how many of them have ended. The owner of the
/// domain spawns and waits; workers end tasks.
class replay_slot {
public:
    replay_slot() = default;
    replay_slot(const replay_slot&) = delete;
    replay_slot& operator=(const replay_slot&) = delete;

    // Owner.
    void count_spawned() noexcept {
        m_count.owner_spawned();
        ++m_spawned;
    }
    bool is_used() const noexcept { return m_spawned != 0; }
    /// As far as can be seen; wait() does not suspend then.
    bool has_ended() const noexcept { return m_nothing_ended - m_count.outstanding() == m_spawned; }
    /// Returns when all tasks that were spawned have ended. Then the slot is not used.
    void wait() noexcept;

    /// A task has ended. The last access of its worker to the slot and its tasks.
    void task_ended() noexcept;

    std::vector<std::unique_ptr<replayed_task>> tasks;
    std::vector<replayed_task*> successors;  ///< of all tasks, one after the other

private:
    static const wait_kind k_wait;

    std::int64_t m_spawned = 0;
    group_count<std_atomics, domain_waiter> m_count;
    const std::int64_t m_nothing_ended = m_count.outstanding();
};

/// What a replayed task needs of the type of its function and accesses. A table for each type of
/// spawn, which tells these types apart too; all else is compiled once.
struct replayed_type {
    std::size_t bytes;  ///< of the body: the function, and what its views are made of
    std::size_t alignment;
    /// Calls the function, as an rvalue.
    void (*call)(void* body, regions_at where);
    void (*destroy)(void* body) noexcept;  ///< null: there is nothing to do
};

/// The accesses of a task in all steps. Copies of a task share them.
class recorded_accesses {
public:
    /// Throws std::bad_alloc.
    explicit recorded_accesses(std::span<const strided_region> where);
    recorded_accesses(const recorded_accesses&) = delete;
    recorded_accesses& operator=(const recorded_accesses&) = delete;

    std::span<const strided_region> where() const noexcept { return m_where; }

private:
    std::vector<strided_region> m_where;
    std::vector<strides> m_shapes;
};

class replayed_task final : public dependent_task {
public:
    /// Throws std::bad_alloc.
    static std::unique_ptr<replayed_task> make(domain_shared& home, const replayed_type& type,
                                               std::shared_ptr<const recorded_accesses> of);
    /// The same task without the function. Throws std::bad_alloc.
    std::unique_ptr<replayed_task> copy() const { return make(home(), m_type, m_recorded); }
    ~replayed_task() override = default;
    /// Its body lies behind it.
    static void operator delete(replayed_task* task, std::destroying_delete_t) noexcept;

    std::span<const strided_region> where() const noexcept { return m_where; }
    bool is_of(const replayed_type& type, std::span<const strided_region> where) const noexcept;
    /// The same without a call; false for regions of several rows.
    bool is_surely_of(const replayed_type& type,
                      std::span<const strided_region> where) const noexcept;
    /// For the body of the coming step.
    void* body() noexcept { return m_body; }

    /// Where it belongs, and what waits for it. `predecessors`: in all later steps; `first`: in the
    /// coming one. One more is the creator, which calls creator_is_done().
    void place(replay_slot& slot, std::span<replayed_task* const> successors,
               std::uint32_t predecessors, std::uint32_t first) noexcept {
        m_slot = &slot;
        m_successors = successors;
        m_next_step = nullptr;
        m_armed = predecessors + 1;
        missing.rearm(first + 1);
    }
    /// It has many bytes. `next_step`: the same task there if it waits for this one, or null.
    void place_large(replayed_task* next_step) noexcept {
        set_large();
        m_next_step = next_step;
    }
    /// Of its attributes in the coming step. It keeps the way of large tasks.
    void set_communication_of_step(bool passes_messages) noexcept {
        m_is_communication = false;
        if (passes_messages) [[unlikely]] {
            set_communication();
        }
    }
    /// Its body and attributes are there.
    QUERN_ALWAYS_INLINE void creator_is_done() noexcept {
        m_is_dropped = false;
        m_slot->count_spawned();
        if (missing.satisfied()) {
            become_ready();
        }
    }

    /// In the place of dependent_task's completion.
    void step_ended(ready_successors& released) noexcept;

private:
    replayed_task(domain_shared& home, const replayed_type& type,
                  std::shared_ptr<const recorded_accesses> of, void* body) noexcept;
    void run_body() override;
    void forget_body() noexcept override;
    void settle(std::exception_ptr) noexcept override {}
    QUERN_COLD void tell_next_step() noexcept;

    const replayed_type& m_type;
    void* const m_body;
    std::shared_ptr<const recorded_accesses> m_recorded;
    const std::span<const strided_region> m_where;
    replay_slot* m_slot = nullptr;
    std::span<replayed_task* const> m_successors;
    replayed_task* m_next_step = nullptr;
    std::uint32_t m_armed = 0;  ///< what it waits for in a step
};

}  // namespace quern::detail
