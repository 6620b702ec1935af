// SPDX-License-Identifier: BSL-1.0
// The scheduling half of machine.hpp: which threads can run, what their next step touches, which
// waits for which. The other half, what an operation does to memory, is in memory.cpp. Called by
// the engine at each step, so nothing here allocates once its vectors have grown to the model's
// size.
#include "machine.hpp"

#include <bit>

namespace model::detail {
namespace {

template <class T>
T& next_slot(std::vector<T>& slots,
             std::size_t& used) {  // reuses what an earlier execution allocated
    if (used == slots.size()) slots.emplace_back();
    return slots[used++];
}

constexpr bool drains_buffer(const request& r) noexcept {
    switch (r.kind) {
        case op_kind::load:
            return false;
        case op_kind::store:
        case op_kind::fence:
            return r.order == std::memory_order_seq_cst;
        default:
            return true;
    }
}

}  // namespace

void machine::begin_execution(bool logging) {
    m_logging = logging;
    m_checking = true;
    m_lines.clear();
    m_value_names.clear();
    m_thread_count = m_object_count = m_var_count = m_queue_count = 0;
    m_idle_rounds = 0;
    m_step = k_none;
    thread_state& main = m_threads[k_main_thread];
    main.now = status::running;
    main.clock.clear();
    main.clock.set(k_main_thread, 1);
    main.release_fence.clear();
    main.acquire_pending.clear();
}

void machine::start_threads(const std::vector<run::body>& bodies) {
    m_thread_count = bodies.size();
    thread_state& main = m_threads[k_main_thread];
    for (std::size_t i = 0; i != m_thread_count; ++i) {
        thread_state& t = m_threads[i];
        auto flushes = std::move(t.flushes);
        flushes.clear();
        t = thread_state{};
        t.flushes = std::move(flushes);
        t.background = bodies[i].background;
        t.spurious_cas_left = m_options.spurious_cas;
        t.spurious_wakeups_left = m_options.spurious_wakeups;
        t.timeouts_left = m_options.timeouts;
        t.clock = main.clock;
        t.clock.set(i, 1);
    }
    main.clock.tick(k_main_thread);
}

void machine::stop_checking() {
    m_checking = false;
    m_logging = false;
}

void machine::join_threads() {
    for (std::size_t i = 0; i != m_thread_count; ++i)
        m_threads[k_main_thread].clock.join(m_threads[i].clock);
}

bool machine::can_run(const thread_state& t) const noexcept {
    switch (t.now) {
        case status::finished:
            return false;
        case status::woken:
            return true;
        case status::waiting:
            return t.spurious_wakeups_left != 0 ||
                   (t.timed && (t.timeouts_left != 0 || t.may_time_out));
        case status::running:
            return !t.paused && (t.buffered == 0 || !drains_buffer(t.pending)) &&
                   (!t.pending.everywhere || !anything_buffered());
    }
    return false;
}

bool machine::anything_buffered() const noexcept {
    for (std::size_t i = 0; i != m_queue_count; ++i)
        if (m_queues[i].head != m_queues[i].stores.size()) return true;
    return false;
}

bool machine::can_flush(const queue& q) const noexcept {
    if (q.head == q.stores.size()) return false;
    const std::uint32_t after = q.stores[q.head].after;
    if (after == 0) return true;
    for (std::size_t i = 0; i != m_queue_count; ++i) {
        const queue& other = m_queues[i];
        if (other.thread == q.thread && other.head != other.stores.size() &&
            other.stores[other.head].sequence < after)
            return false;
    }
    return true;
}

actor_set machine::enabled() const noexcept {
    actor_set result = 0;
    for (std::size_t i = 0; i != m_thread_count; ++i)
        if (can_run(m_threads[i])) result |= one(i);
    for (std::size_t i = 0; i != m_queue_count; ++i)
        if (can_flush(m_queues[i])) result |= one(m_thread_count + i);
    return result;
}

access machine::next_access(std::size_t actor) const noexcept {
    if (!is_thread(actor)) {
        const queue& q = m_queues[queue_index(actor)];
        return {.kind = access_class::write, .thread = q.thread, .object = q.stores[q.head].object};
    }
    const thread_state& t = m_threads[actor];
    access a{.thread = static_cast<std::uint8_t>(actor)};
    // A wake-up cancels the time-out, so the return must still count as racing with the wake-up.
    if (t.now == status::woken && !t.raced) return a;
    if (t.now != status::running) {
        a.kind = access_class::time_out;
        a.object = t.waiting_on;
        return a;
    }
    const request& r = t.pending;
    a.object = r.object;
    a.woken_by = t.woken_by;
    if (r.kind == op_kind::fence || r.object >= m_object_count) return a;
    const object& o = m_objects[r.object];
    switch (r.kind) {
        case op_kind::load:
            a.kind = access_class::read;
            break;
        case op_kind::cas:
        case op_kind::cas_weak:
            a.kind = o.value == r.expected ? access_class::write : access_class::read;
            break;
        // Also a wait that will not sleep: whether it conflicts with a wake must not depend on the
        // word, which a wake does not change.
        case op_kind::futex_wait:
            a.kind = access_class::wait;
            break;
        case op_kind::futex_wake:
            a.kind = o.waiters != 0 ? access_class::wake : access_class::idle_wake;
            break;
        default:
            a.kind = access_class::write;
            break;
    }
    return a;
}

void machine::list_predecessors(std::size_t actor, std::vector<std::uint32_t>& steps) const {
    const auto add = [&](std::uint32_t step) {
        if (step != k_none) steps.push_back(step);
    };
    if (is_thread(actor)) {
        const thread_state& t = m_threads[actor];
        if (t.now == status::woken && !t.raced) add(t.woken_at);
        if (t.now != status::running || !drains_buffer(t.pending)) return;
        for (std::size_t i = 0; i != m_queue_count; ++i)
            if (m_queues[i].thread == actor) add(m_queues[i].last_flush);
        return;
    }
    const queue& q = m_queues[queue_index(actor)];
    const buffered_store& front = q.stores[q.head];
    add(front.issued_at);
    for (const flushed& f : m_threads[q.thread].flushes)
        if (f.sequence < front.after) add(f.step);
}

bool machine::foreground_done() const noexcept {
    for (std::size_t i = 0; i != m_thread_count; ++i)
        if (!m_threads[i].background && m_threads[i].now != status::finished) return false;
    return true;
}

bool machine::let_time_pass() {
    bool any = false;
    for (std::size_t i = 0; i != m_thread_count; ++i) {
        thread_state& t = m_threads[i];
        const bool paused = t.now == status::running && t.paused;
        const bool timed = t.now == status::waiting && t.timed && !t.may_time_out;
        if (paused) t.paused = false;
        if (timed) t.may_time_out = true;
        any = any || paused || timed;
    }
    if (any) ++m_idle_rounds;
    return any;
}

std::string machine::describe_stuck() const {
    std::string text;
    for (std::size_t i = 0; i != m_thread_count; ++i) {
        const thread_state& t = m_threads[i];
        if (t.now == status::finished) continue;
        text += text.empty() ? "" : ", ";
        text += "T" + std::to_string(i);
        if (t.now == status::waiting)
            text += " waits on " + name_of(t.waiting_on) + " = " +
                    std::to_string(m_objects[t.waiting_on].value);
        else
            text += t.paused || t.woken_by != 0 ? " spins" : " runs";
    }
    return text;
}

bool machine::is_local(std::size_t thread, const request& r) const noexcept {
    if (thread == k_main_thread) return true;
    if (r.kind == op_kind::store)
        return m_options.stores != memory::sequential && r.order != std::memory_order_seq_cst;
    return r.kind == op_kind::fence &&
           (r.order != std::memory_order_seq_cst || m_threads[thread].buffered == 0);
}

void machine::post(std::size_t thread, const request& r) {
    if (r.kind != op_kind::fence && r.object >= m_object_count)
        m_host.fail(failure::lifetime,
                    "T" + std::to_string(thread) + " uses an atomic that is no more");
    m_threads[thread].pending = r;
}

void machine::begin_step(std::size_t actor, std::uint32_t number) noexcept {
    m_step = number;
    if (is_thread(actor)) m_threads[actor].last_step = number;
}

bool machine::is_waiting(std::size_t thread) const noexcept {
    return m_threads[thread].now == status::waiting;
}

reply machine::wait(std::size_t thread, const request& r) {
    thread_state& t = m_threads[thread];
    object& o = touch(thread, r.object);
    note_read(t, r.object);
    const bool blocks = o.value == r.expected;
    if (m_logging)
        log(thread,
            "futex wait " + name_of(r.object) + " = " + std::to_string(o.value) +
                (blocks ? ", sleeps" : ", not " + std::to_string(r.expected) + ", goes on"));
    if (!blocks) return {.value = o.value};
    if (thread == k_main_thread)
        m_host.fail(failure::misuse, "futex_wait would block in the setup or the end check");
    t.now = status::waiting;
    t.waiting_on = r.object;
    t.timed = r.timed;
    t.may_time_out = false;
    o.waiters |= one(thread);
    return {};
}

reply machine::end_wait(std::size_t thread) {
    thread_state& t = m_threads[thread];
    if (t.now == status::woken) {
        t.now = status::running;
        if (m_logging) log(thread, "is awake");
        return {};
    }
    t.now = status::running;
    m_objects[t.waiting_on].waiters &= ~one(thread);
    const bool may_time_out = t.timed && (t.timeouts_left != 0 || t.may_time_out);
    const bool may_wake = t.spurious_wakeups_left != 0;
    const bool times_out = may_time_out && (!may_wake || m_host.choose_one_of(2) == 0);
    if (!times_out)
        --t.spurious_wakeups_left;
    else if (!t.may_time_out)
        --t.timeouts_left;
    if (m_logging) log(thread, times_out ? "times out" : "wakes up without cause");
    return {.success = !times_out};
}

reply machine::wake(std::size_t thread, const request& r) {
    object& o = touch(thread, r.object);
    std::uint64_t count = r.operand;
    std::string woken;
    for (; count != 0 && o.waiters != 0; --count) {
        const auto candidates = static_cast<unsigned>(std::popcount(o.waiters));
        std::uint32_t rest = o.waiters;
        if (candidates > count)
            for (unsigned skip = m_host.choose_one_of(candidates); skip != 0; --skip)
                rest &= rest - 1;
        const std::size_t sleeper = lowest(rest);
        o.waiters &= ~one(sleeper);
        m_threads[sleeper].raced = can_run(m_threads[sleeper]);
        m_threads[sleeper].now = status::woken;
        m_threads[sleeper].woken_at = m_step;
        if (m_logging) woken += " T" + std::to_string(sleeper);
    }
    if (m_logging)
        log(thread, "futex wake " + name_of(r.object) + ":" + (woken.empty() ? " nobody" : woken));
    return {};
}

void machine::pause(std::size_t thread) noexcept {
    if (thread == k_main_thread) return;
    thread_state& t = m_threads[thread];
    t.woken_by |= m_options.pause == pause_wakes::any_write ? ~std::uint64_t{0} : t.read;
    t.read = 0;
    t.paused = (t.woken_by & t.changed) == 0;
    if (m_logging) log(thread, "pauses");
}

void machine::finish(std::size_t thread) {
    m_threads[thread].now = status::finished;
    m_threads[thread].paused = false;
    if (m_logging) log(thread, "finishes");
}

object_id machine::create_atomic(std::size_t thread, std::uint64_t initial, unsigned bytes) {
    const auto id = static_cast<object_id>(m_object_count);
    object& o = next_slot(m_objects, m_object_count);
    o.value = initial;
    o.mask = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
    o.waiters = 0;
    o.creator = static_cast<std::uint8_t>(thread);
    o.created_at = m_options.check_lifetimes ? m_threads[thread].clock[thread] : 0;
    o.alive = true;
    o.sync.clear();
    o.accessed.clear();
    o.name.clear();
    return id;
}

object_id machine::create_var(std::size_t thread) {
    const auto id = static_cast<object_id>(m_var_count);
    variable& v = next_slot(m_vars, m_var_count);
    v.writer = static_cast<std::uint8_t>(thread);
    v.written_at = m_options.check_lifetimes ? m_threads[thread].clock[thread] : 0;
    v.alive = true;
    v.reads.clear();
    v.name.clear();
    return id;
}

machine::queue& machine::queue_for(std::size_t thread, object_id id) {
    const object_id wanted = m_options.stores == memory::tso ? k_any_object : id;
    for (std::size_t i = 0; i != m_queue_count; ++i)
        if (m_queues[i].thread == thread && m_queues[i].object == wanted) return m_queues[i];
    if (m_thread_count + m_queue_count == k_max_actors)
        m_host.fail(failure::misuse, "too many atomics with buffered stores for the pso model");
    queue& q = next_slot(m_queues, m_queue_count);
    q.thread = static_cast<std::uint8_t>(thread);
    q.object = wanted;
    q.head = 0;
    q.last_flush = k_none;
    q.stores.clear();
    return q;
}

}  // namespace model::detail
