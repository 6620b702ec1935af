// SPDX-License-Identifier: BSL-1.0
// The messages about global objects, as parcels.
#include "arrivals.hpp"
#include "job.hpp"
#include "objects.hpp"

#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

namespace quern::localities::detail {

using kinds = object_message_kind;

namespace {

/// At the beginning of a parcel. Then, of a call: its function and arguments; of `arrive`: the
/// callers, and the object; of `is_refused`: an error_report.
struct object_header {
    object_name name;
    code_place action;  ///< of a call: an object_function, or 0: nothing; of `arrive`: the type
    std::uint64_t answer;
    std::uint64_t turn;
    object_caller caller;
    object_place place;
    std::int32_t to;
    std::int32_t from;
    object_message_kind kind;
    bool is_shared;
    bool is_forwarded;
    std::uint8_t reserved[5];
};
static_assert(sizeof(object_header) % 8 == 0);

object_header header_of(const object_entry& of, const known_message& what) noexcept {
    return {.name = of.name,
            .action = 0,
            .answer = what.answer,
            .turn = what.turn,
            .caller = what.caller,
            .place = what.place,
            .to = what.to,
            .from = what.from,
            .kind = what.kind,
            .is_shared = what.is_shared,
            .is_forwarded = what.is_forwarded,
            .reserved = {}};
}

known_message message_of(const object_header& header) noexcept {
    return {.kind = header.kind,
            .is_shared = header.is_shared,
            .is_forwarded = header.is_forwarded,
            .from = header.from,
            .caller = header.caller,
            .turn = header.turn,
            .place = header.place,
            .to = header.to,
            .answer = header.answer};
}

/// A call whose bytes are here.
class stored_call final : public object_call {
public:
    stored_call(job& of, int caller, code_place action, std::uint64_t answer,
                std::unique_ptr<stored_parcel> parcel) noexcept
        : m_job(of),
          m_caller(caller),
          m_action(action),
          m_answer(answer),
          m_parcel(std::move(parcel)) {}

    void run(void* object) noexcept override {
        arrived_parcel parcel(m_job, m_caller, k_object, m_answer, *m_parcel);
        detail::run_call(parcel, m_action, object);
    }
    std::unique_ptr<contents> take_contents() override {
        auto all = std::make_unique<contents>();
        all->action = m_action;
        all->answer = m_answer;
        all->parcel.bytes.put(m_parcel->bytes.data(), m_parcel->bytes.size());
        for (const auto& each : m_parcel->chunks) {
            all->parcel.chunks.push_back({each.data(), each.size()});
        }
        all->parcel.kept = std::move(m_parcel);
        return all;
    }

private:
    job& m_job;
    int m_caller;
    code_place m_action;
    std::uint64_t m_answer;
    std::unique_ptr<stored_parcel> m_parcel;
};

/// One that has been written because its object was not here. It may have come meanwhile.
class written_call final : public object_call {
public:
    written_call(job& of, std::unique_ptr<contents> all) noexcept
        : m_job(of), m_all(std::move(all)) {}

    void run(void* object) noexcept override {
        const auto kept = detail::store(m_all->parcel);
        arrived_parcel parcel(m_job, m_job.here(), k_object, m_all->answer, *kept);
        detail::run_call(parcel, m_all->action, object);
    }
    std::unique_ptr<contents> take_contents() override { return std::move(m_all); }

private:
    job& m_job;
    std::unique_ptr<contents> m_all;
};

/// Chunks of an object that moves point into it. The program's destructor runs as a task.
class kept_object final : public kept_values {
public:
    kept_object(object_table& of, std::shared_ptr<void> object) noexcept
        : m_object(std::move(object)), m_table(of) {}
    ~kept_object() override { m_table.release(std::move(m_object)); }

private:
    std::shared_ptr<void> m_object;
    object_table& m_table;
};

template <class Value>
void put_plain(outgoing_parcel& into, const Value& value) {
    into.bytes.put(&value, sizeof value);
}

}  // namespace

std::unique_ptr<object_call> write_call(job& of, object_call& one) {
    return std::make_unique<written_call>(of, one.take_contents());
}

/// Without an action there is only its turn: it could not be written.
void run_call(arrived_parcel& parcel, code_place action, void* object) noexcept {
    if (action == 0) {
        return;
    }
    try {
        const auto address = reinterpret_cast<std::uintptr_t>(detail::code_at(parcel.of(), action));
        reinterpret_cast<object_function>(address)(parcel, object);
    } catch (...) {
        detail::has_failed(parcel);
    }
    parcel.call_has_ended();
}

void object_table::send(object_entry& of, int to, known_message&& what) {
    object_header header = header_of(of, what);
    std::unique_ptr<object_call::contents> call;
    if (what.kind == kinds::call) {
        try {
            call = what.payload.call->take_contents();
            header.action = call->action;
            header.answer = call->answer;
        } catch (...) {
            what.payload.call.reset();  // its future has a broken promise
        }
    }
    outgoing_parcel parcel;
    put_plain(parcel, header);
    if (call) {
        const auto bytes = call->parcel.bytes.bytes();
        parcel.bytes.put(bytes.data(), bytes.size());
        parcel.chunks = std::move(call->parcel.chunks);
        parcel.kept = std::move(call->parcel.kept);
    }
    if (what.kind == kinds::is_refused) {
        localities::detail::write(parcel.bytes, *what.payload.error);
    }
    m_job.post(to, k_object, header.answer, std::move(parcel));
}

/// If the object cannot be written, the error goes in its place, and the new place refuses it.
void object_table::pack(object_entry& of, int to, known_message&& what) {
    object_header header = header_of(of, what);
    header.action = place_of_type(of);
    outgoing_parcel parcel;
    try {
        put_plain(parcel, header);
        put_plain(parcel, std::uint64_t{what.callers.size()});
        for (const auto& [caller, next] : what.callers) {
            put_plain(parcel, caller);
            put_plain(parcel, next);
        }
        of.type.load(std::memory_order_relaxed)().write(parcel, of.object.get());
        if (!parcel.chunks.empty()) {
            parcel.kept = std::make_unique<kept_object>(*this, of.object);
        }
        m_job.post(to, k_object, 0, std::move(parcel));
    } catch (...) {
        outgoing_parcel instead;
        header.action = 0;
        put_plain(instead, header);
        localities::detail::write(instead.bytes, detail::report_of_current_exception(m_job.here()));
        m_job.post(to, k_object, 0, std::move(instead));
    }
}

void object_table::receive(arrived_parcel& parcel) noexcept {
    object_header header{};
    parcel.take_front(&header, sizeof header);
    parcel.answers_to(static_cast<int>(header.caller.locality), header.answer);
    const use during(*this, header.name);
    known_message what = message_of(header);
    switch (header.kind) {
        case kinds::call:
            receive_call(during.one, std::move(what), parcel, header.action);
            return;
        case kinds::arrive:
            receive_object(during.one, std::move(what), parcel, header.action);
            return;
        case kinds::is_refused:
            what.payload.error = std::make_unique<error_report>();
            parcel.read("an error", *what.payload.error);
            break;
        default:
            break;
    }
    take(during.one, std::move(what));
}

/// A call whose turn it is runs at once, from the parcel; the bytes of any other one are kept.
void object_table::receive_call(object_entry& of, known_message&& what, arrived_parcel& parcel,
                                code_place action) {
    bool runs = false;
    known_actions out;
    const bool is_shared = what.is_shared;
    {
        const std::scoped_lock lock(of.lock);
        runs = of.record.take_if_it_runs(what, out);
    }
    if (runs) {
        carry_out(of, std::move(out));
        const auto begun = begin_measured();
        detail::run_call(parcel, action, of.object.get());
        end_measured(of, begun);
        has_run(of, is_shared);
        return;
    }
    what.payload.call = std::make_unique<stored_call>(m_job, parcel.caller(), action,
                                                      parcel.number(), parcel.take_all());
    take(of, std::move(what));
}

void object_table::receive_object(object_entry& of, known_message&& what, arrived_parcel& parcel,
                                  code_place type) {
    auto error = std::make_unique<error_report>();
    try {
        if (type != 0) {
            std::uint64_t left = 0;
            for (parcel.take_front(&left, sizeof left); left != 0; --left) {
                auto& [caller, next] = what.callers.emplace_back();
                parcel.take_front(&caller, sizeof caller);
                parcel.take_front(&next, sizeof next);
            }
            const auto its = reinterpret_cast<object_type_function>(
                reinterpret_cast<std::uintptr_t>(detail::code_at(m_job, type)));
            std::shared_ptr<void> object(its().read(parcel), its().destroy);
            const std::scoped_lock lock(of.lock);
            of.type.store(its, std::memory_order_relaxed);
            of.object = std::move(object);
            error.reset();
        } else {
            parcel.read("an error", *error);
        }
    } catch (...) {
        *error = detail::report_of_current_exception(m_job.here());
    }
    if (!error) {
        take(of, std::move(what));
        return;
    }
    change(of, [&](known_object& record, known_actions& out) {
        record.refuse(what, {.call = {}, .error = std::move(error), .object = {}}, out);
    });
}

}  // namespace quern::localities::detail
