// SPDX-License-Identifier: BSL-1.0
// The records of tasks that have branches, in a table without locks.
#include <quern/scheduler/detail/branches.hpp>

#include <quern/base/detail/cache_line.hpp>
#include <quern/scheduler/detail/task_holds.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quern::detail {

namespace {

/// relaxed, all below: a task is looked for only by itself and its branches, which come after it.
constinit std::atomic<work::run_function> g_kind{nullptr};

/// Records of tasks, each in the line that its address gives. Where a line is full the task is not
/// known: then its branches are told from it only where they are stolen. Without locks, for a child
/// process made by fork() has this table too.
class records {
public:
    void add(const task_record& task) noexcept {
        for (auto& each : line_of(task).places) {
            const task_record* none = nullptr;
            if (each.compare_exchange_strong(none, &task, std::memory_order_relaxed)) {
                m_count.fetch_add(1, std::memory_order_relaxed);
                return;
            }
        }
    }
    void remove(const task_record& task) noexcept {
        for (auto& each : line_of(task).places) {
            const task_record* its = &task;
            if (each.compare_exchange_strong(its, nullptr, std::memory_order_relaxed)) {
                m_count.fetch_sub(1, std::memory_order_relaxed);
                return;
            }
        }
    }
    bool has(const task_record& task) noexcept {
        if (m_count.load(std::memory_order_relaxed) == 0) {
            return false;
        }
        for (const auto& each : line_of(task).places) {
            if (each.load(std::memory_order_relaxed) == &task) {
                return true;
            }
        }
        return false;
    }

private:
    static constexpr std::size_t k_lines = 256;  // 2048 tasks, if they are spread (guessed)

    struct alignas(k_cache_line) line {
        std::array<std::atomic<const task_record*>, k_cache_line / sizeof(void*)> places{};
    };

    line& line_of(const task_record& task) noexcept {
        constexpr std::uint64_t k_multiplier = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
        const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(&task) * k_multiplier;
        return m_lines[(mixed >> 32) % k_lines];
    }

    std::atomic<std::int64_t> m_count{0};
    std::array<line, k_lines> m_lines{};
};

constinit records g_records;

}  // namespace

void set_kind_with_own_branches(work::run_function entry) noexcept {
    if (g_kind.load(std::memory_order_relaxed) != entry) {
        g_kind.store(entry, std::memory_order_relaxed);
    }
}

void begin_own_branches(const task_record& task) noexcept {
    g_records.add(task);
    fork_slowly();
}

void end_own_branches(const task_record& task) noexcept { g_records.remove(task); }

bool has_own_branches(const task_record& task) noexcept {
    const work::run_function entry = task.entry;
    return (entry != nullptr && entry == g_kind.load(std::memory_order_relaxed)) ||
           g_records.has(task);
}

branch_record::branch_record(context& place, work::run_function entry) noexcept
    : m_place(place), m_task(place.root().task()) {
    m_branch.restart(entry);
    m_branch.name = m_task.name;
    m_branch.site = m_task.site;
    m_branch.id = m_task.id;
    m_branch.result = m_task.result;
    m_branch.outer = &m_task;
    m_branch.stop = m_task.stop;
    m_branch.trace = m_task.trace;
    m_place.root().set_task(m_branch);
}

branch_record::~branch_record() {
    m_branch.locals.destroy_all();
    if (m_branch.holds != nullptr) [[unlikely]] {
        wait_for_holds(m_branch);
    }
    m_task.id = m_branch.id;
    m_task.trace = m_branch.trace;
    m_place.root().set_task(m_task);
    m_place.force_slow_path();
}

}  // namespace quern::detail
