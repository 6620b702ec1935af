// SPDX-License-Identifier: BSL-1.0
// The turns of the messages at a global object's place: those of each caller in its order, calls
// that share beside each other, other calls and moves alone. A part of object_record
// (object_protocol.hpp).
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/object_messages.hpp>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace quern::localities::detail {

template <class Payload>
class object_turns {
public:
    using message = object_message<Payload>;
    using action = object_action<Payload>;
    using actions = std::vector<action>;
    using kinds = object_message_kind;

    /// A caller of whom the message with the number `next` is to come.
    void add(const object_caller& caller, std::uint64_t next) { m_callers[caller].next = next; }

    /// A message of a caller has come.
    void accept(message&& one, actions& out) {
        const auto at = m_callers.try_emplace(one.caller).first;
        auto& [next, early] = at->second;
        if (one.turn == next && next != 0 && early.empty()) [[likely]] {
            ++next;
            m_turns.push_back(std::move(one));
        } else {
            early.emplace(one.turn, std::move(one));
            line_up(at, out);
        }
    }

    bool is_empty() const noexcept { return m_turns.empty(); }
    /// Whether it is the turn of the first one, beside what runs. An `end` waits for nothing that
    /// runs: a call that runs may wait for one that has lined up behind that `end`.
    bool has_next() const noexcept {
        return !m_turns.empty() && (m_turns.front().kind == kinds::end ||
                                    (!m_is_alone && (m_running == 0 || m_turns.front().is_shared)));
    }
    message take_next() {
        message one = std::move(m_turns.front());
        m_turns.pop_front();
        return one;
    }

    void begin_call(bool is_shared) noexcept {
        is_shared ? static_cast<void>(++m_running) : static_cast<void>(m_is_alone = true);
    }
    void end_call(bool was_shared) noexcept {
        was_shared ? static_cast<void>(--m_running) : static_cast<void>(m_is_alone = false);
    }
    /// A call whose turn it is, if nothing must run or line up before it.
    bool begin_if_next(const object_caller& caller, std::uint64_t turn, bool is_shared) {
        if (!m_turns.empty() || m_is_alone || (m_running != 0 && !is_shared)) {
            return false;
        }
        const auto at = m_callers.find(caller);
        if (at == m_callers.end() || at->second.next != turn || !at->second.early.empty()) {
            return false;
        }
        ++at->second.next;
        begin_call(is_shared);
        return true;
    }

    /// A caller's `end` has had its turn.
    void end_caller(const object_caller& caller, actions& out) {
        const auto after = m_callers.erase(m_callers.find(caller));
        if (after != m_callers.end()) {
            line_up(after, out);
        }
    }
    bool has_callers() const noexcept { return !m_callers.empty(); }
    bool is_running() const noexcept { return m_running != 0 || m_is_alone; }

    /// Each with the number of its message that comes next; those that wait for their turns have
    /// not come: they line up again elsewhere.
    std::vector<std::pair<object_caller, std::uint64_t>> callers() const {
        std::vector<std::pair<object_caller, std::uint64_t>> all;
        for (const auto& [caller, of] : m_callers) {
            all.emplace_back(caller, of.next);
        }
        for (const message& each : m_turns) {
            const auto same = [&each](const auto& of) { return of.first == each.caller; };
            --std::find_if(all.begin(), all.end(), same)->second;
        }
        return all;
    }
    /// The object has left: all messages that are here. No caller is known any more.
    std::deque<message> take_all() {
        std::deque<message> all = std::exchange(m_turns, {});
        for (auto& [caller, of] : m_callers) {
            for (auto& [turn, early] : of.early) {
                all.push_back(std::move(early));
            }
        }
        m_callers.clear();
        return all;
    }

    friend auto operator<=>(const object_turns&, const object_turns&) = default;

private:
    /// What the object's place knows of a caller.
    struct queue_of_caller {
        std::uint64_t next = 0;  ///< the number of its next message
        std::map<std::uint64_t, message> early{};
        friend auto operator<=>(const queue_of_caller&, const queue_of_caller&) = default;
    };
    using callers_type = std::map<object_caller, queue_of_caller>;

    /// What has come of a caller and is next. A locality that had no reference for a while is
    /// another caller afterwards, which begins when the former one has ended.
    void line_up(typename callers_type::iterator caller, actions& out) {
        auto& [next, early] = caller->second;
        const bool waits = next == 0 && caller != m_callers.begin() &&
                           std::prev(caller)->first.locality == caller->first.locality;
        for (auto at = early.begin(); !waits && at != early.end() && at->first == next;
             at = early.erase(at)) {
            ++next;
            if (at->second.kind == kinds::begin) {
                const auto to = static_cast<std::int32_t>(caller->first.locality);
                out.push_back({action::kind::send, to, {.kind = kinds::has_begun}});
            } else {
                m_turns.push_back(std::move(at->second));
            }
        }
    }

    callers_type m_callers{};
    std::deque<message> m_turns{};
    std::uint64_t m_running = 0;
    bool m_is_alone = false;
};

}  // namespace quern::localities::detail
