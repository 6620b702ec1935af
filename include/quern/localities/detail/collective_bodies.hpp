// SPDX-License-Identifier: BSL-1.0
// The bodies of collective operations, by messages between pairs of members. In all of them a
// member sends at most one message to each other one. p: the number of members.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/operation.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace quern::localities::detail {

/// No member leaves before all have come: in round k each hears from the one 2^k places before it,
/// so after ceil(log2 p) rounds from all (Hensgen, Finkel and Manber, 1988: the dissemination
/// barrier).
inline void meet_members(operation& in) {
    const int p = in.size();
    for (int distance = 1; distance < p; distance *= 2) {
        in.send((in.place() + distance) % p, char{});
        static_cast<void>(in.receive<char>((in.place() - distance + p) % p));
    }
}

/// A binomial tree of messages with the root at its top: ceil(log2 p) messages one after the other.
template <class T>
T broadcast_value(operation& in, T value, int root) {
    const int p = in.size();
    const int own = (in.place() - root + p) % p;  // 0 at the root
    const auto member = [&](int number) { return (number + root) % p; };
    int bit = 1;
    while (bit < p && (own & bit) == 0) {
        bit *= 2;
    }
    if (own != 0) {
        value = in.receive<T>(member(own - bit));
    }
    for (bit /= 2; bit != 0; bit /= 2) {
        if (own + bit < p) {
            in.send(member(own + bit), value);
        }
    }
    return value;
}

/// The values in the order of the members, by a binomial tree: ceil(log2 p) messages one after the
/// other, and one more to a root that is not the first member. Only the root gets the result.
template <class T, class Op>
std::optional<T> reduce_values(operation& in, T value, Op& op, int root) {
    const int own = in.place();
    for (int bit = 1; bit < in.size(); bit *= 2) {
        if ((own & bit) != 0) {
            in.send(own - bit, std::move(value));
            return own == root ? std::optional<T>(in.receive<T>(0)) : std::nullopt;
        }
        if (own + bit < in.size()) {
            value = std::invoke(op, std::move(value), in.receive<T>(own + bit));
        }
    }
    if (root == own) {
        return value;
    }
    in.send(root, std::move(value));
    return std::nullopt;
}

/// Recursive doubling: in each of log2 q rounds pairs exchange what they know and combine it in the
/// order of the members, so that all combine the same values alike; q is the largest power of two
/// that is not larger than p. Before, p - q members give their values to the one before, and get
/// the result from it.
template <class T, class Op>
T all_reduce_values(operation& in, T value, Op& op) {
    const int own = in.place();
    int q = 1;
    while (2 * q <= in.size()) {
        q *= 2;
    }
    const int extra = in.size() - q;  // of the first 2 * extra members the odd ones only give
    const bool is_doubled = own < 2 * extra;
    if (is_doubled && own % 2 == 1) {
        in.send(own - 1, std::move(value));
        return in.receive<T>(own - 1);
    }
    if (is_doubled) {
        value = std::invoke(op, std::move(value), in.receive<T>(own + 1));
    }
    const int number = is_doubled ? own / 2 : own - extra;
    for (int bit = 1; bit < q; bit *= 2) {
        const int other = number ^ bit;
        const int member = other < extra ? 2 * other : other + extra;
        in.send(member, value);
        T its = in.receive<T>(member);
        value = number < other ? T(std::invoke(op, std::move(value), std::move(its)))
                               : T(std::invoke(op, std::move(its), std::move(value)));
    }
    if (is_doubled) {
        in.send(own + 1, value);
    }
    return value;
}

/// Each sends to the root. Only the root gets values.
template <class T>
std::vector<T> gather_values(operation& in, T value, int root) {
    std::vector<T> all;
    if (in.place() != root) {
        in.send(root, std::move(value));
        return all;
    }
    all.reserve(static_cast<std::size_t>(in.size()));
    for (int each = 0; each < in.size(); ++each) {
        all.push_back(each == root ? std::move(value) : in.receive<T>(each));
    }
    return all;
}

/// In round k each gets, from the one 2^k places behind it, what that one has: ceil(log2 p) rounds,
/// and each value reaches each member once (Bruck and others, 1997).
template <class T>
std::vector<T> all_gather_values(operation& in, T value) {
    const int p = in.size();
    std::vector<T> all;  // of the own place and those behind it
    all.reserve(static_cast<std::size_t>(p));
    all.push_back(std::move(value));
    for (int known = 1; known < p; known *= 2) {
        const int wanted = std::min(known, p - known);
        in.send((in.place() - known + p) % p, std::vector<T>(all.begin(), all.begin() + wanted));
        auto more = in.receive<std::vector<T>>((in.place() + known) % p);
        std::move(more.begin(), more.end(), std::back_inserter(all));
    }
    std::rotate(all.begin(), all.begin() + (p - in.place()) % p, all.end());
    return all;
}

template <class T>
void require_one_for_each(const operation& in, const std::vector<T>& values, const char* name) {
    if (values.size() != static_cast<std::size_t>(in.size())) {
        throw std::invalid_argument(std::string("quern: localities::communicator::") + name +
                                    " of " + std::to_string(values.size()) +
                                    " values; accepted: one for each of its " +
                                    std::to_string(in.size()) + " members");
    }
}

/// The root sends to each.
template <class T>
T scatter_values(operation& in, std::vector<T> values, int root) {
    if (in.place() != root) {
        return in.receive<T>(root);
    }
    detail::require_one_for_each(in, values, "scatter");
    for (int distance = 1; distance < in.size(); ++distance) {
        const int to = (root + distance) % in.size();
        in.send(to, T(std::move(values[static_cast<std::size_t>(to)])));
    }
    return T(std::move(values[static_cast<std::size_t>(root)]));
}

/// Each sends to each, beginning behind its own place, so that not all send to the same.
template <class T>
std::vector<T> exchange_values(operation& in, std::vector<T> values) {
    detail::require_one_for_each(in, values, "all_to_all");
    for (int distance = 1; distance < in.size(); ++distance) {
        const int to = (in.place() + distance) % in.size();
        in.send(to, T(std::move(values[static_cast<std::size_t>(to)])));
    }
    for (int from = 0; from < in.size(); ++from) {
        if (from != in.place()) {
            values[static_cast<std::size_t>(from)] = in.receive<T>(from);
        }
    }
    return values;
}

/// What scans give of the values before the own one, and with it.
template <class T>
struct scanned {
    std::optional<T> before;
    T all;
};

/// In round k each gives what it knows to the one 2^k places behind it: the values of 2^k members
/// up to its own (Hillis and Steele, 1986).
template <class T, class Op>
scanned<T> scan_values(operation& in, T value, Op& op) {
    scanned<T> known{std::nullopt, std::move(value)};
    for (int distance = 1; distance < in.size(); distance *= 2) {
        if (in.place() + distance < in.size()) {
            in.send(in.place() + distance, known.all);
        }
        if (in.place() >= distance) {
            T more = in.receive<T>(in.place() - distance);
            known.before = known.before ? T(std::invoke(op, more, std::move(*known.before))) : more;
            known.all = std::invoke(op, std::move(more), std::move(known.all));
        }
    }
    return known;
}

}  // namespace quern::localities::detail
