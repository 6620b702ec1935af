// SPDX-License-Identifier: BSL-1.0
// The record of a dependent task: its accesses, what it waits for, its children. Made by a domain,
// which registers it; freed when it is complete and no map refers to it. Protocol:
// src/dependences/README.md.
#pragma once

#include <quern/base/detail/blocks.hpp>
#include <quern/dependences/detail/access_word.hpp>
#include <quern/dependences/detail/region.hpp>
#include <quern/scheduler/detail/queued_task.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>

namespace quern::detail {

class dependent_task;
class domain_core;
class ready_successors;

/// What waits for predecessors: a task that has not begun, an access whose task has ended and whose
/// children use it, or a taskwait(on()).
struct dependence_target {
    enum class what : std::uint8_t { task, access, waiter };

    explicit dependence_target(what w) noexcept : is_a(w) {}

    predecessor_count<std_atomics> missing;
    const what is_a;
};

/// From an access to one successor. The first of each access lies in the successor's record, others
/// are blocks, which the releasing thread frees.
struct dependence_link {
    dependence_link* next = nullptr;
    dependence_target* target = nullptr;
    bool is_block = false;
};

/// One access of a task.
struct access_record : dependence_target, region {
    access_record(const region& of, dependent_task& by) noexcept
        : dependence_target(what::access), region(of), task(by) {}

    /// Links the target to this access. False: it is released already, there is nothing to wait
    /// for. Throws std::bad_alloc; then nothing has changed.
    bool precede(dependence_target& target, access_record* with_link);

    successor_stack<std_atomics, dependence_link> successors;
    dependence_link own_link;  ///< to the first predecessor
    dependent_task& task;
};

/// Base of all dependent tasks. Four threads may know it: the one that registers it, the one that
/// runs it, the one that completes it, and the owner of the domain, whose map refers to it.
class dependent_task : public queued_task<dependent_task>,
                       public dependence_target,
                       public in_blocks {
public:
    void call() noexcept;
    void completed(ready_batch& batch) noexcept;

    /// On a copy of the task's bytes too.
    std::span<access_record> accesses() const noexcept { return {m_accesses, m_access_count}; }
    domain_core& home() const noexcept { return m_home; }
    /// The domain of its children, made with the first one. Called by the running task.
    domain_core& own_domain();

    /// The body is not called. Called instead of it, or before the task is ready.
    void drop() noexcept;

    // The domain's map refers to it: called by the owner of the domain alone.
    void add_map_reference() noexcept { ++m_map_references; }
    void drop_map_reference() noexcept {
        if (--m_map_references == 0) {
            drop_reference();
        }
    }
    /// Before it can be ready: one reference stands for those of the map, one for the run.
    void begin_registration() noexcept { m_map_references = 1; }
    void end_registration() noexcept {
        if (--m_map_references == 0) {
            m_references.store(1, std::memory_order_relaxed);
        }
    }

protected:
    explicit dependent_task(domain_core& home) noexcept;
    virtual ~dependent_task();

    /// They lie in the derived object. Called once, by its constructor.
    void set_accesses(std::span<access_record> own) noexcept {
        m_accesses = own.data();
        m_access_count = static_cast<std::uint32_t>(own.size());
    }

private:
    /// The user's function; what it throws is the task's error.
    virtual void run_body() = 0;
    /// Destroys the function. Called once: after it has run, or instead.
    virtual void forget_body() noexcept = 0;
    /// The task is complete: delivers its result, or the error of its children, or if it was
    /// dropped that.
    virtual void settle(std::exception_ptr error_of_children) noexcept = 0;

    bool body_ended(ready_successors& released) noexcept;
    void release_unless_used(access_record& access, ready_successors& released) noexcept;
    dependent_task* complete(ready_successors& released, bool has_waited) noexcept;
    void drop_reference() noexcept {
        // acq_rel: the destroying thread sees what the other has written.
        if (m_references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

protected:
    bool m_is_dropped = false;
    bool m_is_noted = false;  ///< for reports: it is held, and its domain has a note of it

private:
    std::uint32_t m_access_count = 0;
    std::uint32_t m_map_references = 0;
    std::atomic<std::uint32_t> m_references{2};
    access_record* m_accesses = nullptr;
    domain_core& m_home;
    std::unique_ptr<domain_core> m_children;
};

}  // namespace quern::detail
