// SPDX-License-Identifier: BSL-1.0
// What runs on a worker, and how it changes contexts; see worker.hpp. Its search for work:
// search.cpp.
#include "worker.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace virtual_time {

pool::pool(unsigned count, const rules& r, std::uint64_t seed) : how(r) {
    for (std::size_t rank = 0; rank < count; ++rank) {
        workers.push_back(std::make_unique<worker>(*this, rank, rank + 1 + 1000 * seed));
    }
}

bool pool::wake_one(std::size_t near) noexcept {
    for (std::size_t i = 0; i < workers.size(); ++i) {
        if (gate.wake(workers[(near + i) % workers.size()]->parker)) {
            return true;
        }
    }
    return false;
}

context& pool::make_context(worker& host) {
    return *m_contexts.emplace_back(std::make_unique<context>(host));
}

// -- contexts ----------------------------------------------------------------------------------

void worker::begin() noexcept {
    first.take_stack_of_core();
    adopt(first);
}

void worker::adopt(context& c) noexcept {
    c.adopt(*this);
    current.store(&c, std::memory_order_release);
}

void worker::landed() noexcept {
    const after_switch after = std::exchange(m_after, {});
    if (after.run != nullptr) {
        after.run(*m_left, after.argument);
    }
}

void worker::switch_context(context& from, context& to, after_switch after) noexcept {
    m_after = after;
    m_left = &from;
    adopt(to);
    machine::running()->continue_on(to.stack());
    from.host().landed();  // perhaps another worker by now
}

void worker::leave_for(context& from, context& to) noexcept {
    const after_switch recycle{[](context& left, void* spare) {
                                   static_cast<std::vector<context*>*>(spare)->push_back(&left);
                               },
                               &m_spare};
    switch_context(from, to, recycle);
    std::abort();  // a context that was left for good has been resumed
}

context& worker::take_context() {
    if (m_spare.empty()) {
        return m_pool.make_context(*this);
    }
    context& c = *m_spare.back();
    m_spare.pop_back();
    return c;
}

context& worker::next_context() {
    work* const item = take_ready();
    if (auto* const ready = dynamic_cast<context*>(item)) {
        return *ready;
    }
    context& fresh = take_context();
    fresh.reopen_for_loop(item);
    return fresh;
}

// -- the loop ----------------------------------------------------------------------------------

void worker::loop(context& self) noexcept {
    for (;;) {
        work* item = self.take_first();
        if (item == nullptr) {
            item = self.host().next_item();
        }
        self.host().begin_item(self);
        if (context* const next = item->run(self)) {
            self.host().leave_for(self, *next);
        }
    }
}

work* worker::next_item() noexcept {
    work* const item = take_ready();
    return item != nullptr ? item : search_and_park();
}

void worker::begin_item(context& self) noexcept {
    self.force_slow_path();
    const picoseconds now = machine::running()->now();
    if (counted.first_item < m_pool.epoch && m_pool.epoch <= now) {
        counted.first_item = now;
    }
}

// -- its own items -----------------------------------------------------------------------------

void worker::push(ready_item& item) noexcept {
    if (deque.push(&item)) {
        answer_request();
    }
}

ready_item* worker::pop() noexcept {
    ready_item* const item = deque.pop();
    if (deque.wanted()) {
        answer_request();
    }
    return item;
}

void worker::answer_request() noexcept {
    if (!deque.has_private()) {
        return;
    }
    deque.arm();
    if (m_pool.gate.load().any_idle()) {
        deque.publish_half();
        notify_public_work(deque.public_size());
    }
}

void worker::notify_public_work(unsigned parts) noexcept {
    const auto idle = m_pool.gate.load();
    if (m_pool.how.wakes == waking::relay) {
        if (idle.must_wake()) {
            m_pool.wake_one(m_rank);
        }
    } else if (idle.sleeping != 0) {
        const unsigned most = std::clamp(parts, 1U, m_pool.how.fanout);
        wake_up_to(most - std::min(most, idle.searching));
    }
}

void worker::wake_up_to(unsigned count) noexcept {
    while (count != 0 && m_pool.wake_one(m_rank)) {
        --count;
    }
}

}  // namespace virtual_time
