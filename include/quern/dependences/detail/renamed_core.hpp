// SPDX-License-Identifier: BSL-1.0
// The parts of a renamed object that do not depend on its type: which version an access gets, which
// versions may be used again, the budget of the process. The owner of the object is the only one
// that calls it. Whether a version is in use says the map of the domain: its accesses are regions
// like all others, so neither tasks nor releases know of renaming. Protocol:
// src/dependences/README.md, "Renaming".
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/base/detail/intrusive_list.hpp>
#include <quern/dependences/detail/region.hpp>

#include <cstddef>
#include <cstdint>
#include <thread>

namespace quern::detail {

enum class region_use : std::uint8_t;
struct task_record;

/// Storage of one version of an object.
struct version : list_link {
    void* object = nullptr;    ///< of the user's type
    std::uintptr_t begin = 0;  ///< of its data
    std::size_t bytes = 0;     ///< of its data
};

class renamed_core : public list_link {
public:
    renamed_core(const renamed_core&) = delete;
    renamed_core& operator=(const renamed_core&) = delete;

    /// Throws std::logic_error, which names the function, if the caller has not made it.
    void require_owner(const char* function) const {
        if (!is_owned_here()) [[unlikely]] {
            refuse_stranger(function);
        }
    }

    /// The region of the version that a task gets which is being spawned. `needs_value`: of what a
    /// write finds. Throws std::logic_error if another domain uses the object,
    /// std::invalid_argument if the task has named it already, or if the budget is smaller than a
    /// version.
    region resolve(access_kind kind, bool needs_value, domain_core& home);

    /// The task of that number, domain_core::next_task(), was not spawned after all: the version
    /// before it is current again, if it has got another one. Nothing was spawned since.
    void undo(const domain_core& home, std::int64_t task) noexcept;

    /// For taskwait(on()): what to wait for, and what follows.
    region region_to_wait_for(access_kind kind, domain_core& home) const;
    void has_been_waited_for();

    /// Throws std::logic_error if tasks may still change the object, or it is not up to date.
    void require_value() const;

    /// The tasks of its domain have ended: copies back.
    void settle() noexcept;
    /// No domain uses it.
    void leave() noexcept;

protected:
    /// Of the calling task or thread.
    renamed_core() noexcept;
    ~renamed_core() = default;

    /// Called by the destructor of the derived class: waits, copies back, frees all versions.
    void end() noexcept;

    /// What a version takes of the budget; looked up again before the first task.
    virtual std::size_t cost() const = 0;
    /// Sets object, begin and bytes.
    virtual void find_users(version& of) const = 0;
    /// Of as many bytes as the user's object.
    virtual version* make() = 0;
    virtual void destroy(version& one) noexcept = 0;
    virtual void copy(const version& from, version& to) = 0;

private:
    bool is_owned_here() const noexcept;
    [[noreturn]] QUERN_COLD void refuse_stranger(const char* function) const;
    void require_no_other(const domain_core& home) const;
    void enter(domain_core& home);
    void require_same_place() const;
    void forget_if_watched(const version& one) const noexcept;

    region region_of_current(access_kind kind) const noexcept;
    region_use use_of(const version& one) const;
    void rename(bool needs_value);
    bool is_copied_to(version& fresh);
    version* find_version(bool may_wait_for_readers);
    version* take_idle(std::size_t looks);
    version* take_new();
    bool tasks_follow();
    version* take(version& old) noexcept;
    void retire(version& one) noexcept;
    void wait_for(const version& one);
    void wait_for_all_versions() noexcept;
    void free_idle_of_others() noexcept;
    void free_all_but(std::size_t kept) noexcept;
    void free_version(version& old) noexcept;
    void copy_back();

    static std::int64_t busy_bytes(const void* of);

    const task_record* const m_owner;  ///< null: a thread outside of tasks
    const std::thread::id m_owner_thread;
    domain_core* m_home = nullptr;  ///< whose tasks use it; null: none
    std::int64_t m_named_by = -1;   ///< the number of the task that has named it last
    version* m_before = nullptr;    ///< the current version before that task took another one
    std::size_t m_cost = 0;         ///< bytes of a version
    std::size_t m_most_ahead = 0;   ///< old versions; then the oldest is taken again
    version m_users;                ///< the user's object
    version* m_current = &m_users;  ///< what the next reader gets
    intrusive_list<version> m_old;  ///< the oldest first; those not in use may be used again
    std::size_t m_old_versions = 0;
    std::uint32_t m_trusted = 0;  ///< versions for which tasks are known to run
};

/// Of the process. Any thread.
struct renaming_totals {
    std::uint64_t bytes = 0;        ///< of versions that there are now, beside the users' objects
    std::uint64_t most_bytes = 0;   ///< at any time
    std::uint64_t versions = 0;     ///< that accesses have got, new ones and others again
    std::uint64_t copies_back = 0;  ///< to users' objects
};
renaming_totals read_renaming() noexcept;

}  // namespace quern::detail
