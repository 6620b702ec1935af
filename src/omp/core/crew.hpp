// SPDX-License-Identifier: BSL-1.0
// The threads of a team: a pool of workers. One of them lends its place to the thread that meets
// the region, the others wait between regions for the next one.
#pragma once

#include "core/team.hpp"

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/scheduler/work.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quern::omp {

class crew {
public:
    /// Threads for teams of up to so many. Throws std::system_error, std::bad_alloc.
    explicit crew(unsigned capacity);
    /// Requires: none of its teams runs.
    ~crew();
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    /// Its team; run_region() says who and what.
    team& whole() noexcept { return m_team; }
    unsigned capacity() const noexcept { return m_capacity; }
    /// Made before a fork() that made this process: its threads are not here.
    bool is_inherited() const noexcept { return m_pool->inherited(); }

    /// The next region has so many members.
    void set_size(unsigned size) noexcept;
    /// Runs the team's region. The caller is member 0.
    void run() noexcept;

    bool is_used = false;

    /// The threads of members that wait for a region which has not begun. Any thread.
    void add_idle_threads(std::set<pid_t>& to) const;

private:
    /// What a worker runs from the beginning to the end of the crew: a member, region by region.
    struct post final : detail::runnable {
        post() noexcept;
        crew* of = nullptr;
        unsigned number = 0;
        std::string named;
    };
    /// A region as the caller runs it, in the place of a worker that sleeps.
    struct visit final : detail::runnable {
        explicit visit(crew& where) noexcept;
        crew& of;
    };
    static detail::context* run_post(detail::work& item) noexcept;
    static detail::context* run_visit(detail::work& item) noexcept;
    void serve(member& one) noexcept;
    bool wait_for_region(member& one, std::uint32_t seen) noexcept;
    void begin_region(member& one) noexcept;
    void wait_for_members() const noexcept;

    unsigned m_capacity;
    std::unique_ptr<member[]> m_members;
    std::unique_ptr<share[]> m_shares;
    std::unique_ptr<member_stacks[]> m_stacks;  ///< of the members; null: their tasks have none
    team m_team;
    std::vector<std::unique_ptr<post>> m_posts;
    std::atomic<unsigned> m_posted{0};  ///< members that wait for a region
    std::atomic<bool> m_ends{false};
    // One of them: a runtime is what recordings know.
    std::unique_ptr<runtime> m_runtime;
    std::optional<detail::pool> m_own_pool;
    detail::pool* m_pool = nullptr;
};

/// Threads for a team of that size, for the calling thread: those that it had last, so that what is
/// local to threads stays. Null: there are no threads to be had, which has been told. give_crew()
/// in the reverse order.
crew* take_crew(unsigned size) noexcept;
void give_crew(crew& used) noexcept;

/// Ends the calling thread's crews that run no region.
void dismiss_crews_of_thread() noexcept;

}  // namespace quern::omp
