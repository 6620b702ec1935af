// SPDX-License-Identifier: BSL-1.0
// The checks as domains and tasks see them: which body is checked, and what happens without memory.
#include "checks/access_checks.hpp"

#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/dependences/detail/domain_core.hpp>

#include <atomic>
#include <new>

namespace quern::detail {

namespace {

/// The task whose body is checked now, or null.
constinit std::atomic<const dependent_task*> g_checked{nullptr};
/// Of that task, or of an earlier one.
constinit std::atomic<const access_checks*> g_checks_of_place{nullptr};

/// Without memory the body runs on, not checked.
template <class F>
bool is_done(F call) noexcept {
    try {
        call();
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

bool takes_place(const dependent_task& task) noexcept {
    const dependent_task* none = nullptr;
    // acquire: pairs with leave_place(); the plan is the caller's now
    return g_checked.compare_exchange_strong(none, &task, std::memory_order_acquire);
}
void leave_place() noexcept {
    g_checked.store(nullptr, std::memory_order_release);  // pairs with takes_place()
}

/// The task that runs here, if it is checked.
dependent_task* checked_body_here() noexcept {
    dependent_task* const here = dependent_task::current();
    return here == g_checked.load(std::memory_order_relaxed) ? here : nullptr;
}

/// Waits until no other body is checked, or nothing runs that could end one. Not for a body of the
/// same domains: its creator has waited for it, and given way.
bool has_place(const access_checks* of, dependent_task& task) noexcept {
    if (takes_place(task)) {
        return true;
    }
    if (g_checks_of_place.load(std::memory_order_relaxed) == of) {
        return false;
    }
    const auto is_taken = [](const void*) -> std::int64_t {
        return g_checked.load(std::memory_order_relaxed) != nullptr ? 1 : 0;
    };
    while (!takes_place(task)) {
        if (!let_others_run(task.home_pool(), is_taken, nullptr, 0)) {
            return takes_place(task);
        }
    }
    return true;
}

}  // namespace

access_checks_of_domain make_access_checks() noexcept {
    access_checks_of_domain made;
    is_done([&] {
        if (!checks_accesses()) {
            return;
        }
        make_plan_of_body();
        made.reset(new (std::nothrow) access_checks);
    });
    return made;
}

void end_of_access_checks::operator()(access_checks* of) const noexcept { delete of; }

std::uint64_t access_mistakes() noexcept { return count_of_access_mistakes(); }

void check_declarations(access_checks& of, domain_core& home, const dependent_task& task) noexcept {
    try {
        of.declare(home, task);
    } catch (const std::bad_alloc&) {  // less is watched
    }
}

wait_of_creator::wait_of_creator(access_checks& of) noexcept : m_of(of) { of.add(*this); }
wait_of_creator::~wait_of_creator() { m_of.remove(*this); }
bool wait_of_creator::may_give_way() noexcept { return m_of.may_give_way(*this); }

checked_body::checked_body(access_checks* of, dependent_task& task) noexcept
    : m_of(of != nullptr && has_place(of, task) ? of : nullptr), m_task(task) {
    if (m_of == nullptr) {
        if (of != nullptr) {
            of->not_checked();
        }
        return;
    }
    g_checks_of_place.store(of, std::memory_order_relaxed);
    if (!is_done([&] { m_of->begin(task); })) {
        access_checks::watch_nothing();
    }
}

checked_body::~checked_body() {
    // After a child it may be checked no more.
    if (m_of != nullptr && g_checked.load(std::memory_order_relaxed) == &m_task) {
        is_done([&] { m_of->stop_watching(m_task); });
        leave_place();
    }
    if (m_of != nullptr) {
        is_done([&] { m_of->end(m_task); });
    }
}

checks_aside::checks_aside() noexcept : m_body(checked_body_here()) {
    if (m_body != nullptr) {
        is_done([&] { m_body->home().root().checks()->stop_watching(*m_body); });
        leave_place();
    }
}

checks_aside::~checks_aside() {
    if (m_body == nullptr) {
        return;
    }
    access_checks& of = *m_body->home().root().checks();
    if (!takes_place(*m_body)) {
        of.not_checked();
        return;
    }
    g_checks_of_place.store(&of, std::memory_order_relaxed);
    if (!is_done([&] { of.watch_again(*m_body); })) {
        access_checks::watch_nothing();
    }
}

void forget_watched(access_checks* of, std::uintptr_t begin, std::size_t bytes) noexcept {
    if (of != nullptr) {
        is_done([&] { of->forget({begin, begin + bytes}); });
    }
}
void forget_watched(access_checks* of) noexcept {
    if (of != nullptr) {
        of->forget_all();
    }
}
void forget_watched(access_checks* of, const domain_core& declared_by) noexcept {
    if (of != nullptr) {
        of->forget_domain(declared_by);
    }
}

}  // namespace quern::detail
