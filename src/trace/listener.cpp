// SPDX-License-Identifier: BSL-1.0
// Listeners: each is a sink at every tap of every pool, also of pools that come later.
#include <quern/trace/listener.hpp>

#include "registry.hpp"

#include <quern/base/process.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace quern::trace {

namespace {

using quern::detail::lock_of;
using quern::detail::process_lock;

}  // namespace

struct listening::state final : detail::sink {
    explicit state(listener& l) : to(l) {}

    void begins(const detail::beginning& b) noexcept override {
        const task_event e{b.task, b.parent, b.name, b.site, b.rank};
        b.is_resumed ? to.on_resume(e) : to.on_start(e);
    }
    void piece_ends(const detail::piece& p) noexcept override {
        if (p.how == detail::piece_end::covered) {
            return;
        }
        const task_event e{p.task.id, p.task.trace.parent, p.task.name, p.task.site, p.rank};
        p.how == detail::piece_end::ended ? to.on_stop(e) : to.on_suspend(e);
    }
    void made(std::uint64_t parent, const quern::detail::runnable& item) noexcept override {
        to.on_made({0, parent, item.name, item.site, 0});
    }
    bool wants_made() const noexcept override { return true; }

    listener& to;
};

namespace {

constinit std::atomic<std::size_t> g_listening{0};

/// Those that listen now. Requires: the lock trace is held.
std::vector<listening::state*>& listeners() { return detail::registry::of_process().listeners; }

void attach_to(quern::detail::pool& which, listening::state& s) {
    detail::tap& tap = detail::tap_of(which);
    for (std::uint32_t rank = 0; rank < which.size(); ++rank) {
        tap.attach(rank, s);
    }
    tap.attach(tap.outside(), s);
}

void detach_from(quern::detail::pool& which, listening::state& s) {
    detail::tap& tap = detail::tap_of(which);
    for (std::uint32_t rank = 0; rank < which.size(); ++rank) {
        tap.detach(rank, s);
    }
    tap.detach(tap.outside(), s);
    detail::release_if_idle(tap);
}

/// Those of the parent of a fork() may be locked for ever.
std::vector<quern::detail::pool*> own_pools() {
    std::vector<quern::detail::pool*> own = detail::registry::of_process().pools;
    std::erase_if(own, [](const quern::detail::pool* p) { return p->inherited(); });
    return own;
}

}  // namespace

listening::listening() noexcept = default;
listening::listening(listening&&) noexcept = default;
listening& listening::operator=(listening&& other) noexcept {
    std::swap(m_state, other.m_state);
    return *this;
}
listening::~listening() { stop(); }

void listening::stop() noexcept {
    if (m_state == nullptr) {
        return;
    }
    {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        std::erase(listeners(), m_state.get());
        g_listening.store(listeners().size(), std::memory_order_relaxed);
        for (quern::detail::pool* const p : own_pools()) {
            detach_from(*p, *m_state);
        }
    }
    m_state.reset();
}

listening listen(listener& to) {
    quern::detail::attach_trace();
    listening handle;
    handle.m_state = std::make_unique<listening::state>(to);
    const std::scoped_lock lock(lock_of(process_lock::trace));
    listeners().push_back(handle.m_state.get());
    g_listening.store(listeners().size(), std::memory_order_relaxed);
    for (quern::detail::pool* const p : own_pools()) {
        attach_to(*p, *handle.m_state);
    }
    return handle;
}

void detail::tell_sample(std::string_view name, double value) noexcept {
    if (g_listening.load(std::memory_order_relaxed) == 0) {
        return;
    }
    const std::scoped_lock lock(lock_of(process_lock::trace));
    for (listening::state* const s : listeners()) {
        s->to.on_sample(name, value);
    }
}

void detail::tell_mark(std::string_view who, std::string_view what) noexcept {
    if (g_listening.load(std::memory_order_relaxed) == 0) {
        return;
    }
    const std::scoped_lock lock(lock_of(process_lock::trace));
    for (listening::state* const s : listeners()) {
        s->to.on_mark(who, what);
    }
}

void detail::listeners_take_up(quern::detail::pool& which) {
    for (listening::state* const s : listeners()) {
        attach_to(which, *s);
    }
}

void detail::listeners_leave(quern::detail::pool& which) {
    for (listening::state* const s : listeners()) {
        detach_from(which, *s);
    }
}

}  // namespace quern::trace
