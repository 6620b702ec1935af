// SPDX-License-Identifier: BSL-1.0
// The setting check-accesses as domains see it. While it is on, the tasks of a domain run one at a
// time, each when it is created, and what their bodies access is compared with what they declare.
// Off, it costs nothing: a domain looks at it where it looks at its limit of live tasks, and a task
// where it looks for a recording. src/dependences/checks.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace quern::detail {

class access_checks;
class dependent_task;
class domain_core;

/// Of the process: for domains that are made from now on. Any thread.
void check_accesses(bool on) noexcept;
bool checks_accesses() noexcept;

/// Null: pages can be protected. Else why not: then only writes are seen.
const char* why_no_page_guard() noexcept;

/// Mistakes that were reported in this process. Any thread.
std::uint64_t access_mistakes() noexcept;

struct end_of_access_checks {
    void operator()(access_checks* of) const noexcept;  ///< reports what was never touched
};
using access_checks_of_domain = std::unique_ptr<access_checks, end_of_access_checks>;

/// Of a domain that is not of a dependent task. Null: off, or there is no memory.
access_checks_of_domain make_access_checks() noexcept;

/// The calling task's body is not checked while this exists: a child runs in its place.
class checks_aside {
public:
    checks_aside() noexcept;
    checks_aside(const checks_aside&) = delete;
    checks_aside& operator=(const checks_aside&) = delete;
    ~checks_aside();

private:
    dependent_task* const m_body;  ///< null: it is not checked
};

/// The task is about to be entered in the map of its domain.
void check_declarations(access_checks& of, domain_core& home, const dependent_task& task) noexcept;

/// A creator that waits for the task that it makes, from before that can begin. The numbers of a
/// pool do not tell a worker that has nothing to do from one that has taken a task and was stopped
/// by the system before it said so; a creator that did not wait would have its task not checked.
class wait_of_creator {
public:
    explicit wait_of_creator(access_checks& of) noexcept;
    wait_of_creator(const wait_of_creator&) = delete;
    wait_of_creator& operator=(const wait_of_creator&) = delete;
    ~wait_of_creator();

    /// The task waits for no other one: its body will begin.
    void expects_body() noexcept { m_expects_body = true; }
    /// Nothing seems to run. False: the creator should look again, since another one waits within
    /// this wait, or the body has not begun and this is not the 200th such look.
    bool may_give_way() noexcept;

private:
    friend class access_checks;

    access_checks& m_of;
    wait_of_creator* m_older = nullptr;
    std::uint64_t m_begun = 0;  ///< bodies of the domain
    int m_looks = 0;
    bool m_expects_body = false;
};

/// Stands around the body of a task.
class checked_body {
public:
    /// Null: it is not checked. May suspend.
    checked_body(access_checks* of, dependent_task& task) noexcept;
    checked_body(const checked_body&) = delete;
    checked_body& operator=(const checked_body&) = delete;
    ~checked_body();

private:
    access_checks* const m_of;
    dependent_task& m_task;
};

/// The memory may be freed, or used by others: it is not watched any more. Null: nothing to do.
void forget_watched(access_checks* of, std::uintptr_t begin, std::size_t bytes) noexcept;
void forget_watched(access_checks* of) noexcept;
void forget_watched(access_checks* of, const domain_core& declared_by) noexcept;

}  // namespace quern::detail
