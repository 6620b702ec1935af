// SPDX-License-Identifier: BSL-1.0
// Answers that come later than the call: a ticket stands for a future at some locality, travels,
// and is answered once, from anywhere. With it an object's call need not wait in order to answer.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/action.hpp>
#include <quern/localities/object.hpp>
#include <quern/localities/remote_error.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace quern::localities::detail {

/// Whether there is a session in which answers can be posted: not at its very end, when the objects
/// that are left end.
bool can_answer() noexcept;

template <class R>
struct ticket {
    std::int32_t locality = 0;
    std::uint64_t number = 0;  ///< of a waiting_call there; 0: nothing waits for an answer

    /// With a value, or none if R is void. One that cannot be written is an error for who waits.
    template <class... Value>
    void answer(Value&&... value) const {
        answer_with([&] { write_answer(std::forward<Value>(value)...); });
    }
    void fail(const error_report& why) const {
        outgoing_parcel parcel;
        localities::detail::write(parcel.bytes, why);
        send(k_error, std::move(parcel));
    }
    /// Calls f. If that throws, fails with the exception.
    template <class F>
    void answer_with(F&& f) const {
        try {
            f();
        } catch (...) {
            fail(detail::report_of_current_exception(localities::here()));
        }
    }

private:
    template <class... Value>
    void write_answer(Value&&... value) const {
        if constexpr (!std::is_void_v<R>) {
            detail::require_can_travel<R>();
        }
        using kept = std::conditional_t<std::is_void_v<R>, std::tuple<>, std::tuple<Value...>>;
        static_assert(std::is_void_v<R> || (std::is_same_v<std::decay_t<Value>, R> && ...));
        outgoing_parcel parcel;
        kept values(std::forward<Value>(value)...);
        detail::put_values(parcel, values);
        send(k_value, std::move(parcel));
    }
    void send(code_place what, outgoing_parcel&& parcel) const {
        if (number == 0) {
            return;
        }
        detail::answer_call(detail::job_for("an answer"), locality, number, what,
                            std::move(parcel));
    }
};

/// Tickets of calls that wait, in their order. Those that are left at the end of their object fail.
template <class R>
class ticket_queue {
public:
    ticket_queue() = default;
    ticket_queue(const ticket_queue&) = delete;
    ticket_queue& operator=(const ticket_queue&) = delete;
    ~ticket_queue() {
        if (!m_is_copied) {
            fail_all("its object has ended while it was waited for");
        }
    }

    bool is_empty() const noexcept { return m_waiting.empty(); }
    std::size_t size() const noexcept { return m_waiting.size(); }
    void add(ticket<R> one) {
        m_is_copied = false;
        m_waiting.push_back(one);
    }
    /// Requires: it is not empty.
    ticket<R> take() {
        m_is_copied = false;
        const ticket<R> first = m_waiting.front();
        m_waiting.pop_front();
        return first;
    }
    /// With values made by R(), or with none if R is void.
    void answer_all() {
        while (!is_empty()) {
            if constexpr (std::is_void_v<R>) {
                take().answer();
            } else {
                take().answer(R());
            }
        }
    }
    void fail_all(const error_report& why) {
        while (!is_empty()) {
            take().fail(why);
        }
    }

    /// The object moves: what has been written is not this one's any more, unless it is used again,
    /// because the move has failed.
    template <class Archive>
    void save(Archive& into) const {
        into(m_waiting);
        m_is_copied = true;
    }
    template <class Archive>
    void load(Archive& from) {
        from(m_waiting);
    }

private:
    void fail_all(const char* why) noexcept {
        if (!m_waiting.empty() && detail::can_answer()) {
            fail_all(error_report{.locality = localities::here(),
                                  .type = "std::logic_error",
                                  .message = std::string("quern: localities: ") + why,
                                  .task = {}});
        }
    }

    std::deque<ticket<R>> m_waiting{};
    mutable bool m_is_copied = false;
};

/// Posts a call f(object, ticket, args...), and returns the future for which the ticket stands.
template <class R, class State, class F, class... Args>
future<R> call_with_ticket(const object<State>& one, F f, Args&&... args) {
    job& of = detail::job_for("a call of an object");
    auto answer = std::make_unique<promised_call<R>>();
    future<R> given = answer->get_future();
    const std::uint64_t number = detail::add_call(of, std::move(answer), k_anywhere);
    try {
        one.post(f, ticket<R>{detail::number_of_here(of), number}, std::forward<Args>(args)...);
    } catch (...) {
        detail::forget_call(of, number);
        throw;
    }
    return given;
}

}  // namespace quern::localities::detail
