// SPDX-License-Identifier: BSL-1.0
// Taking a place at one guard or at several: their spin locks are held together, in the order of
// their addresses, while futures are exchanged.
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
    enter(&one, &one + 1);
}

guarded_place::guarded_place(const guard_set& all) {
    enter(all.m_guards.data(), all.m_guards.data() + all.m_guards.size());
}

void guarded_place::enter(guard* const* first, guard* const* last) {
    // All that allocates comes before the locks, all that frees after them.
    m_before.resize(static_cast<std::size_t>(last - first));
    for (shared_future<void> ended = m_end.get_future().share(); auto& before : m_before) {
        before = ended;
    }
    std::for_each(first, last, [](guard* g) { g->m_lock.lock(); });
    std::size_t place = 0;
    std::for_each(first, last, [&](guard* g) { std::swap(g->m_last, m_before[place++]); });
    std::for_each(first, last, [](guard* g) { g->m_lock.unlock(); });
    const auto is_over = [](const shared_future<void>& f) { return !f.valid() || f.is_ready(); };
    m_before.erase(std::remove_if(m_before.begin(), m_before.end(), is_over), m_before.end());
}

}  // namespace detail

}  // namespace quern
