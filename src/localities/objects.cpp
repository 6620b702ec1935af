// SPDX-License-Identifier: BSL-1.0
// The table of global objects, and the calls that run.
#include "objects.hpp"

#include "job.hpp"

#include <quern/scheduler/detail/queued_task.hpp>
#include <quern/task/async.hpp>
#include <quern/task/detail/enough_stack.hpp>

#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace quern::localities::detail {

using work_part = quern::detail::overhead_clock::part;

object_entry& object_table::find(object_name name) {
    const std::scoped_lock lock(m_lock);
    std::unique_ptr<object_entry>& known = m_entries[name];
    if (!known) {
        known = std::make_unique<object_entry>(*this, name, m_job.here());
    }
    ++known->users;
    ++m_uses;
    return *known;
}

bool object_table::begin_use(object_entry& one) noexcept {
    const std::scoped_lock lock(m_lock);
    if (m_is_detached) {
        return false;
    }
    ++one.users;
    ++m_uses;
    return true;
}

void object_table::end_use(object_entry& one) noexcept {
    std::unique_ptr<object_entry> unused;
    const std::scoped_lock lock(m_lock);
    --m_uses;
    if (--one.users != 0) {
        return;
    }
    const std::scoped_lock its(one.lock);
    if (one.record.is_unused()) {
        const auto at = m_entries.find(one.name);
        unused = std::move(at->second);
        m_entries.erase(at);
    }
}

object_table::~object_table() {
    for (auto& [name, each] : m_entries) {
        static_cast<void>(each.release());  // of a session that was abandoned: tasks may use it
    }
}

void object_table::detach() noexcept {
    for (;; std::this_thread::yield()) {
        const std::scoped_lock lock(m_lock);
        if (m_uses == 0) {
            m_is_detached = true;
            m_detached.swap(m_entries);
            break;
        }
    }
    for (auto& [name, each] : m_detached) {
        each->table.store(nullptr, std::memory_order_relaxed);
    }
}

void object_table::end_all() noexcept {
    while (m_releases.load(std::memory_order_acquire) != 0) {  // pairs with release
        std::this_thread::yield();
    }
    for (auto& [name, each] : m_detached) {
        each->object.reset();
    }
    for (auto& [name, each] : m_detached) {
        each->lock.lock();
        each->is_orphan = each->record.references() != 0;
        each->lock.unlock();
        if (each->is_orphan) {
            static_cast<void>(each.release());
        }
    }
    m_detached.clear();
}

object_entry& object_table::make(object_type_function type, void* object) {
    const object_name name{static_cast<std::uint64_t>(m_job.here()),
                           m_serial.fetch_add(1, std::memory_order_relaxed) + 1};
    const use made(*this, name);
    const std::scoped_lock lock(made.one.lock);
    made.one.object = {object, type().destroy};
    made.one.type.store(type, std::memory_order_relaxed);
    made.one.record.make(m_callers.fetch_add(1, std::memory_order_relaxed));
    return made.one;
}

bool object_table::drop(object_entry& one) noexcept {
    const use during(*this, one);
    if (during.has_begun) {
        change(one, [](known_object& record, known_actions& out) { record.drop(out); });
    }
    return during.has_begun;
}

object_entry& object_table::receive_reference(const object_reference::travelling& from) {
    const use during(*this, from.name);
    object_entry& one = during.one;
    const auto type = reinterpret_cast<object_type_function>(
        reinterpret_cast<std::uintptr_t>(m_job.modules().address_of(from.type)));
    const std::uint64_t number = m_callers.fetch_add(1, std::memory_order_relaxed);
    change(one, [&](known_object& record, known_actions& out) {
        one.type.store(type, std::memory_order_relaxed);
        record.receive(from.lender, {from.locality, from.moves}, number, out);
    });
    return one;
}

/// The object cannot end before its call, which ends after the reference has been received: its
/// caller has said that it has no reference left only behind that call.
object_reference::travelling object_table::lend_running(object_name name) {
    const use during(*this, name);
    const std::scoped_lock lock(during.one.lock);
    if (!during.one.record.is_here()) {
        throw std::logic_error(
            "quern: localities: a reference to an object from outside its calls");
    }
    during.one.record.lend();
    const object_place known = during.one.record.place();
    return {.name = name,
            .lender = m_job.here(),
            .locality = known.locality,
            .moves = known.moves,
            .type = place_of_type(during.one)};
}

code_place object_table::place_of_type(const object_entry& of) const {
    return m_job.modules().place_of(reinterpret_cast<const void*>(
        reinterpret_cast<std::uintptr_t>(of.type.load(std::memory_order_relaxed))));
}

void object_table::take(object_entry& of, known_message&& what) {
    if (what.kind == object_message_kind::is_at) {
        m_missed.fetch_add(1, std::memory_order_relaxed);
    }
    change(of,
           [&](known_object& record, known_actions& out) { record.take(std::move(what), out); });
}

void object_table::take_discarded(object_entry& of, known_actions& out) noexcept {
    for (known_object::action& each : out) {
        if (each.what == known_object::action::kind::discard && of.object) {
            each.message.payload.object = std::move(of.object);
        }
    }
}

/// What is sent to the own locality is taken at once.
void object_table::carry_out(object_entry& of, known_actions&& all) {
    using kind = known_object::action::kind;
    for (std::size_t i = 0; i < all.size(); ++i) {
        known_object::action each = std::move(all[i]);
        switch (each.what) {
            case kind::send:
                if (each.to == m_job.here()) {
                    const std::scoped_lock lock(of.lock);
                    of.record.take(std::move(each.message), all);
                    take_discarded(of, all);
                } else {
                    count_sent(each.message);
                    send(of, each.to, std::move(each.message));
                }
                break;
            case kind::run:
                run(of, std::move(each.message));
                break;
            case kind::pack:
                pack(of, each.to, std::move(each.message));
                break;
            case kind::discard:
                detail::end_object(std::move(each.message.payload.object));
                break;
            case kind::is_moved:
                m_moved.fetch_add(1, std::memory_order_relaxed);
                answer_move(each.message, true);
                break;
            case kind::is_not_moved:
                answer_move(each.message, false);
                break;
        }
    }
}

void object_table::count_sent(const known_message& one) noexcept {
    if (one.is_forwarded) {
        m_sent_on.fetch_add(1, std::memory_order_relaxed);
    } else if (one.kind == object_message_kind::call || one.kind == object_message_kind::move) {
        m_sent.fetch_add(1, std::memory_order_relaxed);
    }
}

object_totals object_table::totals() const noexcept {
    const auto of = [](const std::atomic<std::uint64_t>& count) {
        return count.load(std::memory_order_relaxed);
    };
    return {of(m_serial), of(m_sent), of(m_missed), of(m_sent_on), of(m_moved)};
}

object_load object_table::take_load(object_name name) noexcept {
    const std::scoped_lock lock(m_lock);
    const auto known = m_entries.find(name);
    if (known == m_entries.end()) {
        return {};
    }
    object_entry& one = *known->second;
    const auto spent = static_cast<double>(one.spent.exchange(0, std::memory_order_relaxed));
    const std::scoped_lock of_record(one.lock);
    return {1e-9 * spent * quern::detail::ns_per_tick(), one.record.is_here()};
}

void object_table::run(object_entry& of, known_message&& what) {
    quern::post(task_attributes{.name = "call of a global object", .pool = &m_job.pool().get()},
                [this, &of, one = std::move(what), counted = counted_call(m_job)]() mutable {
                    const bool was_shared = one.is_shared;
                    const auto begun = begin_measured();
                    one.payload.call->run(of.object.get());
                    end_measured(of, begun);
                    one = known_message{};  // what it owns ends before the next call
                    const quern::detail::own_work ending(work_part::running);
                    has_run(of, was_shared);
                });
}

/// The entry is in use until the call has run; then nothing of it is touched unless more follows.
void object_table::has_run(object_entry& of, bool was_shared) {
    {
        const std::scoped_lock lock(of.lock);
        if (of.record.has_run_as_last(was_shared)) {
            return;
        }
    }
    const use during(*this, of);
    change(of, [&](known_object& record, known_actions& out) { record.has_run(was_shared, out); });
}

void object_table::release(std::shared_ptr<void>&& object) {
    m_releases.fetch_add(1, std::memory_order_relaxed);
    quern::post(task_attributes{.name = "end of a global object", .pool = &m_job.pool().get()},
                [this, one = std::move(object)]() mutable {
                    one.reset();
                    m_releases.fetch_sub(1, std::memory_order_release);  // pairs with end_all
                });
}

/// An object may have the last reference to another one, and so on.
void end_object(std::shared_ptr<void>&& object) {
    quern::detail::on_enough_stack([&object] { object.reset(); });
}

void object_table::answer_move(known_message& what, bool is_done) {
    outgoing_parcel answer;
    if (!is_done) {
        localities::detail::write(answer.bytes, *what.payload.error);
    }
    detail::answer_call(m_job, static_cast<int>(what.caller.locality), what.answer,
                        is_done ? k_value : k_error, std::move(answer));
}

void object_table::post(object_entry& one, known_message&& what) {
    const quern::detail::own_work making(work_part::making);
    change(one,
           [&](known_object& record, known_actions& out) { record.post(std::move(what), out); });
}

}  // namespace quern::localities::detail
