// SPDX-License-Identifier: BSL-1.0
// The record of a dependent task: its accesses, what it waits for, its children. Made by a domain,
// which registers it; freed when it is complete and no map refers to it. Protocol:
// src/dependences/README.md.
#pragma once

#include <quern/base/detail/blocks.hpp>
#include <quern/dependences/detail/access_word.hpp>
#include <quern/dependences/detail/commutative_lock.hpp>
#include <quern/dependences/detail/given_up.hpp>
#include <quern/dependences/detail/last_writer.hpp>
#include <quern/dependences/detail/region.hpp>
#include <quern/scheduler/detail/queued_task.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

namespace quern::detail {

class access_owner;
class graph_recording;
class dependent_task;
class domain_shared;
class ready_successors;
struct access_waiter;
struct new_links;
struct ready_from;

/// What waits for predecessors: a task that has not begun, an access whose task has ended and whose
/// children use it, or a part of one whose children use that, or a taskwait(on()).
struct dependence_target {
    enum class what : std::uint8_t { task, access, entry, waiter, part };

    explicit dependence_target(what w) noexcept : is_a(w) {}

    predecessor_count<std_atomics> missing;
    const what is_a;
    /// Of an access.
    given_up_word<std_atomics> given_up;
    /// Of an access: before its task runs of its data, afterwards of its own. Written by the owner
    /// until the own link is pushed, then by the thread that follows that link, then by the task.
    writer_rank last_writer = k_no_writer;
};

/// From an access to one successor. The first of each access lies in the successor's record, others
/// are blocks, which the releasing thread frees.
struct dependence_link {
    void set(dependence_target& target, bool is_block) noexcept {
        m_target = reinterpret_cast<std::uintptr_t>(&target) | (is_block ? 1U : 0U);
    }
    void clear() noexcept { m_target = 0; }
    bool is_used() const noexcept { return m_target != 0; }
    bool is_block() const noexcept { return (m_target & 1U) != 0; }
    dependence_target& target() const noexcept {
        return *reinterpret_cast<dependence_target*>(m_target & ~std::uintptr_t{1});
    }

    dependence_link* next = nullptr;

private:
    std::uintptr_t m_target = 0;  ///< the lowest bit: a block
};

struct linked_block : dependence_link {
    const strided_region* by = nullptr;  ///< the access that waits, or null
};

/// One access of a task. The link is the one to its first predecessor.
struct access_record : dependence_target, strided_region, dependence_link {
    access_record(const strided_region& of, access_owner& by, what w = what::access) noexcept
        : dependence_target(w), strided_region(of), owner(by) {}

    dependence_link& own_link() noexcept { return *this; }
    /// Requires: it is no block.
    static access_record& of_own_link(dependence_link& link) noexcept {
        return static_cast<access_record&>(link);
    }

    /// Links the target to this access. False: it is released already, or all that it has in common
    /// with the access `by`: there is nothing to wait for. Throws std::bad_alloc; then nothing has
    /// changed.
    bool precede(dependence_target& target, access_record* with_link, const strided_region* by);

    successor_stack<std_atomics, dependence_link> successors;
    access_owner& owner;

private:
    QUERN_COLD bool precede_partly(dependence_link& link, const dependence_target& target,
                                   const strided_region* by) noexcept;
};

/// What a record of an access lies in. The owner of the domain counts the references of its map in
/// a plain number; all of them together are one of two references, the other is for the run.
class access_owner {
public:
    access_owner(const access_owner&) = delete;
    access_owner& operator=(const access_owner&) = delete;

    // Called only by the owner of the domain.
    void add_map_reference() noexcept { ++m_map_references; }
    void drop_map_reference() noexcept {
        if (--m_map_references == 0) {
            drop_reference();
        }
    }
    /// Before and after its accesses are entered in the map.
    void begin_registration() noexcept { m_map_references = 1; }
    void end_registration() noexcept {
        if (--m_map_references == 0) {
            // relaxed: no other thread has a reference
            m_references.store(m_references.load(std::memory_order_relaxed) - 1,
                               std::memory_order_relaxed);
        }
    }

    // Any thread.
    void add_reference() noexcept { m_references.fetch_add(1, std::memory_order_relaxed); }
    void drop_reference() noexcept {
        // acq_rel: the destroying thread sees what the other has written.
        if (m_references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete_it();
        }
    }

protected:
    access_owner() noexcept = default;
    ~access_owner() = default;

private:
    virtual void delete_it() noexcept = 0;

    std::uint32_t m_map_references = 0;
    std::atomic<std::uint32_t> m_references{2};
};

// -- what few tasks have -----------------------------------------------------------------------

struct commutative_lock;
struct lock_request;
using plain_commutative_lock = basic_commutative_lock<std_atomics, spin_lock, lock_request>;

/// The locks of a task with commutative accesses.
struct lock_request {
    explicit lock_request(dependent_task& by) noexcept : task(by) {}

    /// Throws std::bad_alloc.
    void need(access_record& by, const std::shared_ptr<commutative_lock>& of, bool is_alone);
    /// All are known: the task may be made ready. Throws std::bad_alloc.
    void prepare();
    std::span<const plain_commutative_lock::use> uses() const noexcept { return m_uses; }
    /// The access is released. Returns one lock that the task holds for it and needs no longer, or
    /// null when there is no other. Any thread.
    std::shared_ptr<commutative_lock> take_needless(const access_record& by,
                                                    bool& is_alone) noexcept;

    dependent_task& task;
    lock_request* next_waiting = nullptr;
    std::int16_t rank = 0;

private:
    struct need_of {
        const access_record* by;
        std::shared_ptr<commutative_lock> of;
        bool is_alone;
    };

    spin_lock m_lock;  ///< of m_needs: two accesses may be released at the same time
    std::vector<need_of> m_needs;
    std::vector<plain_commutative_lock::use> m_uses;
};

/// The lock of a fragment. `above`: the locks that a task needs which needs this one.
struct commutative_lock : plain_commutative_lock {
    struct higher {
        std::shared_ptr<commutative_lock> of;
        bool is_alone;
    };
    std::vector<higher> above;
};

/// Stands for a part of a weak access in the map of the children, which wait for it. It is released
/// when the predecessors of the weak access have released theirs, and keeps the parent until then.
class weak_entry final : public access_owner, public in_blocks {
public:
    weak_entry(const strided_region& part, dependent_task& parent);

    access_record record;
    std::uint32_t links = 0;     ///< to be registered
    weak_entry* next = nullptr;  ///< of a list: of its parent, then of those that are released

private:
    ~weak_entry();
    void delete_it() noexcept override { delete this; }

    dependent_task& m_parent;
    std::unique_ptr<const strides> m_shape;  ///< the fragment may be divided later
};

/// A child of a final task, which runs in the place of its creation. Lies in the frame of the call,
/// for this_task::release.
struct child_in_place {
    std::span<const strided_region> where{};
    const void* lists = nullptr;  ///< its accesses
    bool (*is_in_list)(const void* lists, const strided_region& wanted) = nullptr;  ///< or null
    std::vector<wanted_region> released{};
    child_in_place* outer = nullptr;  ///< it was created by that one

    bool has(const strided_region& wanted) const;
};
/// Stands around the call of its function.
class running_in_place {
public:
    /// Throws std::bad_alloc.
    running_in_place(domain_core& home, child_in_place& child);
    running_in_place(const running_in_place&) = delete;
    running_in_place& operator=(const running_in_place&) = delete;
    ~running_in_place() { m_now = m_now->outer; }

private:
    child_in_place*& m_now;
};

struct partly_released;
struct released_part;

/// What only some tasks have.
struct rare_parts {
    ~rare_parts();

    std::unique_ptr<lock_request> locks;  ///< with commutative accesses
    weak_entry* entries = nullptr;        ///< with weak accesses, until they are registered
    access_waiter* undeferred = nullptr;  ///< the creator, which waits for the function
    /// The place of a task that passes messages among those of its domain.
    std::unique_ptr<access_record> order;
    child_in_place* in_place = nullptr;  ///< of a final task: the child that runs now
    /// Accesses of which parts are released: a list. Written by the running task.
    std::atomic<partly_released*> partly{nullptr};
};

// -- the task ----------------------------------------------------------------------------------

/// Base of all dependent tasks. Four threads may know it: the one that registers it, the one that
/// runs it, the one that completes it, and the owner of the domain, whose map refers to it.
class dependent_task : public queued_task<dependent_task>,
                       public dependence_target,
                       public access_owner,
                       public in_blocks {
public:
    void call() noexcept;
    void completed(ready_batch& batch) noexcept;

    /// On a copy of the task's bytes too.
    std::span<access_record> accesses() const noexcept { return {m_accesses, m_access_count}; }
    domain_shared& home() const noexcept { return m_home; }
    /// The domain of its children, made with the first one. Called by the running task, or before
    /// it is ready.
    domain_core& own_domain();
    bool is_final() const noexcept { return m_is_final; }
    bool is_replayed() const noexcept { return m_is_replayed; }
    /// The child that runs in its place now, or null.
    child_in_place* in_place() const noexcept {
        return m_rare != nullptr ? m_rare->in_place : nullptr;
    }

    /// Of its attributes. Before it is registered. Children of a final task run within it, so its
    /// weak accesses are its own.
    void set_nesting(bool is_final, bool waits) noexcept {
        m_is_final = is_final;
        m_waits = waits;
        if (is_final) [[unlikely]] {
            for (access_record& each : accesses()) {
                each.is_weak = false;
            }
        }
    }
    /// The body is not called. Called instead of it, or before the task is ready.
    void drop() noexcept;

    /// Made when first asked for. Throws std::bad_alloc.
    rare_parts& rare();
    bool has_rare_parts() const noexcept { return m_rare != nullptr; }

    /// Nothing precedes it any more. False: it waits for its locks.
    bool holds_its_locks() noexcept {
        return m_rare == nullptr || m_rare->locks == nullptr ||
               plain_commutative_lock::take_all(*m_rare->locks);
    }

    // -- where it runs: locality.cpp ---------------------------------------------------------

    /// Its accesses have so many bytes that it should run where they were written.
    bool is_large() const noexcept { return m_last_writer != k_too_small; }
    void set_large() noexcept { m_last_writer = k_no_writer; }
    /// Nothing precedes it, says the thread that made it.
    void become_ready() noexcept {
        if (is_large()) [[unlikely]] {
            become_ready_placed();
            return;
        }
        make_ready();
    }
    /// Gives it a hint, if it has none.
    void choose_home(const ready_from& from) noexcept;

    // -- a task that passes messages: communication.cpp --------------------------------------

    /// Before it is registered. It takes the way of large tasks, so that others pay nothing.
    void set_communication() noexcept {
        m_is_communication = true;
        set_large();
    }
    /// It runs in another pool than the other tasks of its domain.
    bool goes_elsewhere() noexcept;
    /// See restart.hpp. By the running task.
    const char* why_no_restart() const noexcept;
    static dependent_task& from_item(runnable& item) noexcept {
        return static_cast<dependent_task&>(static_cast<queued_task<dependent_task>&>(item));
    }

    /// The running task needs the access no longer. Requires: it is not given up.
    void give_up(access_record& access) noexcept;
    /// The same of a part. Requires: may_give_up_part.
    void give_up_part(access_record& access, const wanted_region& part) noexcept;
    /// Whether the access has the part, and no byte of it is given up.
    bool may_give_up_part(access_record& access, const strided_region& part);
    /// Null: no part of it was given up. Any thread.
    partly_released* partly(const access_record& access) const noexcept;
    /// A child has failed, and the function has not been told. Any thread, after that child has
    /// released an access.
    bool has_failed_children() const noexcept;

protected:
    explicit dependent_task(domain_shared& home) noexcept;
    virtual ~dependent_task();

    /// They lie in the derived object. Called once, by its constructor.
    void set_accesses(std::span<access_record> own) noexcept {
        m_accesses = own.data();
        m_access_count = static_cast<std::uint32_t>(own.size());
    }

    /// It is a replayed_task.
    void set_replayed() noexcept { m_is_replayed = true; }

    bool m_is_dropped = false;
    bool m_is_communication = false;          ///< it passes messages
    writer_rank m_last_writer = k_too_small;  ///< of most of its bytes

private:
    friend class ready_successors;

    /// The user's function; what it throws is the task's error.
    virtual void run_body() = 0;
    /// Destroys the function. Called once: after it has run and nothing holds the task, or instead.
    virtual void forget_body() noexcept = 0;
    /// The access, a reduction, is about to be released.
    virtual void end_access(const access_record&) noexcept {}
    /// The task is complete: delivers its result, or the error of its children, or if it was
    /// dropped that.
    virtual void settle(std::exception_ptr error_of_children) noexcept = 0;

    void call_body() noexcept;
    QUERN_COLD void call_watched(graph_recording& recording) noexcept;
    bool body_ended(ready_successors& released) noexcept;
    void release_unless_used(access_record& access, ready_successors& released,
                             bool is_running) noexcept;
    void link_to_own(const access_record& access, const access_record* except, new_links& links);
    void give_up_all(ready_successors& released) noexcept;
    void wake_creator() noexcept;
    dependent_task* complete(ready_successors& released, bool has_waited) noexcept;
    void delete_it() noexcept override { delete this; }
    QUERN_COLD void choose_home() noexcept;
    QUERN_COLD void become_ready_placed() noexcept;
    QUERN_COLD void has_returned_held() noexcept;
    QUERN_COLD void end_order() noexcept;
    QUERN_COLD bool ended_unusually() noexcept;
    QUERN_COLD void queue_again() noexcept;
    void find_last_writer(const worker* here) noexcept;
    void count_place() noexcept;
    void note_write(access_record& access) noexcept;
    void note_writes() noexcept;

    /// When its function has returned: it is held, and the function is kept until it is not; for
    /// reports, its domain has a note of that; or its function will be called again.
    enum class ending : std::uint8_t { usual, held, noted, restarts };
    ending m_ending = ending::usual;
    bool m_is_final = false;
    bool m_is_replayed = false;
    bool m_waits = false;  ///< releases nothing before all children have ended
    std::uint32_t m_access_count = 0;
    access_record* m_accesses = nullptr;
    domain_shared& m_home;
    std::unique_ptr<domain_core> m_children;
    std::unique_ptr<rare_parts> m_rare;
};

}  // namespace quern::detail
