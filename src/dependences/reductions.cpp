// SPDX-License-Identifier: BSL-1.0
// How a domain closes its reductions: by a task that combines the parts, or at a taskwait() itself.
#include <quern/dependences/detail/domain_core.hpp>

#include "overlap.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
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

/// Those that overlap are combined before a task that comes now.
void domain_core::close_reductions(const strided_region& of) {
    for (std::size_t i = 0; i < m_open.size();) {
        if (!overlap(m_open[i]->where, of)) {
            ++i;
            continue;
        }
        // Parts of several tasks of an outer domain, whose turns exclude each other.
        const access_kind kind =
            m_map.inherits_turns() ? access_kind::commutative : access_kind::write;
        auto* const task = new combining_task(*this, m_open[i], kind);
        m_open.erase(m_open.begin() + static_cast<std::ptrdiff_t>(i));
        start(*task);
        i = 0;  // the start may have closed others
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
            close_reductions(m_open.back()->where);
        }
    } catch (...) {
        m_open.clear();
        fail(std::current_exception());
    }
}

/// All members have ended.
void domain_core::combine_here() noexcept {
    for (const auto& each : std::exchange(m_open, {})) {
        if (is_stopped()) {
            return;
        }
        try {
            each->combine();
        } catch (...) {
            fail(std::current_exception());
        }
    }
}

void refuse_mixed_reduction(std::span<const wanted_region> accesses) {
    for (const wanted_region& one : accesses) {
        for (const wanted_region& other : accesses) {
            if (&one != &other && one.row.kind == access_kind::reduction &&
                overlap(one.get(), other.get())) {
                throw std::invalid_argument(
                    "quern: spawn: a task with a reduction of " + std::to_string(one.row.bytes) +
                    " bytes has another access to them: a task accesses what it reduces to by one "
                    "operator alone");
            }
        }
    }
}

}  // namespace quern::detail
