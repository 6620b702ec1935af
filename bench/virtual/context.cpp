// SPDX-License-Identifier: BSL-1.0
// What context.cpp and shared.cpp of the scheduler decide; see context.hpp.
#include "context.hpp"

#include "worker.hpp"

#include <algorithm>

namespace virtual_time {
namespace {

// context.cpp
constexpr std::uint32_t k_eager_pushes = 16;
constexpr int k_join_spins = 100;

}  // namespace

// -- contexts that wait ------------------------------------------------------------------------

class stealable_contexts::guard {
public:
    explicit guard(stealable_contexts& of) noexcept : m_lock(of.m_lock) {
        int spins = 0;
        while (m_lock.exchange(true, std::memory_order_acquire)) {
            atomics::back_off(spins);
        }
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard() { m_lock.store(false, std::memory_order_release); }

private:
    atomic<bool>& m_lock;
};

void stealable_contexts::put(context& c) noexcept {
    const guard locked(*this);
    c.m_listed_in.store(this, std::memory_order_relaxed);
    m_contexts.push_back(&c);
    m_count.fetch_add(1);
}

void stealable_contexts::take(context& c) noexcept {
    if (stealable_contexts* const from = c.m_listed_in.load(std::memory_order_acquire)) {
        const guard locked(*from);
        if (c.m_listed_in.load(std::memory_order_relaxed) != nullptr) {
            from->remove(c);
        }
    }
}

void stealable_contexts::remove(context& c) noexcept {
    m_contexts.erase(std::find(m_contexts.begin(), m_contexts.end(), &c));
    m_count.fetch_sub(1, std::memory_order_relaxed);
    c.m_listed_in.store(nullptr, std::memory_order_release);
}

entry* stealable_contexts::steal() noexcept {
    if (m_count.load() == 0) {
        return nullptr;
    }
    const guard locked(*this);
    while (!m_contexts.empty()) {
        context& c = *m_contexts.front();
        entry* const found = c.context::steal();
        const bool exhausted = !c.context::has_public();
        if (exhausted) {
            remove(c);
        }
        if (found != nullptr || !exhausted) {
            return found;
        }
    }
    return nullptr;
}

bool stealable_contexts::has_public() noexcept {
    if (m_count.load() == 0) {
        return false;
    }
    const guard locked(*this);
    return std::any_of(m_contexts.begin(), m_contexts.end(),
                       [](const context* c) { return c->context::has_public(); });
}

// -- the owner of a context --------------------------------------------------------------------

void context::push_trapped() noexcept {
    pool& home = m_host->home();
    if (home.workers.size() == 1) {
        arm();
        return;
    }
    const rules& how = home.how;
    const bool is_timed = m_last_slow_path != k_not_timed;
    const picoseconds begin = is_timed ? atomics::ticks() : 0;
    if (is_timed && begin - m_last_slow_path > how.coarse) {
        m_eager_pushes = k_eager_pushes;
    }
    m_host->current.store(this, std::memory_order_seq_cst);
    if (m_eager_pushes != 0) {
        --m_eager_pushes;
        force_slow_path();
        publish_all();
        m_host->notify_public_work();
    } else {
        answer_request();
        if (!how.times_every_push) {
            if (is_timed) {
                m_last_slow_path = k_not_timed;
                return;
            }
            force_slow_path();
        }
    }
    m_last_slow_path = how.times_every_push ? begin : atomics::ticks();
}

void context::answer_request() noexcept {
    ++m_host->counted.answers;
    arm();
    if (m_host->home().gate.load().any_idle()) {
        publish_half();
        m_host->notify_public_work(has_private() ? ~0U : 1);
    }
}

bool context::join(slot* place) noexcept {
    entry& child = **place;
    if (reclaim(place)) {
        return true;
    }
    for (int i = 0; i < k_join_spins && !child.joined.done(); ++i) {
        atomics::pause();
    }
    if (!child.joined.done()) {
        suspend([](context& self,
                   void* of) { return static_cast<entry*>(of)->joined.register_waiter(self); },
                &child);
    }
    reset(place);
    return false;
}

void context::suspend(bool (*publish_waiter)(context&, void*), void* argument) noexcept {
    struct request {
        bool (*publish_waiter)(context&, void*);
        void* argument;
    };
    worker& host = *m_host;
    ++host.counted.suspensions;
    atomics::spend(&costs::suspension);
    publish_all();
    if (has_public()) {
        host.suspended.put(*this);
        host.notify_public_work();
    }
    request what{publish_waiter, argument};
    context& next = host.next_context();
    host.switch_context(*this, next,
                        {[](context& left, void* of) {
                             const request r = *static_cast<request*>(of);
                             if (!r.publish_waiter(left, r.argument)) {
                                 left.host().push(left);
                             }
                         },
                         &what});
    stealable_contexts::take(*this);
}

void context::reopen_for_loop(work* first) {
    m_first = first;
    reopen();
    if (m_stack == nullptr) {
        m_own_stack = std::make_unique<model::detail::fibre>(machine::k_stack_bytes);
        m_stack = m_own_stack.get();
    }
    m_stack->restart(&context::enter, this);
}

void context::enter(void* self) {
    context& here = *static_cast<context*>(self);
    here.host().landed();
    worker::loop(here);
}

}  // namespace virtual_time
