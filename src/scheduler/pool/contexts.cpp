// SPDX-License-Identifier: BSL-1.0
// Idle stacks of a pool, and the list of all that it has made.
#include <quern/scheduler/detail/context_store.hpp>

#include <quern/base/detail/assert.hpp>

#include <mutex>
#include <new>

namespace quern::detail {

context& context_store::take(stack_class at_least, worker_stats& stats) noexcept {
    {
        const std::scoped_lock lock(m_lock);
        auto& list = m_idle[static_cast<std::size_t>(at_least)];
        if (context* const idle = list.back()) {
            intrusive_list<context>::erase(*idle);
            stats.contexts_recycled.add();
            return *idle;
        }
    }
    try {
        return make(allocate_stack(at_least), stats);
    } catch (const std::bad_alloc&) {
        invariant_broken("allocate_stack",
                         "no address space is left for another task's stack (ulimit -v, cgroup, "
                         "vm.overcommit_memory, vm.max_map_count)",
                         __FILE__, __LINE__);
    }
}

context& context_store::make(const stack_span& span, worker_stats& stats) noexcept {
    stats.contexts_made.add();
    context& made = context::make(span);
    context* before = m_youngest.load(std::memory_order_relaxed);
    do {
        made.set_made_before(before);
    } while (!m_youngest.compare_exchange_weak(before, &made,
                                               std::memory_order_release,  // with youngest
                                               std::memory_order_relaxed));
    return made;
}

void context_store::give(context& idle) noexcept {
    const std::scoped_lock lock(m_lock);
    m_idle[static_cast<std::size_t>(idle.size())].push_back(idle);
}

void context_store::release_all() noexcept {
    for (auto& list : m_idle) {
        while (context* const c = list.back()) {
            intrusive_list<context>::erase(*c);
            const stack_span span = c->span();
            c->forget();
            release_stack(span);
        }
    }
}

}  // namespace quern::detail
