// SPDX-License-Identifier: BSL-1.0
// Enters one guard or several: their spin locks are held together, in the order of their addresses,
// while futures are exchanged. A lock may be released as soon as its future is exchanged: the next
// function there is behind this one, and cannot be ahead of it at any other guard.
#include <quern/sync/guard.hpp>

#include <algorithm>
#include <functional>

namespace quern {

guard_set::guard_set(std::vector<guard*> guards) : m_guards(std::move(guards)) {
    std::sort(m_guards.begin(), m_guards.end(), std::less<>());
    m_guards.erase(std::unique(m_guards.begin(), m_guards.end()), m_guards.end());
}

namespace detail {

guarded_place::guarded_place(guard& g) {
    guard* const one = &g;
    prepare(&one, 1);
}

guarded_place::guarded_place(const guard_set& all) {
    prepare(all.m_guards.data(), all.m_guards.size());
}

void guarded_place::prepare(guard* const* guards, std::size_t count) {
    m_left.store(count + 1, std::memory_order_relaxed);
    m_others.resize(std::max<std::size_t>(count, 1) - 1);
    if (count == 0) {
        return;
    }
    m_before.at = *guards;
    std::transform(guards + 1, guards + count, m_others.begin(),
                   [](guard* at) { return predecessor(at); });
    const shared_future<void> ended = m_end.get_future().share();
    each_before([&](predecessor& each) {
        each.notify = told;
        each.ended = ended;
        each.next_one = this;
    });
}

/// In the order of the guards' addresses.
template <class Function>
void guarded_place::each_before(Function&& f) {
    if (m_before.at != nullptr) {  // otherwise the set is empty
        f(m_before);
    }
    std::for_each(m_others.begin(), m_others.end(), f);
}

bool guarded_place::enter(runnable& task, pool& where) noexcept {
    m_task = &task;
    m_where = &where;
    // Nothing is freed under the locks: the futures are swapped.
    each_before([](const predecessor& each) { each.at->m_lock.lock(); });
    each_before([](predecessor& each) {
        std::swap(each.at->m_last, each.ended);
        each.at->m_lock.unlock();
    });
    std::size_t over = 1;
    each_before([&over](predecessor& each) {
        over += !each.ended.valid() || !each.ended.state().add_waiter(each) ? 1U : 0U;
    });
    return m_left.fetch_sub(over, std::memory_order_acq_rel) == over;
}

state_waiter* guarded_place::told(state_waiter& w) noexcept {
    guarded_place& place = *static_cast<predecessor&>(w).next_one;
    // acq_rel: the effects of all preceding functions happen before the task.
    if (place.m_left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        place.m_where->make_ready(*place.m_task);
    }
    return nullptr;
}

}  // namespace detail

}  // namespace quern
