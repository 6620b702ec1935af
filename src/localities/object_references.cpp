// SPDX-License-Identifier: BSL-1.0
// References to global objects, and calls that run at once.
#include "job.hpp"
#include "objects.hpp"

#include <quern/localities/detail/running_object.hpp>

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::localities::detail {

using kinds = object_message_kind;

object_reference::object_reference(const object_reference& other) noexcept
    : m_entry(other.m_entry) {
    if (m_entry != nullptr) {
        const std::scoped_lock lock(m_entry->lock);
        m_entry->record.copy();
    }
}

object_reference::~object_reference() {
    if (m_entry == nullptr) {
        return;
    }
    object_table* const table = m_entry->table.load(std::memory_order_relaxed);
    if (table != nullptr && table->drop(*m_entry)) {
        return;
    }
    known_actions none;
    bool is_last = false;
    {
        const std::scoped_lock lock(m_entry->lock);
        m_entry->record.drop(none);
        is_last = m_entry->is_orphan && m_entry->record.references() == 0;
    }
    if (is_last) {
        delete m_entry;
    }
}

object_reference object_reference::make(job& of, object_type_function type, void* object) {
    return object_reference(&of.objects().make(type, object));
}

job& object_reference::its_job(const char* function) const {
    job& of = detail::job_for(function);
    if (m_entry->table.load(std::memory_order_relaxed) == nullptr) {
        throw std::logic_error(std::string("quern: localities::") + function +
                               " of an object of a session that has ended; accepted: one that was "
                               "made in the present session");
    }
    return of;
}

object_turn object_reference::begin_here(bool is_shared, const char* function) const {
    if (!refers()) {
        detail::refuse_no_object(function);
    }
    static_cast<void>(its_job(function));
    const std::scoped_lock lock(m_entry->lock);
    return m_entry->record.post_if_it_runs(is_shared)
               ? object_turn(*m_entry, m_entry->object.get(), is_shared)
               : object_turn();
}

void object_turn::begins() noexcept {
    m_begun = m_entry->table.load(std::memory_order_relaxed)->begin_measured();
}

object_turn::~object_turn() {
    if (m_entry != nullptr) {
        object_table::end_measured(*m_entry, m_begun);
        m_entry->table.load(std::memory_order_relaxed)->has_run(*m_entry, m_is_shared);
    }
}

void object_reference::call(std::unique_ptr<object_call> one, bool is_shared,
                            const char* function) const {
    job& of = its_job(function);
    bool is_here = false;
    int place = 0;
    {
        const std::scoped_lock lock(m_entry->lock);
        is_here = m_entry->record.is_here();
        place = m_entry->record.place().locality;
    }
    if (!is_here) {
        if (place != of.here()) {
            of.wait_for_room(place);
        }
        one = detail::write_call(of, *one);  // before it has a turn: it may throw
    }
    of.objects().post(*m_entry, {.kind = kinds::call,
                                 .is_shared = is_shared,
                                 .payload = {.call = std::move(one), .error = {}, .object = {}}});
}

void object_reference::move(int to, std::uint64_t answer) const {
    its_job("migrate").objects().post(*m_entry, {.kind = kinds::move, .to = to, .answer = answer});
}

object_name object_reference::name() const noexcept {
    return m_entry != nullptr ? m_entry->name : object_name{};
}

int object_reference::place() const noexcept {
    if (m_entry == nullptr) {
        return -1;
    }
    const std::scoped_lock lock(m_entry->lock);
    return m_entry->record.place().locality;
}

object_type_function object_reference::type() const noexcept {
    return m_entry != nullptr ? m_entry->type.load(std::memory_order_relaxed) : nullptr;
}

object_reference::travelling object_reference::lend() const {
    job& of = its_job("object");
    const code_place type = of.objects().place_of_type(*m_entry);
    const std::scoped_lock lock(m_entry->lock);
    m_entry->record.lend();
    const object_place known = m_entry->record.place();
    return {.name = m_entry->name,
            .lender = number_of_here(of),
            .locality = known.locality,
            .moves = known.moves,
            .type = type};
}

object_reference::travelling lend_running(object_name name) {
    return detail::job_for("object").objects().lend_running(name);
}

object_reference object_reference::receive(const travelling& from) {
    const job& of = detail::job_for("object");
    const auto count = static_cast<std::uint64_t>(of.count());
    const auto is_locality = [count](std::int32_t one) {
        return one >= 0 && static_cast<std::uint64_t>(one) < count;
    };
    if (from.name.home >= count || !is_locality(from.lender) || !is_locality(from.locality)) {
        throw archive_error("a reference to a global object names a locality that does not exist");
    }
    return object_reference(&detail::job_for("object").objects().receive_reference(from));
}

void refuse_no_object(const char* function) {
    throw std::logic_error(std::string("quern: localities::") + function +
                           " of a reference that refers to no object; accepted: one of make_at(), "
                           "or a copy of it");
}

void refuse_type(object_name name, const std::type_info& is, const std::type_info& wanted) {
    throw std::invalid_argument(
        "quern: localities: the global object " + std::to_string(name.serial) + " of locality " +
        std::to_string(name.home) + " is a " + cereal::util::demangle(is.name()) + ", and not a " +
        cereal::util::demangle(wanted.name()));
}

}  // namespace quern::localities::detail
