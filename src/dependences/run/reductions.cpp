// SPDX-License-Identifier: BSL-1.0
// How a domain closes its reductions: by a task that combines the parts, or at a taskwait() itself.
#include <quern/dependences/detail/domain_core.hpp>

#include "map/overlap.hpp"

#include <atomic>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::detail {

namespace {

/// After all members of a group.
class combining_task final : public dependent_task {
public:
    combining_task(domain_core& home, std::shared_ptr<reduction_group> of, access_kind kind)
        : dependent_task(home), m_record(as(of->where, kind), *this), m_group(std::move(of)) {
        set_accesses({&m_record, 1});
        name = "combine a reduction";
    }

private:
    static region as(region where, access_kind kind) noexcept {
        where.kind = kind;
        where.operation = 0;
        return where;
    }

    void run_body() override { m_group->combine(); }
    void forget_body() noexcept override { m_group.reset(); }
    void settle(std::exception_ptr) noexcept override {}

    access_record m_record;
    std::shared_ptr<reduction_group> m_group;
};

}  // namespace

std::uint32_t next_operation() noexcept {
    static constinit std::atomic<std::uint32_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint32_t next_operation_with_state() noexcept {
    constexpr std::uint32_t k_first = std::uint32_t{1} << 31;
    static constinit std::atomic<std::uint32_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) | k_first;
}

std::uint32_t known_operators::remember(std::uint32_t type, std::shared_ptr<const void> op) {
    known one{type, next_operation_with_state(), std::move(op)};
    const std::uint32_t number = one.number;
    if (m_all.size() < k_most) {
        m_all.push_back(std::move(one));
    } else {
        m_all[m_oldest] = std::move(one);
        m_oldest = (m_oldest + 1) % k_most;
    }
    return number;
}

std::shared_ptr<reduction_group> open_reductions::take_overlapping(
    const strided_region& of) noexcept {
    auto found = m_by_begin.end();
    for_each_row(of, [&](std::uintptr_t begin) {
        // The last group that begins before the end of the row: earlier ones end before it.
        const auto after = m_by_begin.lower_bound(begin + of.bytes);
        if (found != m_by_begin.end() || after == m_by_begin.begin()) {
            return;
        }
        const auto last = std::prev(after);
        if (begin < last->first + last->second->where.bytes) {
            found = last;
        }
    });
    return found != m_by_begin.end() ? std::move(m_by_begin.extract(found).mapped()) : nullptr;
}

std::shared_ptr<reduction_group> open_reductions::take_first() noexcept {
    return empty() ? nullptr : std::move(m_by_begin.extract(m_by_begin.begin()).mapped());
}

/// Those that overlap are combined before a task that comes now.
void domain_core::close_reductions(const strided_region& of) {
    if (of.bytes == 0) {
        return;
    }
    while (std::shared_ptr<reduction_group> one = m_open.take_overlapping(of)) {
        // Parts of several tasks of an outer domain, whose locks exclude each other.
        const access_kind kind =
            m_map.inherits_locks() ? access_kind::commutative : access_kind::write;
        auto* const task = new combining_task(*this, std::move(one), kind);
        ++m_own;
        start(*task);
    }
}

/// Before a task is registered. Its own reductions have joined their groups.
void domain_core::close_reductions_for(dependent_task& task) {
    for (const access_record& each : task.accesses()) {
        if (!each.is_empty && (each.is_weak || each.kind != access_kind::reduction)) {
            close_reductions(each);
        }
    }
}

void domain_core::close_all_reductions() noexcept {
    try {
        while (!m_open.empty()) {
            close_reductions(m_open.first().where);
        }
    } catch (...) {
        m_open.clear();
        fail(std::current_exception());
    }
}

/// All members have ended.
void domain_core::combine_here() noexcept {
    while (const std::shared_ptr<reduction_group> one = m_open.take_first()) {
        if (is_stopped()) {
            m_open.clear();
            return;
        }
        try {
            one->combine();
        } catch (...) {
            fail(std::current_exception());
        }
    }
}

void refuse_mixed_reduction(std::span<const wanted_region> accesses) {
    for (const wanted_region& one : accesses) {
        if (one.row.kind != access_kind::reduction) {
            continue;  // with lists there may be thousands of them
        }
        for (const wanted_region& other : accesses) {
            if (&one != &other && overlap(one.get(), other.get())) {
                throw std::invalid_argument(
                    "quern: spawn: a task with a reduction of " + std::to_string(one.row.bytes) +
                    " bytes has another access to them: a task accesses what it reduces to by only "
                    "one operator");
            }
        }
    }
}

}  // namespace quern::detail
