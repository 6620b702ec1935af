// SPDX-License-Identifier: BSL-1.0
// The checks of a domain and of the domains within its tasks. One body at a time in the process is
// checked: page protection is of the process.
#pragma once

#include "checks/body_plan.hpp"
#include "checks/check_reports.hpp"
#include "checks/watched_regions.hpp"

#include <quern/dependences/detail/access_checks.hpp>

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace quern::detail {

class access_checks {
public:
    access_checks() = default;
    access_checks(const access_checks&) = delete;
    access_checks& operator=(const access_checks&) = delete;
    ~access_checks();

    // All throw std::bad_alloc, and are called by any thread.
    void declare(domain_core& home, const dependent_task& task);
    /// Requires: the calling context is the body's, and it is the one that is checked.
    void begin(dependent_task& task);
    void end(dependent_task& task);
    void stop_watching(dependent_task& task);
    void watch_again(dependent_task& task);
    void not_checked();
    /// There was no memory for the plan.
    static void watch_nothing() noexcept;

    void add(wait_of_creator& newest) noexcept;
    void remove(const wait_of_creator& one) noexcept;
    bool may_give_way(wait_of_creator& one) noexcept;

    void forget(const byte_range& bytes);
    void forget_domain(const domain_core& home);
    void forget_all();

private:
    /// Of a task whose body has begun and not returned.
    struct body {
        std::uint32_t kind = 0;
        std::vector<bool> touched;  ///< of each access
        std::vector<bool> judged;   ///< all its pages are protected
    };

    void watch(dependent_task& task, bool was_aside);
    void collect(dependent_task& task);
    void judge(const dependent_task& task, body& of);
    void note_unseen(const dependent_task& task, body& of);
    void check_parent(domain_core& home, const dependent_task& task, std::uint32_t kind);

    std::mutex m_lock;
    watched_regions m_watched;
    check_reports m_reports;
    std::unordered_map<const dependent_task*, body> m_bodies;
    wait_of_creator* m_newest = nullptr;
    snapshot m_before;
    std::uint64_t m_overlaps = 0;  ///< of the process, when the snapshot was taken
    bool m_compares = false;
    std::uint64_t m_tasks = 0;
    std::uint64_t m_not_checked = 0;
};

/// Before the first body. Throws std::bad_alloc.
void make_plan_of_body();

}  // namespace quern::detail
