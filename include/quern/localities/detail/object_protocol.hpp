// SPDX-License-Identifier: BSL-1.0
// What one locality knows of one global object, and what it does when a message about it comes:
// a state machine without threads or messages of its own. Its owner locks it, carries out the
// actions that it returns, in their order, and hands it the messages that come, in any order.
// Protocol and proof: src/localities/README.md, section "Objects".
// Explored: tests/localities/object_protocol_test.cpp.
#pragma once

#include <quern/base/detail/assert.hpp>
#include <quern/localities/detail/object_messages.hpp>
#include <quern/localities/detail/object_turns.hpp>

#include <compare>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace quern::localities::detail {

template <class Payload>
class object_record {
public:
    using message = object_message<Payload>;
    using action = object_action<Payload>;
    using actions = std::vector<action>;
    using kinds = object_message_kind;

    /// At locality `here`, of an object whose home is `home`.
    object_record(std::int32_t here, std::int32_t home) noexcept
        : m_here(here), m_home(home), m_place{home, 0} {}

    /// The object has been made here, which is its home, and one reference to it. `number`: of the
    /// caller that this locality is from now on.
    void make(std::uint64_t number) {
        m_presence = presence::here;
        m_is_alive = true;
        m_references = 1;
        m_me = number;
        m_standing = standing::begun;
        m_next_turn = 1;
        m_turns.add(me(), 1);
    }

    /// One more reference. Requires: there is one.
    void copy() noexcept { ++m_references; }
    /// One reference less.
    void drop(actions& out) {
        --m_references;
        leave_if_unused(out);
    }
    /// A reference is being sent away. Requires: there is one.
    void lend() noexcept { ++m_lent; }
    /// One has come from `lender`, who last knew the object to be at `place`. `number`: of a caller
    /// that has not been used; whether it is now. Call it also for references that one's own
    /// locality has sent.
    bool receive(std::int32_t lender, object_place place, std::uint64_t number, actions& out) {
        learn(place);
        ++m_references;
        if (m_standing == standing::begun) {
            thank(lender, out);
            return false;
        }
        m_lenders.push_back(lender);
        if (m_standing == standing::beginning) {
            return false;
        }
        m_me = number;
        m_standing = standing::beginning;
        m_next_turn = 0;
        post({.kind = kinds::begin}, out);
        return true;
    }

    /// A call, or a move, of this locality. Requires: there is a reference.
    void post(message&& one, actions& out) {
        one.caller = me();
        one.turn = m_next_turn++;
        one.place = m_place;
        if (m_presence == presence::absent) {
            send(m_place.locality, std::move(one), out);
        } else {
            follow(std::move(one), out);
        }
    }

    /// A call of this locality. True: it runs at once, by the caller of this function, and is no
    /// message; then has_run(). False: nothing has been done. Requires: there is a reference.
    bool post_if_it_runs(bool is_shared) {
        const bool runs = begin_if_next(me(), m_next_turn, is_shared);
        m_next_turn += runs ? 1 : 0;
        return runs;
    }

    /// A call has come. True: it runs at once, by the caller of this function, who need not keep
    /// its bytes; then has_run(). False: nothing has been done.
    bool take_if_it_runs(const message& one, actions& out) {
        const bool runs = begin_if_next(one.caller, one.turn, one.is_shared);
        if (runs) {
            tell_place(one, out);
        }
        return runs;
    }

    /// A message has come. `arrive`: the object has been read.
    void take(message&& one, actions& out) {
        switch (one.kind) {
            case kinds::begin:
            case kinds::call:
            case kinds::move:
            case kinds::end:
                follow(std::move(one), out);
                break;
            case kinds::has_begun:
                has_begun(out);
                break;
            case kinds::has_come:
                --m_lent;
                leave_if_unused(out);
                break;
            case kinds::is_at:
                learn(one.place);
                break;
            case kinds::prepare:
                prepare(std::move(one), out);
                break;
            case kinds::is_prepared:
                learn(one.place);
                send(one.from, {.kind = kinds::is_known, .place = one.place}, out);
                break;
            case kinds::is_known:
                is_known(one.place, out);
                break;
            case kinds::arrive:
                arrive(std::move(one), out);
                break;
            case kinds::has_arrived:
                has_left(out);
                break;
            case kinds::is_refused:
                m_move.payload = std::move(one.payload);
                send(m_home, {.kind = kinds::is_prepared, .from = m_here, .place = one.place}, out);
                break;
            case kinds::is_gone:
                m_is_alive = false;
                break;
        }
    }

    /// A call that `run` was about, or one that ran at once, has ended.
    void has_run(bool was_shared, actions& out) {
        m_turns.end_call(was_shared);
        take_turns(out);
    }
    /// The same where nothing follows. False: something may, and nothing has been done.
    bool has_run_as_last(bool was_shared) noexcept {
        if (!m_turns.is_empty() || !m_turns.has_callers()) {
            return false;
        }
        m_turns.end_call(was_shared);
        return true;
    }

    /// The object that `arrive` brought could not be read. `why`: of is_not_moved.
    void refuse(const message& arrived, Payload why, actions& out) {
        m_presence = presence::absent;
        m_place = {arrived.from, arrived.place.moves + 1};  // as the home will know it
        message back{.kind = kinds::is_refused, .place = m_place};
        back.payload = std::move(why);
        send(arrived.from, std::move(back), out);
        send_on(std::exchange(m_waiting, {}), out);
    }

    bool is_here() const noexcept {
        return m_presence == presence::here || m_presence == presence::leaving;
    }
    object_place place() const noexcept { return m_place; }
    std::uint64_t references() const noexcept { return m_references; }
    /// Whether nothing is known here that may be needed.
    bool is_unused() const noexcept {
        return m_references == 0 && m_lent == 0 && m_standing == standing::none &&
               m_presence == presence::absent && !m_is_alive;
    }

    friend auto operator<=>(const object_record&, const object_record&) = default;

private:
    enum class presence : std::uint8_t { absent, coming, here, leaving };
    enum class standing : std::uint8_t { none, beginning, begun };

    static std::int32_t locality_of(const object_caller& one) noexcept {
        return static_cast<std::int32_t>(one.locality);
    }
    object_caller me() const noexcept { return {m_here, m_me}; }

    static void send(std::int32_t to, message&& one, actions& out) {
        out.push_back({action::kind::send, to, std::move(one)});
    }
    void learn(object_place place) noexcept {
        if (place.moves > m_place.moves) {
            m_place = place;
        }
    }
    void thank(std::int32_t lender, actions& out) { send(lender, {.kind = kinds::has_come}, out); }

    void has_begun(actions& out) {
        m_standing = standing::begun;
        for (const std::int32_t each : std::exchange(m_lenders, {})) {
            thank(each, out);
        }
        leave_if_unused(out);
    }
    /// A caller without references says so, after all its calls.
    void leave_if_unused(actions& out) {
        if (m_references == 0 && m_lent == 0 && m_standing == standing::begun) {
            m_standing = standing::none;
            post({.kind = kinds::end}, out);
        }
    }

    /// A message of a caller: to where the object is, or will be.
    void follow(message&& one, actions& out) {
        switch (m_presence) {
            case presence::here:
                accept(std::move(one), out);
                break;
            case presence::coming:
            case presence::leaving:
                m_waiting.push_back(std::move(one));
                break;
            case presence::absent:
                send_on(std::move(one), out);
                break;
        }
    }
    /// To a later place than it was sent to, if one is known here; else to the home, where one is.
    void send_on(message&& one, actions& out) {
        QUERN_ASSERT(m_here != m_home || m_is_alive, "a call of a global object that has ended");
        one.is_forwarded = true;
        if (m_here == m_home || m_place.moves > one.place.moves) {
            one.place = m_place;
            send(m_place.locality, std::move(one), out);
        } else {
            send(m_home, std::move(one), out);
        }
    }
    void send_on(std::deque<message>&& all, actions& out) {
        for (message& each : all) {
            send_on(std::move(each), out);
        }
    }

    /// At the object's place: the messages of each caller take their turns in its order.
    void accept(message&& one, actions& out) {
        tell_place(one, out);
        m_turns.accept(std::move(one), out);
        take_turns(out);
    }

    /// To a caller that did not know it.
    void tell_place(const message& one, actions& out) const {
        if (one.is_forwarded && one.caller.locality != m_here) {
            send(locality_of(one.caller), {.kind = kinds::is_at, .place = m_place}, out);
        }
    }
    bool begin_if_next(const object_caller& caller, std::uint64_t turn, bool is_shared) {
        return m_presence == presence::here && m_turns.begin_if_next(caller, turn, is_shared);
    }

    /// Calls that share run beside each other, other calls and moves alone. After the last caller
    /// the object ends with the last call.
    void take_turns(actions& out) {
        while (m_presence == presence::here && m_turns.has_next()) {
            message one = m_turns.take_next();
            if (one.kind == kinds::end) {
                m_turns.end_caller(one.caller, out);
            } else if (one.kind == kinds::move && one.to == m_here) {
                out.push_back({action::kind::is_moved, locality_of(one.caller), std::move(one)});
            } else if (one.kind == kinds::move) {
                m_presence = presence::leaving;
                send(one.to,
                     {.kind = kinds::prepare, .from = m_here, .place = {one.to, m_place.moves + 1}},
                     out);
                m_move = std::move(one);
            } else {
                m_turns.begin_call(one.is_shared);
                out.push_back({action::kind::run, m_here, std::move(one)});
            }
        }
        if (m_presence == presence::here && !m_turns.has_callers() && !m_turns.is_running()) {
            cease(out);
        }
    }
    void cease(actions& out) {
        m_presence = presence::absent;
        out.push_back({action::kind::discard, m_here, {}});
        send(m_home, {.kind = kinds::is_gone}, out);
    }

    /// It may come back before it is known here that it has arrived elsewhere.
    void prepare(message&& one, actions& out) {
        if (m_presence == presence::leaving) {
            m_return.push_back(std::move(one));
            return;
        }
        m_presence = presence::coming;
        send(m_home, {.kind = kinds::is_prepared, .from = one.from, .place = one.place}, out);
    }
    /// The home knows the new place of the object that leaves, or that it stays after all.
    void is_known(object_place place, actions& out) {
        if (place.locality == m_here) {
            m_place = place;
            out.push_back(
                {action::kind::is_not_moved, locality_of(m_move.caller), std::move(m_move)});
            is_here_now(out);
            return;
        }
        message going{.kind = kinds::arrive, .from = m_here, .place = place};
        going.callers = m_turns.callers();
        m_move.place = place;
        out.push_back({action::kind::pack, place.locality, std::move(going)});
    }
    void arrive(message&& one, actions& out) {
        m_place = one.place;
        for (const auto& [caller, next] : one.callers) {
            m_turns.add(caller, next);
        }
        send(one.from, {.kind = kinds::has_arrived}, out);
        is_here_now(out);
    }
    void is_here_now(actions& out) {
        m_presence = presence::here;
        for (message& each : std::exchange(m_waiting, {})) {
            accept(std::move(each), out);
        }
        take_turns(out);
    }
    /// What has come meanwhile follows the object.
    void has_left(actions& out) {
        m_presence = presence::absent;
        learn(m_move.place);
        out.push_back({action::kind::discard, m_here, {}});
        out.push_back({action::kind::is_moved, locality_of(m_move.caller), std::move(m_move)});
        send_on(m_turns.take_all(), out);
        send_on(std::exchange(m_waiting, {}), out);
        for (message& each : std::exchange(m_return, {})) {
            prepare(std::move(each), out);
        }
    }

    std::int32_t m_here;
    std::int32_t m_home;
    object_place m_place;  ///< the latest that is known here
    std::uint64_t m_references = 0;
    std::uint64_t m_lent = 0;  ///< references under way to localities that may not be callers yet
    standing m_standing = standing::none;
    std::uint64_t m_me = 0;
    std::uint64_t m_next_turn = 0;
    std::vector<std::int32_t> m_lenders{};  ///< to thank when this locality is a caller
    bool m_is_alive = false;                ///< of the home: there is an object
    presence m_presence = presence::absent;
    // While it is here.
    object_turns<Payload> m_turns{};
    message m_move{};                 ///< while it is leaving
    std::vector<message> m_return{};  ///< a `prepare` that has come meanwhile
    // While it is coming or leaving.
    std::deque<message> m_waiting{};
};

}  // namespace quern::localities::detail
