// SPDX-License-Identifier: BSL-1.0
// The memory half of machine.hpp: the effect of each operation on an object's value, the store
// buffers and the happens-before clocks, and the checks on plain variables. The clocks follow the
// program's memory orders, so a missing release or acquire is a race here even if the values of the
// chosen interleaving are right.
#include "machine.hpp"

namespace model::detail {
namespace {

constexpr bool acquires(std::memory_order o) noexcept {
    return o != std::memory_order_relaxed && o != std::memory_order_release;
}
constexpr bool releases(std::memory_order o) noexcept {
    return o == std::memory_order_release || o == std::memory_order_acq_rel ||
           o == std::memory_order_seq_cst;
}

const char* in_brackets(std::memory_order o) noexcept {
    switch (o) {
        case std::memory_order_relaxed:
            return " (relaxed)";
        case std::memory_order_acquire:
            return " (acquire)";
        case std::memory_order_release:
            return " (release)";
        case std::memory_order_acq_rel:
            return " (acq_rel)";
        case std::memory_order_consume:
            return " (consume)";
        default:
            return " (seq_cst)";
    }
}

const char* verb(op_kind kind) noexcept {
    switch (kind) {
        case op_kind::exchange:
            return "exchange ";
        case op_kind::add:
            return "fetch_add ";
        case op_kind::sub:
            return "fetch_sub ";
        case op_kind::bit_or:
            return "fetch_or ";
        case op_kind::bit_and:
            return "fetch_and ";
        case op_kind::bit_xor:
            return "fetch_xor ";
        default:
            return "";
    }
}

std::uint64_t combined(op_kind kind, std::uint64_t value, std::uint64_t operand) noexcept {
    switch (kind) {
        case op_kind::add:
            return value + operand;
        case op_kind::sub:
            return value - operand;
        case op_kind::bit_or:
            return value | operand;
        case op_kind::bit_and:
            return value & operand;
        case op_kind::bit_xor:
            return value ^ operand;
        default:
            return operand;
    }
}

}  // namespace

reply machine::execute(std::size_t thread, const request& r) {
    if (!is_local(thread, r)) end_pause(m_threads[thread]);
    reply result;
    switch (r.kind) {
        case op_kind::load:
            result = load(thread, r);
            break;
        case op_kind::store:
            is_local(thread, r) && thread != k_main_thread ? buffer(thread, r) : store(thread, r);
            break;
        case op_kind::cas:
        case op_kind::cas_weak:
            result = compare_exchange(thread, r);
            break;
        case op_kind::fence:
            fence(thread, r);
            break;
        case op_kind::futex_wait:
            result = wait(thread, r);
            break;
        case op_kind::futex_wake:
            result = wake(thread, r);
            break;
        default:
            result = modify(thread, r);
            break;
    }
    return result;
}

machine::object& machine::touch(std::size_t thread, object_id id) {
    if (!m_checking && id < m_object_count) return m_objects[id];
    if (id >= m_object_count || !m_objects[id].alive)
        m_host.fail(failure::lifetime,
                    thread_name(thread) + " uses the destroyed atomic " + name_of(id));
    object& o = m_objects[id];
    const hb_clock& now = m_threads[thread].clock;
    if (now[o.creator] < o.created_at)
        m_host.fail(failure::lifetime, thread_name(thread) + " uses the atomic " + name_of(id) +
                                           " without being ordered after its construction by " +
                                           thread_name(o.creator));
    o.accessed.set(thread, now[thread]);
    return o;
}

void machine::change(std::size_t thread, object& o, object_id id, std::uint64_t value) {
    if (o.value == value) return;
    o.value = value;
    m_idle_rounds = 0;
    for (std::size_t i = 0; i != m_thread_count; ++i) {
        if (i == thread) continue;
        m_threads[i].changed |= object_bit(id);
        if ((m_threads[i].woken_by & object_bit(id)) != 0) m_threads[i].paused = false;
    }
}

void machine::note_read(thread_state& t, object_id id) noexcept {
    if (m_options.pause == pause_wakes::any_write || (t.read & object_bit(id)) != 0) return;
    t.read |= object_bit(id);
    t.changed &= ~object_bit(id);
}

void machine::end_pause(thread_state& t) noexcept {
    if (t.woken_by == 0) return;
    t.woken_by = 0;
    if (m_options.pause == pause_wakes::any_write) t.changed = 0;
}

void machine::acquire(thread_state& t, const object& o, std::memory_order order) noexcept {
    if (acquires(order))
        t.clock.join(o.sync);
    else
        t.acquire_pending.join(o.sync);  // for a later acquire fence
}

const hb_clock& machine::published(const thread_state& t, std::memory_order order) const noexcept {
    return releases(order) ? t.clock : t.release_fence;
}

const machine::buffered_store* machine::newest_buffered(std::size_t thread,
                                                        object_id id) const noexcept {
    const buffered_store* newest = nullptr;
    if (m_threads[thread].buffered == 0) return newest;
    for (std::size_t i = 0; i != m_queue_count; ++i) {
        const queue& q = m_queues[i];
        if (q.thread != thread) continue;
        for (std::size_t at = q.head; at != q.stores.size(); ++at)
            if (q.stores[at].object == id)
                newest = &q.stores[at];  // at most one queue holds this object
    }
    return newest;
}

reply machine::load(std::size_t thread, const request& r) {
    thread_state& t = m_threads[thread];
    const object& o = touch(thread, r.object);
    note_read(t, r.object);
    const buffered_store* const own = newest_buffered(thread, r.object);
    const std::uint64_t value = own != nullptr ? own->value : o.value;
    if (own == nullptr) acquire(t, o, r.order);
    if (m_logging)
        log(thread, "load " + name_of(r.object) + " = " + shown(value) + in_brackets(r.order) +
                        (own != nullptr ? ", from its own buffer" : ""));
    return {.value = value};
}

void machine::store(std::size_t thread, const request& r) {
    thread_state& t = m_threads[thread];
    object& o = touch(thread, r.object);
    if (m_logging)
        log(thread, "store " + name_of(r.object) + " " + shown(o.value) + " -> " +
                        shown(r.operand) + in_brackets(r.order));
    o.sync = published(t, r.order);
    t.clock.tick(thread);
    change(thread, o, r.object, r.operand);
}

void machine::buffer(std::size_t thread, const request& r) {
    thread_state& t = m_threads[thread];
    touch(thread, r.object);
    if (m_logging)
        log(thread, "store " + name_of(r.object) + " <- " + shown(r.operand) +
                        in_brackets(r.order) + ", buffered");
    const std::uint32_t sequence = t.next_sequence++;
    if (sequence > m_options.max_steps)
        m_host.fail(failure::livelock, "a thread makes buffered stores without end");
    queue_for(thread, r.object)
        .stores.push_back(
            {.object = r.object,
             .value = r.operand,
             .sequence = sequence,
             .after = r.order == std::memory_order_release ? sequence : t.release_fence_at,
             .issued_at = t.last_step,
             .sync = published(t, r.order)});
    ++t.buffered;
    t.clock.tick(thread);
}

void machine::flush(std::size_t actor) {
    queue& q = m_queues[queue_index(actor)];
    const buffered_store& s = q.stores[q.head];
    thread_state& t = m_threads[q.thread];
    object& o = m_objects[s.object];
    if (m_logging)
        log(q.thread, "    its store " + name_of(s.object) + " " + shown(o.value) + " -> " +
                          shown(s.value) + " becomes visible");
    if (o.alive) {
        o.sync = s.sync;
        change(q.thread, o, s.object, s.value);
    }
    if (m_options.stores == memory::pso) t.flushes.push_back({s.sequence, m_step});
    q.last_flush = m_step;
    --t.buffered;
    ++q.head;
}

reply machine::modify(std::size_t thread, const request& r) {
    thread_state& t = m_threads[thread];
    object& o = touch(thread, r.object);
    note_read(t, r.object);
    const std::uint64_t before = o.value;
    const std::uint64_t after = combined(r.kind, before, r.operand) & o.mask;
    if (m_logging)
        log(thread, verb(r.kind) + name_of(r.object) + " " + shown(before) + " -> " + shown(after) +
                        in_brackets(r.order));
    acquire(t, o, r.order);
    o.sync.join(published(
        t, r.order));  // join, not assign: a read-modify-write continues a release sequence
    t.clock.tick(thread);
    change(thread, o, r.object, after);
    return {.value = before};
}

reply machine::compare_exchange(std::size_t thread, const request& r) {
    thread_state& t = m_threads[thread];
    const std::uint64_t before = touch(thread, r.object).value;
    const bool spurious = before == r.expected && r.kind == op_kind::cas_weak &&
                          t.spurious_cas_left != 0 && m_host.choose_one_of(2) == 1;
    if (spurious) --t.spurious_cas_left;
    if (before == r.expected && !spurious) {
        request exchange = r;
        exchange.kind = op_kind::exchange;
        if (m_logging)
            log(thread,
                "cas " + name_of(r.object) + " expects " + shown(r.expected) + ": succeeds as");
        return {.value = modify(thread, exchange).value};
    }
    note_read(t, r.object);
    acquire(t, m_objects[r.object], r.failure);
    if (m_logging)
        log(thread, "cas " + name_of(r.object) + " = " + shown(before) + " expects " +
                        shown(r.expected) + (spurious ? ": fails without cause" : ": fails") +
                        in_brackets(r.failure));
    return {.value = before, .success = false};
}

void machine::fence(std::size_t thread, const request& r) {
    thread_state& t = m_threads[thread];
    if (m_logging) log(thread, std::string("fence") + in_brackets(r.order));
    if (acquires(r.order)) t.clock.join(t.acquire_pending);
    if (!releases(r.order)) return;
    t.release_fence = t.clock;
    t.release_fence_at = t.next_sequence;
    t.clock.tick(thread);
}

machine::variable& machine::access_var(std::size_t thread, object_id id, const char* what) {
    if (!m_checking && id < m_var_count) return m_vars[id];
    if (id >= m_var_count || !m_vars[id].alive)
        m_host.fail(failure::lifetime,
                    thread_name(thread) + what + "the destroyed variable " + name_of_var(id));
    variable& v = m_vars[id];
    if (m_logging) log(thread, what + name_of_var(id));
    if (m_threads[thread].clock[v.writer] < v.written_at)
        m_host.fail(failure::race, thread_name(thread) + what + name_of_var(id) +
                                       " without being ordered after the write by " +
                                       thread_name(v.writer));
    return v;
}

void machine::require_reads_seen(std::size_t thread, object_id id, failure kind, const char* what) {
    const std::size_t reader = m_threads[thread].clock.first_unseen(m_vars[id].reads);
    if (reader <= k_main_thread && m_checking)
        m_host.fail(kind, thread_name(thread) + what + name_of_var(id) +
                              " without being ordered after the read by " + thread_name(reader));
}

void machine::read_var(std::size_t thread, object_id id) {
    access_var(thread, id, " reads ").reads.set(thread, m_threads[thread].clock[thread]);
}

void machine::write_var(std::size_t thread, object_id id) {
    variable& v = access_var(thread, id, " writes ");
    require_reads_seen(thread, id, failure::race, " writes ");
    v.writer = static_cast<std::uint8_t>(thread);
    v.written_at = m_threads[thread].clock[thread];
}

void machine::destroy_var(std::size_t thread, object_id id) {
    if (id >= m_var_count) return;
    if (m_options.check_lifetimes) {
        access_var(thread, id, " destroys ");
        require_reads_seen(thread, id, failure::lifetime, " destroys ");
    }
    m_vars[id].alive = false;
}

void machine::destroy_atomic(std::size_t thread, object_id id) {
    if (id >= m_object_count) return;
    object& o = m_objects[id];
    const std::size_t user = m_threads[thread].clock.first_unseen(o.accessed);
    if (m_options.check_lifetimes && m_checking && user <= k_main_thread)
        m_host.fail(failure::lifetime, thread_name(thread) + " destroys the atomic " + name_of(id) +
                                           " without being ordered after its last use by " +
                                           thread_name(user));
    if (m_logging) log(thread, "destroys " + name_of(id));
    o.alive = false;
}

}  // namespace model::detail
