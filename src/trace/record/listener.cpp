// SPDX-License-Identifier: BSL-1.0
// Listeners. They stand in a list that is read without a lock: a listener that ends is taken out of
// it, and then waits until no reader is inside (reader_gate.hpp). What workers do beside that comes
// through the all hooks of their pools: a listener that wants it has a sink for each pool, also for
// pools that come later. No other listener attaches anything to a pool.
#include <quern/trace/listener.hpp>

#include "record/listeners.hpp"
#include "record/reader_gate.hpp"
#include "record/registry.hpp"

#include <quern/base/detail/assert.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/task/this_task.hpp>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>

namespace quern::trace {

namespace detail {

constinit std::atomic<std::uint32_t> wanted_kinds{0};

}  // namespace detail

namespace {

using quern::detail::lock_of;
using quern::detail::process_lock;
using quern::detail::tick_count;

/// What the all hooks know, and what of it needs sinks that see every task.
constexpr event_mask k_of_pieces = trace::event_kind::task_start | trace::event_kind::task_stop |
                                   trace::event_kind::task_suspend | trace::event_kind::task_resume;
constexpr event_mask k_of_taps = k_of_pieces | trace::event_kind::task_made |
                                 trace::event_kind::worker_park | trace::event_kind::worker_unpark;

constinit std::atomic<tick_count> g_first_tick{0};

/// The first call begins the clock.
tick_count first_tick() noexcept {
    tick_count first = g_first_tick.load(std::memory_order_relaxed);
    if (first == 0) {
        const tick_count now = quern::detail::ticks();
        first = g_first_tick.compare_exchange_strong(first, now, std::memory_order_relaxed) ? now
                                                                                            : first;
    }
    return first;
}

std::uint64_t ns_of(tick_count length) noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(length) * quern::detail::ns_per_tick());
}

std::uint64_t ns_at(tick_count when) noexcept {
    const tick_count first = first_tick();
    return when > first ? ns_of(when - first) : 0;
}

/// How many functions of listeners the calling thread is in.
[[gnu::tls_model("initial-exec")]] constinit thread_local unsigned tls_in_listener = 0;

class in_listener {
public:
    in_listener() noexcept { ++tls_in_listener; }
    in_listener(const in_listener&) = delete;
    in_listener& operator=(const in_listener&) = delete;
    ~in_listener() { --tls_in_listener; }
};

/// What a listener hears of a pool's workers.
class pool_sink final : public detail::sink {
public:
    pool_sink(listener& to, event_mask wanted, quern::detail::pool& home) noexcept
        : m_to(to), m_wanted(wanted), m_home(home) {}

    quern::detail::pool& home() const noexcept { return m_home; }

    void begins(const detail::beginning& b) noexcept override {
        const event_kind kind =
            b.is_resumed ? trace::event_kind::task_resume : trace::event_kind::task_start;
        if (m_wanted.has(kind)) {
            const in_listener inside;
            const task_event e{at(b.rank, b.at, 0), b.task, b.parent, b.name, b.site};
            b.is_resumed ? m_to.on_resume(e) : m_to.on_start(e);
        }
    }
    void piece_ends(const detail::piece& p) noexcept override {
        const bool is_end = p.how == detail::piece_end::ended;
        const event_kind kind =
            is_end ? trace::event_kind::task_stop : trace::event_kind::task_suspend;
        if (p.how != detail::piece_end::covered && m_wanted.has(kind)) {
            const in_listener inside;
            const task_event e{at(p.rank, p.end, p.end - p.begin),
                               p.task.id,
                               p.task.trace.parent,
                               p.task.name,
                               p.task.site,
                               ns_of(p.task.trace.spent)};
            is_end ? m_to.on_stop(e) : m_to.on_suspend(e);
        }
    }
    void parks(std::uint32_t rank, tick_count when) noexcept override {
        if (m_wanted.has(trace::event_kind::worker_park)) {
            const in_listener inside;
            m_to.on_park(at(rank, when, 0));
        }
    }
    void parked(std::uint32_t rank, tick_count begin, tick_count end) noexcept override {
        if (m_wanted.has(trace::event_kind::worker_unpark)) {
            const in_listener inside;
            m_to.on_unpark(at(rank, end, end - begin));
        }
    }
    std::uint32_t sampling() const noexcept override {
        return m_wanted.has_any(k_of_pieces) ? detail::sampling::k_all : detail::sampling::k_auto;
    }

private:
    worker_event at(std::uint32_t rank, tick_count when, tick_count length) const noexcept {
        return {ns_at(when), ns_of(length), pool_ref(m_home), rank};
    }

    listener& m_to;
    const event_mask m_wanted;
    quern::detail::pool& m_home;
};

}  // namespace

struct listening::state {
    state(listener& l, event_mask w) : to(l), wanted(w) {}

    void attach_to(quern::detail::pool& which);
    void detach_from(quern::detail::pool& which) noexcept;
    void detach_from_all() noexcept;
    void remove() noexcept;

    listener& to;
    const event_mask wanted;
    std::atomic<state*> next{nullptr};
    std::vector<std::unique_ptr<pool_sink>> sinks;  ///< the lock trace protects it
};

namespace {

/// Those that listen, the oldest first. Written under the locks listeners and trace, read under one
/// of them or inside the gate. seq_cst: pairs with reader_gate.
constinit std::atomic<listening::state*> g_first{nullptr};
constinit detail::reader_gate g_gate;

/// Only the calling thread exists.
void forget_readers() noexcept { g_gate.forget_readers(); }
[[maybe_unused]] const int k_registered = ::pthread_atfork(nullptr, nullptr, forget_readers);

template <class F>
void for_each_listener(F call) {
    for (listening::state* s = g_first.load(); s != nullptr; s = s->next.load()) {
        call(*s);
    }
}

/// Whether a recorder keeps messages. The lock trace protects it.
bool g_records_messages = false;

/// Requires: the lock trace is held.
void gather_wanted() noexcept {
    event_mask all;
    if (g_records_messages) {
        all |= trace::event_kind::message;
    }
    for_each_listener([&](const listening::state& s) { all |= s.wanted; });
    detail::wanted_kinds.store(all.bits(), std::memory_order_relaxed);
}

/// Where it is, or where one is to be appended, if null. Requires: the lock listeners is held.
std::atomic<listening::state*>& link_to(const listening::state* which) noexcept {
    std::atomic<listening::state*>* link = &g_first;
    while (listening::state* const s = link->load()) {
        if (s == which) {
            break;
        }
        link = &s->next;
    }
    return *link;
}

/// Calls the listeners that want the kind. Any thread.
template <class F>
void tell(event_kind kind, F call) noexcept {
    if (!is_wanted(kind)) {
        return;
    }
    const in_listener inside;
    const detail::reader_gate::reading reading(g_gate);
    for_each_listener([&](const listening::state& s) {
        if (s.wanted.has(kind)) {
            call(s.to);
        }
    });
}

/// What is known of the caller.
task_event here() noexcept {
    task_event e;
    e.time_ns = ns_at(quern::detail::ticks());
    if (quern::detail::worker* const on = quern::detail::current_worker()) {
        e.pool = pool_ref(on->home());
        e.worker = on->rank();
    }
    e.task = this_task::id();
    if (quern::detail::context* const root = quern::detail::task_root()) {
        const quern::detail::task_record& task = root->task();
        e.parent = task.trace.parent;
        e.name = task.name;
        e.site = task.site;
    }
    return e;
}

template <class F>
void for_each_worker(runtime& which, F call) {
    const std::uint64_t now = event_clock_ns();
    for (const pool_ref& each : which.pools()) {
        for (unsigned rank = 0; rank < each.workers(); ++rank) {
            call(worker_event{now, 0, each, rank});
        }
    }
}

}  // namespace

void listening::state::attach_to(quern::detail::pool& which) {
    if (!wanted.has_any(k_of_taps)) {
        return;
    }
    sinks.push_back(std::make_unique<pool_sink>(to, wanted, which));
    detail::pool_hooks& pool_hooks = detail::hooks_of(which);
    for (std::uint32_t rank = 0; rank < which.size(); ++rank) {
        pool_hooks.attach(rank, *sinks.back());
    }
}

void listening::state::detach_from(quern::detail::pool& which) noexcept {
    const auto at = std::find_if(sinks.begin(), sinks.end(),
                                 [&](const auto& each) { return &each->home() == &which; });
    if (at == sinks.end()) {
        return;
    }
    detail::pool_hooks& pool_hooks = detail::hooks_of(which);
    for (std::uint32_t rank = 0; rank < which.size(); ++rank) {
        pool_hooks.detach(rank, **at);
    }
    detail::release_if_idle(pool_hooks);
    sinks.erase(at);
}

/// Those of the parent of a fork() are left as they are: their lanes may be locked for ever.
void listening::state::detach_from_all() noexcept {
    const auto inherited = std::partition(
        sinks.begin(), sinks.end(), [](const auto& each) { return each->home().inherited(); });
    while (sinks.end() != inherited) {
        detach_from(sinks.back()->home());
    }
}

void listening::state::remove() noexcept {
    const std::scoped_lock listeners(lock_of(process_lock::listeners));
    {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        link_to(this).store(next.load());
        gather_wanted();
        detach_from_all();
    }
    g_gate.wait_for_readers();
}

listening::listening() noexcept = default;
listening::listening(listening&&) noexcept = default;
listening& listening::operator=(listening&& other) noexcept {
    std::swap(m_state, other.m_state);
    return *this;
}
listening::~listening() { stop(); }

void listening::stop() noexcept {
    if (m_state != nullptr) {
        QUERN_ASSERT(tls_in_listener == 0,
                     "listening::stop() was called by a function of a listener, for whose end it "
                     "would wait; let it set a flag, and stop where no listener is called");
        m_state->remove();
        m_state.reset();
    }
}

listening listen(listener& to, event_mask wanted) {
    if (tls_in_listener != 0) {
        throw std::logic_error("quern: listen() was called by a function of a listener");
    }
    quern::detail::attach_trace();
    event_clock_ns();  // the first call takes up to 2 ms
    listening handle;
    handle.m_state = std::make_unique<listening::state>(to, wanted);
    const std::scoped_lock listeners(lock_of(process_lock::listeners));
    const std::scoped_lock lock(lock_of(process_lock::trace));
    link_to(nullptr).store(handle.m_state.get());
    gather_wanted();
    for (quern::detail::pool* const p : detail::registry::of_process().pools) {
        if (!p->inherited()) {
            handle.m_state->attach_to(*p);
        }
    }
    return handle;
}

std::uint64_t event_clock_ns() noexcept { return ns_at(quern::detail::ticks()); }

void detail::tell_sample(std::string_view name, double value) noexcept {
    tell(trace::event_kind::sample, [&](listener& to) { to.on_sample(name, value); });
}

void detail::tell_mark(std::string_view who, std::string_view what) noexcept {
    tell(trace::event_kind::mark, [&](listener& to) { to.on_mark(who, what); });
}

void detail::tell_custom(const custom_event& what, double value) noexcept {
    const task_event by = here();
    tell(trace::event_kind::custom, [&](listener& to) { to.on_custom(by, what, value); });
}

void detail::record_messages(bool wanted) noexcept {
    g_records_messages = wanted;
    gather_wanted();
}

void detail::tell_message(const message_info& what) noexcept {
    const task_event by = here();
    if (quern::detail::worker* const on = quern::detail::current_worker()) {
        pool_hooks::pass(*on, what, by.task, quern::detail::ticks());
    } else {
        keep_outside(what);
    }
    tell(trace::event_kind::message, [&](listener& to) { to.on_message(by, what); });
}

void detail::tell_edge(const edge_info& what) noexcept {
    const task_event by = here();
    tell(trace::event_kind::edge, [&](listener& to) { to.on_edge(by, what); });
}

void detail::tell_made(quern::detail::pool& home, std::uint32_t rank, std::uint64_t parent,
                       const quern::detail::runnable& item) noexcept {
    const tick_count when = item.ready.at != 0 ? item.ready.at : quern::detail::ticks();
    const task_event e{{ns_at(when), 0, pool_ref(home), rank}, 0, parent, item.name, item.site};
    tell(trace::event_kind::task_made, [&](listener& to) { to.on_made(e); });
}

void detail::tell_runtime_starts(runtime& which) noexcept {
    tell(trace::event_kind::runtime_start, [&](listener& to) {
        to.on_runtime_start({event_clock_ns(), which});
    });
    tell(trace::event_kind::worker_start, [&](listener& to) {
        for_each_worker(which, [&](const worker_event& e) { to.on_worker_start(e); });
    });
}

void detail::tell_runtime_stops(runtime& which) noexcept {
    tell(trace::event_kind::worker_stop, [&](listener& to) {
        for_each_worker(which, [&](const worker_event& e) { to.on_worker_stop(e); });
    });
    tell(trace::event_kind::runtime_stop, [&](listener& to) {
        to.on_runtime_stop({event_clock_ns(), which});
    });
}

void detail::listeners_take_up(quern::detail::pool& which) {
    for_each_listener([&](listening::state& s) { s.attach_to(which); });
}

void detail::listeners_leave(quern::detail::pool& which) noexcept {
    for_each_listener([&](listening::state& s) { s.detach_from(which); });
}

}  // namespace quern::trace
