// SPDX-License-Identifier: BSL-1.0
// The checks of a domain, from the declaration of a task to the end of its body.
#include "checks/access_checks.hpp"

#include "checks/page_guard.hpp"

#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/scheduler/detail/context.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

namespace quern::detail {

namespace {

/// Bodies that ran beside a checked one.
constinit std::atomic<std::uint64_t> g_overlapping{0};

/// Of the checked body, the only one that uses it. Made with the first domain; never destroyed, for
/// a handler may use it.
constinit std::atomic<guard_plan*> g_body_plan{nullptr};

guard_plan& the_plan() noexcept {
    return *g_body_plan.load(std::memory_order_acquire);  // pairs with make_access_checks
}

std::uint32_t depth_of(const domain_shared& home) noexcept {
    std::uint32_t depth = 0;
    for (const domain_shared* at = &home; at->parent() != nullptr; at = &at->parent()->home()) {
        ++depth;
    }
    return depth;
}

/// Whether all other tasks of the domain, and of those around it, have ended.
bool is_alone(const domain_shared& home) noexcept {
    for (const domain_shared* at = &home;; at = &at->parent()->home()) {
        if (at->live_from_outside() > 1) {
            return false;
        }
        if (at->parent() == nullptr) {
            return true;
        }
    }
}

bool is_ancestor(const domain_shared* one, const domain_shared& of) noexcept {
    for (const domain_shared* at = &of; at->parent() != nullptr;) {
        at = &at->parent()->home();
        if (at == one) {
            return true;
        }
    }
    return false;
}

bool overlaps(const byte_range& a, const byte_range& b) noexcept {
    return a.begin < b.end && b.begin < a.end;
}

}  // namespace

access_checks::~access_checks() {
    try {
        m_reports.tell_the_rest(m_tasks, m_not_checked);
    } catch (const std::bad_alloc&) {  // then it stays untold
    }
}

// -- declarations ------------------------------------------------------------------------------

void access_checks::declare(domain_core& home, const dependent_task& task) {
    const std::scoped_lock lock(m_lock);
    const declarer by{m_reports.kind_of(task), depth_of(home), &home};
    if (home.parent() != nullptr) {
        check_parent(home, task, by.kind);
    }
    for (const access_record& each : task.accesses()) {
        for_each_row_of(each, [&](const byte_range& bytes) { m_watched.add(bytes, by); });
    }
}

/// A child uses memory for its parent: what the parent names is touched, and memory that tasks
/// outside of the parent use must be named by it.
void access_checks::check_parent(domain_core& home, const dependent_task& task,
                                 std::uint32_t kind) {
    const dependent_task& parent = *home.parent();
    const auto outer = m_bodies.find(&parent);
    if (outer == m_bodies.end()) {
        return;  // not checked
    }
    const std::vector<declared_row> rows = detail::declared_rows(parent.accesses(), true);
    for (const access_record& each : task.accesses()) {
        const std::uint8_t wanted = each.kind == access_kind::read ? may_read : may_write;
        for_each_row_of(each, [&](const byte_range& bytes) {
            for (std::size_t i = 0; i < parent.accesses().size(); ++i) {
                for_each_row_of(parent.accesses()[i], [&](const byte_range& its) {
                    outer->second.touched[i] = outer->second.touched[i] || overlaps(bytes, its);
                });
            }
            for (auto at = m_watched.first_behind(bytes.begin);
                 at != m_watched.parts().end() && at->first < bytes.end; ++at) {
                if (!is_ancestor(at->second.by.home, home)) {
                    continue;
                }
                const byte_range used{std::max(at->first, bytes.begin),
                                      std::min(at->second.end, bytes.end)};
                std::uintptr_t covered = used.begin;
                std::uint8_t may = 0;
                for (const declared_row& row : rows) {
                    if (row.bytes.begin <= covered && covered < row.bytes.end) {
                        may = row.may;
                        if ((may & wanted) == 0) {
                            break;
                        }
                        covered = row.bytes.end;
                        may = 0;
                    }
                }
                if (covered < used.end) {
                    m_reports.tell_beyond_parent(covered, at->second.by.kind, each, kind,
                                                 outer->second.kind, may);
                }
            }
        });
    }
}

// -- a body ------------------------------------------------------------------------------------

void access_checks::begin(dependent_task& task) {
    const std::scoped_lock lock(m_lock);
    const std::size_t accesses = task.accesses().size();
    body& now = m_bodies[&task];
    now.kind = m_reports.kind_of(task);
    now.touched.assign(accesses, false);
    now.judged.assign(accesses, true);
    ++m_tasks;
    watch(task, false);
}

/// Requires: the lock is held.
void access_checks::watch(dependent_task& task, bool was_aside) {
    guard_plan& plan = the_plan();
    m_compares = false;
    plan.body = task_root();
    detail::make_plan(plan, m_watched, task.accesses(), was_aside);
    m_overlaps = g_overlapping.load(std::memory_order_relaxed);
    m_compares = is_alone(task.home());
    if (m_compares) {
        m_before.take(plan);
    }
    judge(task, m_bodies[&task]);
    guard_pages(plan);
}

/// Which accesses lie only on protected pages, so that each touch is seen.
void access_checks::judge(const dependent_task& task, body& of) {
    const std::vector<guarded_page>& pages = the_plan().pages;
    const std::size_t page_bytes = guarded_page_bytes();
    for (std::size_t i = 0; i < of.judged.size(); ++i) {
        const access_record& each = task.accesses()[i];
        bool is_seen = !each.is_empty && each.bytes != 0;
        if (is_seen && each.is_weak) {
            continue;  // its children touch it, by what they declare
        }
        is_seen = is_seen && each.kind != access_kind::reduction;
        for_each_row_of(each, [&](const byte_range& bytes) {
            auto page = std::lower_bound(
                pages.begin(), pages.end(), bytes.begin / page_bytes * page_bytes,
                [](const guarded_page& p, std::uintptr_t a) { return p.begin < a; });
            for (std::uintptr_t at = bytes.begin / page_bytes * page_bytes; at < bytes.end;
                 at += page_bytes, ++page) {
                if (page == pages.end() || page->begin != at) {
                    is_seen = false;
                    return;
                }
            }
        });
        of.judged[i] = of.judged[i] && is_seen;
    }
}

void access_checks::stop_watching(dependent_task& task) {
    unguard_pages(the_plan());
    const std::scoped_lock lock(m_lock);
    collect(task);
}

/// Requires: the lock is held.
void access_checks::collect(dependent_task& task) {
    guard_plan& plan = the_plan();
    if (m_compares && m_overlaps == g_overlapping.load(std::memory_order_relaxed) &&
        is_alone(task.home())) {
        m_before.compare(plan);
    }
    body& now = m_bodies[&task];
    for (const guarded_part& each : plan.parts) {
        if (!each.is_touched) {
            continue;
        }
        for (std::size_t i = 0; i < now.touched.size(); ++i) {
            for_each_row_of(task.accesses()[i], [&](const byte_range& bytes) {
                now.touched[i] = now.touched[i] || overlaps(bytes, {each.begin, each.end});
            });
        }
    }
    for (std::size_t i = 0; i < plan.found_count; ++i) {
        m_reports.tell(plan.found[i], plan, task, now.kind);
    }
    plan.found_count = 0;
    note_unseen(task, now);
}

/// Pages that were opened for good, for other code or after too many steps.
void access_checks::note_unseen(const dependent_task& task, body& of) {
    const std::size_t page_bytes = guarded_page_bytes();
    for (const guarded_page& page : the_plan().pages) {
        if (!page.is_shared && (page.use != guarded_page::use_of::mixed || page.protection == 0)) {
            continue;
        }
        for (std::size_t i = 0; i < of.judged.size(); ++i) {
            for_each_row_of(task.accesses()[i], [&](const byte_range& bytes) {
                of.judged[i] =
                    of.judged[i] && !overlaps(bytes, {page.begin, page.begin + page_bytes});
            });
        }
    }
}

void access_checks::watch_again(dependent_task& task) {
    const std::scoped_lock lock(m_lock);
    watch(task, true);
}

void access_checks::end(dependent_task& task) {
    const std::scoped_lock lock(m_lock);
    const auto at = m_bodies.find(&task);
    if (at == m_bodies.end()) {
        return;  // there was no memory for it
    }
    const body now = std::move(at->second);
    m_bodies.erase(at);
    if (task.home().is_stopped()) {
        return;  // it may have thrown before it came to its data
    }
    kind_of_task& kind = m_reports.at(now.kind);
    for (std::size_t i = 0; i < now.touched.size(); ++i) {
        access_of_kind& each = kind.access(number_of_access(task, i), task.accesses()[i]);
        each.touched += now.touched[i] ? 1 : 0;
        each.judged += now.judged[i] ? 1 : 0;
    }
}

void access_checks::not_checked() {
    g_overlapping.fetch_add(1, std::memory_order_relaxed);
    const std::scoped_lock lock(m_lock);
    ++m_not_checked;
    ++m_tasks;
}

// -- creators that wait ------------------------------------------------------------------------

void access_checks::add(wait_of_creator& newest) noexcept {
    const std::scoped_lock lock(m_lock);
    newest.m_begun = m_tasks;
    newest.m_older = std::exchange(m_newest, &newest);
}

/// Not always the newest: a creator that gave way makes tasks beside the one that waited for it.
void access_checks::remove(const wait_of_creator& one) noexcept {
    const std::scoped_lock lock(m_lock);
    wait_of_creator** at = &m_newest;
    while (*at != &one) {
        at = &(*at)->m_older;
    }
    *at = one.m_older;
}

bool access_checks::may_give_way(wait_of_creator& one) noexcept {
    constexpr int k_looks = 200;  // each after a pause of a millisecond
    const std::scoped_lock lock(m_lock);
    return &one == m_newest &&
           (!one.m_expects_body || m_tasks != one.m_begun || ++one.m_looks >= k_looks);
}

// -- memory that is given up -------------------------------------------------------------------

void access_checks::forget(const byte_range& bytes) {
    const std::scoped_lock lock(m_lock);
    m_watched.forget(bytes);
}

void access_checks::forget_domain(const domain_core& home) {
    const std::scoped_lock lock(m_lock);
    m_watched.forget_domain(home);
}

void access_checks::forget_all() {
    const std::scoped_lock lock(m_lock);
    m_watched.clear();
}

void make_plan_of_body() {
    if (g_body_plan.load(std::memory_order_relaxed) == nullptr) {
        auto plan = std::make_unique<guard_plan>();
        guard_plan* none = nullptr;
        // acq_rel: pairs with the_plan()
        if (g_body_plan.compare_exchange_strong(none, plan.get(), std::memory_order_acq_rel)) {
            static_cast<void>(plan.release());
        }
    }
}

void access_checks::watch_nothing() noexcept { the_plan().pages.clear(); }

}  // namespace quern::detail
