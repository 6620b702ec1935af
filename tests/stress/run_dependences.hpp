// SPDX-License-Identifier: BSL-1.0
// How the steps of a random program (random_dependences.hpp) become tasks.
#pragma once

#include <quern/dependences/access_list.hpp>
#include <quern/dependences/detail/access_checks.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/reduction.hpp>
#include <quern/dependences/release.hpp>
#include <quern/dependences/renamed.hpp>
#include <quern/dependences/spawn.hpp>

#include "random_dependences.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <tuple>

namespace quern_test::dependents {

/// An access to cells whose kind is known at run time alone.
struct cell_access : quern::detail::access_base {
    using view_type = void;
    using kept = quern::detail::strides;

    quern::detail::strided_region resolve(kept& keeps, quern::detail::domain_core&) const {
        return named(keeps);
    }
    quern::detail::strided_region named(kept& keeps) const {
        keeps.outer[0] = {rows, pitch * sizeof(std::uint64_t)};
        return {*this, rows > 1 ? &keeps : nullptr};
    }
    static std::tuple<> view(kept&, const quern::detail::region&) { return {}; }

    std::uint32_t rows = 1;
    std::uint32_t pitch = 0;
};

inline cell_access access_of(const range& r, cells& all) {
    cell_access made;
    made.begin = reinterpret_cast<std::uintptr_t>(&all[r.first]);
    made.bytes = r.count * sizeof(std::uint64_t);
    made.kind = kind_of(r.how);
    made.is_weak = r.is_weak;
    made.rows = r.rows;
    made.pitch = r.pitch;
    return made;
}

/// A function that cannot be copied.
struct uncopyable_body {
    struct error {};

    uncopyable_body() = default;
    uncopyable_body(const uncopyable_body&) { throw error(); }
    void operator()(const auto&...) const {}
};

/// Calls spawn(attributes, accesses..., body), perhaps at first in vain. A child of a final task is
/// called without a copy.
template <class Spawn, class Body, class... Accesses>
void spawn_step(const step& s, Spawn& spawn, const Body& body, const Accesses&... accesses) {
    if (s.is_spawned_twice) {
        try {
            spawn(s.how, accesses..., uncopyable_body());
        } catch (const uncopyable_body::error&) {
        }
    }
    spawn(s.how, accesses..., body);
}

/// Calls spawn(attributes, accesses..., body) with the accesses to cells alone.
template <class Spawn, class Body>
void spawn_on_cells(const step& s, cells& all, Spawn spawn, Body body) {
    const auto at = [&](std::size_t i) { return access_of(s.ranges[i], all); };
    switch (s.ranges.size()) {
        case 0:
            spawn_step(s, spawn, body);
            break;
        case 1:
            spawn_step(s, spawn, body, at(0));
            break;
        case 2:
            spawn_step(s, spawn, body, at(0), at(1));
            break;
        default:
            spawn_step(s, spawn, body, at(0), at(1), at(2));
            break;
    }
}

/// What the body of a step gets. Null: it has none.
struct views {
    std::uint64_t* sum = nullptr;
    std::uint64_t* version = nullptr;

    static std::uint64_t* pointer(const std::uint64_t& of) {
        return const_cast<std::uint64_t*>(&of);
    }
    template <class T>
    static std::uint64_t* pointer(std::span<T> of) {
        return const_cast<std::uint64_t*>(of.data());
    }
};

/// A program's data and the renamed objects for its rows.
class instance {
public:
    instance() {
        now.reset();
        for (row& each : now.rows) {
            m_renamed.emplace_back(each);
        }
    }

    data now;

    /// Calls spawn(attributes, accesses..., function); the function calls body(views).
    template <class Spawn, class Body>
    void spawn(const step& s, Spawn spawn, Body body) {
        if (s.on_sum == sum_use::none && s.on_row == row_use::none) {
            spawn_on_cells(s, now.plain, spawn, [body] { body(views()); });
            return;
        }
        quern::access_list ranges;
        for (const range& each : s.ranges) {
            ranges.add(access_of(each, now.plain));
        }
        with_sum(s, [&](auto... sum) {
            with_row(s, [&](auto... version) {
                spawn_step(s, spawn, function_of<sizeof...(sum) == 1>(body), ranges, sum...,
                           version...);
            });
        });
    }

private:
    template <bool HasSum, class Body>
    static auto function_of(Body body) {
        return [body](auto&&... all) {
            views found;
            if constexpr (sizeof...(all) == 2) {
                const auto both = std::forward_as_tuple(all...);
                found = {views::pointer(std::get<0>(both)), views::pointer(std::get<1>(both))};
            } else if constexpr (sizeof...(all) == 1) {
                (HasSum ? found.sum : found.version) = (views::pointer(all), ...);
            }
            body(found);
        };
    }

    template <class F>
    void with_sum(const step& s, F f) {
        std::uint64_t& sum = now.sums[s.sum];
        switch (s.on_sum) {
            case sum_use::add:
                return f(quern::reduction(sum, k_sum_operators[s.sum_by], 0));
            case sum_use::read:
                return f(quern::in(sum));
            case sum_use::change:
                return f(quern::inout(sum));
            case sum_use::none:
            case sum_use::k_all:
                return f();
        }
    }

    template <class F>
    void with_row(const step& s, F f) {
        quern::renamed<row>& version = m_renamed[s.row];
        switch (s.on_row) {
            case row_use::in:
                return f(quern::in(version));
            case row_use::out:
                return f(quern::out(version));
            case row_use::inout:
                return f(quern::inout(version));
            case row_use::none:
            case row_use::k_all:
                return f();
        }
    }

    std::deque<quern::renamed<row>> m_renamed;
};

/// Opens when the spawn of an undeferred task has returned. Null: nothing waits for that.
using gate = std::shared_ptr<std::atomic<bool>>;

/// For the children of an undeferred task, whose creator does not wait for these. Its function may
/// not wait for one of them.
inline gate gate_of(const step& s, bool in_place) {
    const bool waits_for_children =
        s.waits || s.how.wait || s.how.final || in_place ||
        std::any_of(s.children.begin(), s.children.end(),
                    [](const step& each) { return !each.how.deferred; });
    const bool is_one_at_a_time = quern::detail::checks_accesses();
    return s.how.deferred || waits_for_children || is_one_at_a_time
               ? nullptr
               : std::make_shared<std::atomic<bool>>(false);
}

/// The running step needs its first access no longer; perhaps in parts, of which the second one
/// may be left to its end.
inline void release_first(const step& s, cells& all) {
    range part = s.ranges[0];
    const bool names_another =
        std::any_of(s.ranges.begin() + 1, s.ranges.end(),
                    [&part](const range& each) { return overlap(each, part); });
    if (!s.releases_in_parts || part.count < 2 || part.is_weak || part.how == use::commutative ||
        names_another) {
        quern::this_task::release(access_of(part, all));
        return;
    }
    range rest = part;
    part.count = 1 + static_cast<std::uint32_t>(s.id % (part.count - 1));
    rest.first += part.count;
    rest.count -= part.count;
    quern::this_task::release(access_of(part, all));
    if (s.id % 3 != 0) {
        quern::this_task::yield();
        quern::this_task::release(access_of(rest, all));
    }
}

/// The function of a step: its work, its children, and its work once more. `in_place`: within a
/// final task, so it is no task of its own. `begins`: what it waits for; `of_children`: what these
/// wait for.
inline void run_as_task(const step& s, cells& all, const views& got, bool in_place = false,
                        const gate& begins = nullptr, const gate& of_children = nullptr) {
    while (begins != nullptr && !begins->load(std::memory_order_relaxed)) {
        quern::this_task::yield();
    }
    work(s, all, 0, got.sum, got.version);
    if (s.releases) {
        release_first(s, all);
        quern::this_task::yield();
    }
    if (s.releases) {
        work_on_the_rest(s, all);
    }
    const bool inner = in_place || s.how.final;
    for (const step& each : s.children) {
        const gate its = gate_of(each, inner);
        spawn_on_cells(
            each, all, [](const auto&... parts) { quern::spawn(parts...); },
            [&each, &all, inner, of_children, its] {
                run_as_task(each, all, views(), inner, of_children, its);
            });
        if (its != nullptr) {
            its->store(true, std::memory_order_relaxed);
        }
    }
    if (s.releases_after_children) {
        release_first(s, all);
        quern::this_task::yield();
    }
    if (s.waits) {
        quern::taskwait();
        work(s, all, 1, got.sum, got.version);
    }
}

}  // namespace quern_test::dependents
