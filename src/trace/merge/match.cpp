// SPDX-License-Identifier: BSL-1.0
// All ends are sorted so that the ends of messages between which MPI keeps the order stand
// together: the sendings in their order, then the receipts in theirs. The first of these belongs to
// the first of those. Messages with numbers of their own are connected by them.
#include "merge/match.hpp"

#include <quern/trace/events.hpp>

#include <algorithm>
#include <map>
#include <tuple>

namespace quern::trace::detail {

namespace {

struct both_sides {
    std::uint64_t context;
    int from;
    int to;
    int tag;
    bool is_received;
    std::uint64_t order;
    std::int64_t at_ns;
    std::uint64_t bytes;
    std::uint32_t trace;
    std::uint64_t packet;

    auto between() const noexcept { return std::tie(context, from, to, tag); }
};

std::vector<both_sides> take_all(std::vector<rank_trace>& traces) {
    std::vector<both_sides> all;
    std::uint32_t number = 0;
    for (rank_trace& each : traces) {
        for (const message_end& m : each.messages) {
            all.push_back({.context = m.context,
                           .from = m.is_sent ? each.place.rank : m.peer,
                           .to = m.is_sent ? m.peer : each.place.rank,
                           .tag = m.tag,
                           .is_received = !m.is_sent,
                           .order = m.order,
                           .at_ns = each.common_ns(m.at_ns),
                           .bytes = m.bytes,
                           .trace = number,
                           .packet = m.packet});
        }
        std::vector<message_end>().swap(each.messages);
        ++number;
    }
    std::sort(all.begin(), all.end(), [](const both_sides& a, const both_sides& b) {
        return std::tuple(a.between(), a.is_received, a.order, a.at_ns) <
               std::tuple(b.between(), b.is_received, b.order, b.at_ns);
    });
    return all;
}

class matcher {
public:
    matcher(std::size_t traces, merged_traces& result) : m_result(result) {
        m_made.ends.resize(traces);
    }

    using iterator = std::vector<both_sides>::const_iterator;

    /// The ends of the messages of one context, sender, receiver and tag.
    void match(iterator begin, iterator end) {
        const iterator received =
            std::find_if(begin, end, [](const both_sides& m) { return m.is_received; });
        const auto sent = static_cast<std::uint64_t>(received - begin);
        const auto arrived = static_cast<std::uint64_t>(end - received);
        m_result.sent += sent;
        m_result.received += arrived;
        iterator from = begin;
        iterator to = received;
        const bool is_numbered = (begin->context & k_numbered_messages) != 0;
        while (from != received && to != end) {
            if (is_numbered && from->order < to->order) {
                count_unmatched(*from++);
            } else if (is_numbered && to->order < from->order) {
                count_unmatched(*to++);
            } else {
                connect(*from++, *to++);
            }
        }
        for (; from != received; ++from) {
            count_unmatched(*from);
        }
        for (; to != end; ++to) {
            count_unmatched(*to);
        }
    }

    matched_messages take() {
        for (auto& each : m_made.ends) {
            std::sort(each.begin(), each.end(),
                      [](const arrow_end& a, const arrow_end& b) { return a.packet < b.packet; });
        }
        for (const auto& [key, counted] : m_unmatched) {
            m_result.unmatched.push_back(counted);
        }
        std::stable_sort(m_result.unmatched.begin(), m_result.unmatched.end(),
                         [](const auto& a, const auto& b) { return a.messages > b.messages; });
        return std::move(m_made);
    }

private:
    void connect(const both_sides& from, const both_sides& to) {
        const std::uint64_t number = m_result.arrows++;
        std::int64_t at = to.at_ns;
        if (at <= from.at_ns) {
            ++m_result.moved;
            m_result.moved_most_ns =
                std::max(m_result.moved_most_ns, static_cast<std::uint64_t>(from.at_ns - at));
            at = from.at_ns + 1;
        }
        m_made.ends[from.trace].push_back({from.packet, number, true, from.at_ns});
        m_made.ends[to.trace].push_back({to.packet, number, false, at});
    }

    void count_unmatched(const both_sides& m) {
        unmatched_messages& row = m_unmatched[{m.is_received, m.from, m.to, m.tag}];
        row.is_sent = !m.is_received;
        row.from = m.from;
        row.to = m.to;
        row.tag = m.tag;
        ++row.messages;
        row.bytes += m.bytes;
    }

    merged_traces& m_result;
    matched_messages m_made;
    std::map<std::tuple<bool, int, int, int>, unmatched_messages> m_unmatched;
};

}  // namespace

matched_messages match_messages(std::vector<rank_trace>& traces, merged_traces& result) {
    const std::vector<both_sides> all = take_all(traces);
    matcher found(traces.size(), result);
    for (auto begin = all.begin(); begin != all.end();) {
        const auto end = std::find_if(
            begin, all.end(), [&](const both_sides& m) { return m.between() != begin->between(); });
        found.match(begin, end);
        begin = end;
    }
    return found.take();
}

}  // namespace quern::trace::detail
