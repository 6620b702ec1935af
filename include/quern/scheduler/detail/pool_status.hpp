// SPDX-License-Identifier: BSL-1.0
// What reports read of a pool: how it was made, its workers as worker_shared, and sums over what
// these have counted. Any thread, while the pool lives; each value was true a moment ago.
#pragma once

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/hang_watch.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/scheduler/policy.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quern::detail {

/// A larger number is taken for a mistake.
inline constexpr std::uint32_t k_max_workers = 4096;

struct pool_description {
    std::string name = "default";
    std::uint32_t workers = 1;
    /// Processing unit of each worker, or -1 for unbound. Empty: all unbound.
    std::vector<int> processing_units{};
    /// For each worker the others in rings of growing distance. Empty: one ring.
    std::vector<std::vector<std::vector<std::uint32_t>>> victims{};
    /// The number of each worker's NUMA node. Empty: nothing is known, all count as one node.
    std::vector<unsigned> nodes{};
    const scheduling_policy* policy = nullptr;  ///< null: the default
    stack_class stacks = stack_class::medium;   ///< of tasks that do not ask for another
    hang_report_mode hang_report{};
};

class pool_status {
public:
    pool_status(const pool_status&) = delete;
    pool_status& operator=(const pool_status&) = delete;

    const std::string& name() const noexcept { return m_name; }
    const scheduling_policy& policy() const noexcept { return *m_policy; }
    stack_class stacks() const noexcept { return m_stacks; }
    hang_report_mode hang_report() const noexcept { return m_hang_report; }
    /// As the description said.
    std::optional<unsigned> numa_node_of(std::uint32_t rank) const noexcept {
        return rank < m_node_numbers.size() ? std::optional(m_node_numbers[rank]) : std::nullopt;
    }

    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(m_workers.size()); }
    const worker_shared& at(std::uint32_t rank) const noexcept { return *m_workers[rank]; }

    /// Sum over the workers.
    worker_totals totals() const noexcept;
    /// Items begun and contexts resumed so far.
    std::uint64_t activations() const noexcept;
    /// Contexts that are left, also below a call on a fresh stack. Exact when quiet.
    std::uint64_t contexts_away() const noexcept;

    /// Its runtime has ended, but threads outside may still use it.
    bool is_kept() const noexcept { return m_kept.load(std::memory_order_relaxed); }
    /// Whether it was made before this process was, by fork(): its workers are not here.
    bool inherited() const noexcept { return m_generation != fork_generation(); }
    /// Throws std::logic_error for an inherited pool.
    void require_not_inherited() const {
        if (inherited()) [[unlikely]] {
            refuse_inherited();
        }
    }

protected:
    using worker_list = std::vector<std::unique_ptr<worker>>;

    /// Takes the name and the nodes out of the description. Throws std::invalid_argument for a
    /// number of workers that is not accepted.
    explicit pool_status(pool_description& of);
    ~pool_status() = default;

    worker_list& workers() noexcept { return m_workers; }
    const worker_list& workers() const noexcept { return m_workers; }
    void keep() noexcept { m_kept.store(true, std::memory_order_relaxed); }
    [[noreturn]] void die_inherited() const noexcept;  ///< where nothing can be thrown

private:
    [[noreturn]] void refuse_inherited() const;

    std::string m_name;
    const scheduling_policy* m_policy;
    stack_class m_stacks;
    hang_report_mode m_hang_report;
    const unsigned m_generation = fork_generation();
    std::atomic<bool> m_kept{false};
    std::vector<unsigned> m_node_numbers;  ///< of each worker, or empty
    worker_list m_workers;
};

}  // namespace quern::detail
