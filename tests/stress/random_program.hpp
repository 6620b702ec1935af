// SPDX-License-Identifier: BSL-1.0
// Random programs with a known result: a tree of tasks, made anew from its seed at each call, in
// which every node chooses how to run its children (or to wait, or to throw). The value of a node
// is an ordered hash of its children's, so that it shows a lost, repeated or exchanged child.
#pragma once

#include <quern/base/detail/rng.hpp>
#include <quern/quern.hpp>

#include "random_dependents.hpp"
#include "random_family.hpp"
#include "random_forks.hpp"
#include "random_futures.hpp"
#include "random_meetings.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

namespace quern_test {

namespace ways {

#define QUERN_WAY(name) \
    way { #name, name }

/// The first one is the serial run.
inline constexpr way k_all[] = {{"serially",
                                 [](const family& f) {
                                     for (std::size_t i = 0; i < f.size(); ++i) {
                                         f.run(i);
                                     }
                                 }},
                                // forks, scopes, groups, loops
                                QUERN_WAY(fork_join),
                                QUERN_WAY(fork_join_with_context),
                                QUERN_WAY(fork_join_of_three),
                                QUERN_WAY(throwing_fork_join),
                                QUERN_WAY(scope),
                                QUERN_WAY(scope_in_scope),
                                QUERN_WAY(scope_with_results),
                                QUERN_WAY(throwing_scope),
                                QUERN_WAY(stopped_scope),
                                QUERN_WAY(task_group),
                                QUERN_WAY(group_that_fills_itself),
                                QUERN_WAY(bounded_group),
                                QUERN_WAY(bounded_group_that_fills_itself),
                                QUERN_WAY(throwing_group),
                                QUERN_WAY(cancelled_group),
                                QUERN_WAY(parallel_for),
                                QUERN_WAY(parallel_for_of_automatic_grain),
                                QUERN_WAY(stopped_loop),
                                QUERN_WAY(parallel_reduce),
                                QUERN_WAY(pipeline),
                                QUERN_WAY(serial_pipeline),
                                QUERN_WAY(throwing_pipeline),
                                QUERN_WAY(cutoff),
                                QUERN_WAY(throwing_cutoff),
                                QUERN_WAY(tuned),
                                // queued tasks and futures
                                QUERN_WAY(async),
                                QUERN_WAY(async_in_every_way),
                                QUERN_WAY(async_adaptive),
                                QUERN_WAY(async_with_hints),
                                QUERN_WAY(async_that_is_stopped),
                                QUERN_WAY(waits_that_are_stopped),
                                QUERN_WAY(post),
                                QUERN_WAY(held_tasks),
                                QUERN_WAY(promises),
                                QUERN_WAY(packaged_tasks),
                                QUERN_WAY(threads),
                                QUERN_WAY(jthreads),
                                QUERN_WAY(blocking),
                                QUERN_WAY(pinned),
                                QUERN_WAY(task_locals),
                                // continuations of futures
                                QUERN_WAY(then),
                                QUERN_WAY(dataflow_chain),
                                QUERN_WAY(dataflow_of_many),
                                QUERN_WAY(when_all),
                                QUERN_WAY(when_any),
                                QUERN_WAY(when_some),
                                QUERN_WAY(when_each),
                                QUERN_WAY(split_future),
                                // coroutines
                                QUERN_WAY(coroutine),
                                QUERN_WAY(started_coroutines),
                                QUERN_WAY(coroutine_of_futures),
                                // dependent tasks
                                QUERN_WAY(dependent_tasks),
                                QUERN_WAY(dependent_readers),
                                QUERN_WAY(dependent_children),
                                QUERN_WAY(final_task),
                                QUERN_WAY(commutative_tasks),
                                QUERN_WAY(dependent_reduction),
                                QUERN_WAY(renamed_versions),
                                QUERN_WAY(held_accesses),
                                QUERN_WAY(futures_of_a_domain),
                                QUERN_WAY(task_loop),
                                QUERN_WAY(replayed_loop),
                                QUERN_WAY(throwing_domain),
                                QUERN_WAY(cancelled_domain),
                                // meetings
                                QUERN_WAY(mutex),
                                QUERN_WAY(timed_mutex),
                                QUERN_WAY(recursive_mutex),
                                QUERN_WAY(shared_mutex),
                                QUERN_WAY(shared_mutex_of_readers),
                                QUERN_WAY(co_mutex),
                                QUERN_WAY(guard),
                                QUERN_WAY(condition_variable),
                                QUERN_WAY(condition_variable_any),
                                QUERN_WAY(barrier),
                                QUERN_WAY(latch),
                                QUERN_WAY(event),
                                QUERN_WAY(semaphore),
                                QUERN_WAY(sliding_semaphore),
                                QUERN_WAY(trigger),
                                QUERN_WAY(and_gate),
                                QUERN_WAY(call_once),
                                QUERN_WAY(channel),
                                QUERN_WAY(co_channel),
                                QUERN_WAY(full_empty),
                                QUERN_WAY(timed_waits)};

#undef QUERN_WAY

}  // namespace ways

class random_program {
public:
    /// The expected number of nodes grows with the budget.
    static std::uint64_t run_serially(std::uint64_t seed, int budget) {
        return random_program(false).outcome(seed, budget);
    }

    /// Requires: called by a task.
    static std::uint64_t run(std::uint64_t seed, int budget) {
        return random_program(true).outcome(seed, budget);
    }

private:
    explicit random_program(bool parallel) : m_parallel(parallel) {}

    class children final : public family {
    public:
        children(const random_program& of, std::uint64_t seed, int budget, std::size_t count)
            : m_program(of), m_seed(seed), m_budget(budget), m_values(count, 0) {}

        std::size_t size() const noexcept override { return m_values.size(); }
        void run(std::size_t which) const override {
            keep(which, m_program.outcome(seed_of(which), m_budget));
        }
        std::uint64_t value_of(std::size_t which) const override {
            return m_program.node(seed_of(which), m_budget);
        }
        /// Mixed with the present value, so that a child that ran twice shows.
        void keep(std::size_t which, std::uint64_t value) const noexcept override {
            m_values[which] = mix(m_values[which], value);
        }
        void spoil() const noexcept override { m_is_spoilt.store(true, std::memory_order_relaxed); }
        std::uint64_t sum() const {
            return std::accumulate(m_values.begin(), m_values.end(), m_seed + m_is_spoilt, mix);
        }

    private:
        std::uint64_t seed_of(std::size_t which) const { return mix(m_seed, which + 1); }

        const random_program& m_program;
        const std::uint64_t m_seed;
        const int m_budget;
        mutable std::vector<std::uint64_t> m_values;
        mutable std::atomic<bool> m_is_spoilt{false};
    };

    static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
        a ^= b + 0x9E3779B97F4A7C15ULL + (a << 6) + (a >> 2);
        return a * 0xBF58476D1CE4E5B9ULL;
    }

    std::uint64_t outcome(std::uint64_t seed, int budget) const {
        try {
            return node(seed, budget);
        } catch (const thrown& error) {
            return error.value;
        }
    }

    std::uint64_t node(std::uint64_t seed, int budget) const {
        quern::detail::rng random(seed);
        random.next();
        const way& how = ways::k_all[random.below(std::size(ways::k_all))];
        const std::uint32_t count = budget <= 0 ? 0 : 1 + random.below(5);
        const bool throws = random.below(10) == 0;
        const bool waits = random.below(4) == 0;
        const children all(*this, seed, budget - 1 - static_cast<int>(random.below(2)), count);
        if (m_parallel) {
            if (waits) {
                let_others_run();
            }
            how.run(all);
        } else {
            ways::k_all[0].run(all);
        }
        if (throws) {
            throw thrown{all.sum()};
        }
        return all.sum();
    }

    bool m_parallel;
};

}  // namespace quern_test
