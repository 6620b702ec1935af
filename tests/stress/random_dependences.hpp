// SPDX-License-Identifier: BSL-1.0
// Random programs of dependent tasks, with all kinds of accesses and regions, overlaps and
// children, and what each of them computes when spawn() calls its functions at once. Tests of the
// layer dependences run them as tasks (run_dependences.hpp) and compare.
#pragma once

#include <quern/dependences/detail/region.hpp>
#include <quern/task/attributes.hpp>

#include "stress/seed.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quern_test::dependents {

using quern::detail::access_kind;

constexpr std::uint32_t k_cells = 24;
constexpr std::uint32_t k_sums = 2;
constexpr std::uint32_t k_rows = 2;
constexpr std::uint32_t k_row_length = 3;

using cells = std::array<std::uint64_t, k_cells>;
using row = std::vector<std::uint64_t>;

/// What a program works on: cells, numbers that tasks also reduce to, and renamed objects.
struct data {
    cells plain{};
    std::array<std::uint64_t, k_sums> sums{};
    std::array<row, k_rows> rows{};

    bool operator==(const data&) const = default;

    void reset() {
        for (std::uint32_t i = 0; i < k_cells; ++i) {
            plain[i] = i;
        }
        sums = {100, 200};
        for (std::uint32_t r = 0; r < k_rows; ++r) {
            rows[r].assign(k_row_length, 10 + r);
        }
    }
};

enum class use : std::uint8_t { in, out, inout, concurrent, commutative, k_all };
enum class sum_use : std::uint8_t { none, add, read, change, k_all };
enum class row_use : std::uint8_t { none, in, out, inout, k_all };

/// Cells that a step accesses: rows of `count` cells.
struct range {
    use how;
    std::uint32_t first;
    std::uint32_t count;  ///< of a row; 0: a sentinel
    std::uint32_t rows = 1;
    std::uint32_t pitch = 0;  ///< cells from row to row
    bool is_weak = false;     ///< used by the children alone

    bool has(std::uint32_t cell) const {
        for (std::uint32_t r = 0; r < rows; ++r) {
            if (cell - (first + r * pitch) < count) {
                return true;
            }
        }
        return false;
    }
};

inline access_kind kind_of(use how) {
    return how == use::in            ? access_kind::read
           : how == use::concurrent  ? access_kind::concurrent
           : how == use::commutative ? access_kind::commutative
                                     : access_kind::write;
}

inline bool overlap(const range& a, const range& b) {
    bool found = a.count == 0 && b.count == 0 && a.first == b.first;
    for (std::uint32_t cell = 0; cell < k_cells; ++cell) {
        found = found || (a.has(cell) && b.has(cell));
    }
    return found;
}

inline bool conflict(const range& a, const range& b) {
    return overlap(a, b) &&
           (kind_of(a.how) != kind_of(b.how) || kind_of(a.how) == access_kind::write);
}

/// How steps add to a sum: operators of one type, of which two do not commute.
using sum_operator = std::uint64_t (*)(std::uint64_t, std::uint64_t);
inline constexpr std::array<sum_operator, 2> k_sum_operators{
    [](std::uint64_t a, std::uint64_t b) { return a + b; },
    [](std::uint64_t a, std::uint64_t b) { return a ^ b; }};

/// One task.
struct step {
    std::uint64_t id = 0;
    std::vector<range> ranges;
    sum_use on_sum = sum_use::none;
    std::uint32_t sum = 0;
    std::uint32_t sum_by = 0;  ///< which operator adds
    row_use on_row = row_use::none;
    std::uint32_t row = 0;
    std::vector<step> children;
    bool waits = false;                    ///< for its children, and then works once more
    bool releases = false;                 ///< its first access before its end
    bool releases_in_parts = false;        ///< the same in two parts, or one part alone
    bool releases_after_children = false;  ///< its first access, when they have been made
    bool is_spawned_twice = false;         ///< at first with a function that cannot be copied
    quern::task_attributes how;
};

// -- making a program --------------------------------------------------------------------------

inline range random_range(dice& d) {
    // Few different places, so that exact matches are as frequent as overlaps.
    const std::uint32_t first = d.below(8) * 3;
    const std::uint32_t shapes[] = {3, 3, 3, 1, 2, 6, 9};
    std::uint32_t count = shapes[d.below(7)];
    const std::uint32_t shift = d.below(4) == 0 ? d.below(3) : 0;
    count = std::min(count, k_cells - first - shift);
    range made{static_cast<use>(d.below(static_cast<std::uint32_t>(use::k_all))), first + shift,
               d.below(12) == 0 ? 0 : count};
    if (made.count != 0 && made.count < 4 && d.below(3) == 0) {
        // Often of one pitch, so that blocks overlap in a part of their rows and columns.
        made.pitch = d.below(2) == 0 ? 5 : made.count + 1 + d.below(3);
        made.rows = 1 + d.below((k_cells - made.first - made.count) / made.pitch + 1);
    }
    return made;
}

/// Within a range of the parent, whose effects contain its own.
inline range range_within(const range& outer, dice& d) {
    range inner = outer;
    inner.is_weak = false;
    if (outer.count != 0 && outer.rows > 1) {
        inner.rows = 1 + d.below(outer.rows);
        inner.first += d.below(outer.rows - inner.rows + 1) * outer.pitch;
        const std::uint32_t left_out = d.below(outer.count);
        inner.first += left_out;
        inner.count = 1 + d.below(outer.count - left_out);
    } else if (outer.count != 0) {
        inner.first += d.below(outer.count);
        inner.count = 1 + d.below(outer.first + outer.count - inner.first);
    }
    if (outer.how == use::inout || outer.how == use::out) {
        inner.how = static_cast<use>(d.below(static_cast<std::uint32_t>(use::k_all)));
    }
    return inner;
}

inline step random_step(std::uint64_t id, const step* parent, int depth, dice& d) {
    step made;
    made.id = id;
    for (std::uint32_t n = d.below(4); n > 0; --n) {
        if (parent == nullptr) {
            made.ranges.push_back(random_range(d));
        } else if (!parent->ranges.empty()) {
            const auto which = d.below(static_cast<std::uint32_t>(parent->ranges.size()));
            made.ranges.push_back(range_within(parent->ranges[which], d));
        }
    }
    if (parent == nullptr && d.below(4) == 0) {
        made.on_sum =
            static_cast<sum_use>(1 + d.below(static_cast<std::uint32_t>(sum_use::k_all) - 1));
        made.sum = d.below(k_sums);
        made.sum_by = d.below(4) == 0 ? 1 : 0;
    }
    if (parent == nullptr && d.below(4) == 0) {
        made.on_row =
            static_cast<row_use>(1 + d.below(static_cast<std::uint32_t>(row_use::k_all) - 1));
        made.row = d.below(k_rows);
    }
    if (depth > 0 && d.below(3) == 0) {
        for (range& each : made.ranges) {
            each.is_weak = d.below(3) == 0;
        }
        for (std::uint32_t n = 1 + d.below(5); n > 0; --n) {
            made.children.push_back(random_step(id * 7 + n, &made, depth - 1, d));
        }
        made.waits = d.below(3) == 0;
        made.how.final = d.below(8) == 0;
        made.how.wait = d.below(8) == 0;
        made.releases_after_children = !made.waits && !made.ranges.empty() && d.below(3) == 0;
    } else {
        made.releases = !made.ranges.empty() && d.below(4) == 0;
    }
    made.releases_in_parts = d.below(2) == 0;
    made.is_spawned_twice = d.below(8) == 0;
    // A creator that waits for a task could wait for the blocker, which waits for later tasks.
    made.how.deferred = parent == nullptr || d.below(8) != 0;
    return made;
}

inline std::vector<step> random_steps(std::uint32_t count, int depth, dice& d) {
    std::vector<step> all;
    for (std::uint32_t i = 0; i < count; ++i) {
        all.push_back(random_step(i + 1, nullptr, depth, d));
    }
    return all;
}

// -- what a step computes ----------------------------------------------------------------------

/// Of its ranges from one on, in their order. Additions of concurrent steps commute. Returns what
/// it has seen.
inline std::uint64_t work_on_cells(const step& s, cells& all, std::uint64_t seen,
                                   std::size_t from = 0) {
    for (; from < s.ranges.size(); ++from) {
        const range& r = s.ranges[from];
        for (std::uint32_t i = 0; i < k_cells; ++i) {
            if (r.is_weak || !r.has(i)) {
                continue;
            }
            std::uint64_t& cell = all[i];
            switch (r.how) {
                case use::in:
                    seen = seen * 31 + cell;
                    break;
                case use::out:
                    cell = seen * 17 + i;
                    break;
                case use::inout:
                    cell = cell * 5 + seen;
                    seen += cell;
                    break;
                case use::concurrent:
                    std::atomic_ref(cell).fetch_add(seen | 1, std::memory_order_relaxed);
                    break;
                case use::commutative:
                    cell += seen | 1;
                    break;
                case use::k_all:
                    break;
            }
        }
    }
    return seen;
}

/// `sum`: the object or the step's part of it; `version`: of the renamed object. Null: none.
inline std::uint64_t work(const step& s, cells& all, std::uint64_t salt, std::uint64_t* sum,
                          std::uint64_t* version) {
    std::uint64_t seen = s.id + salt;
    for (std::uint32_t i = 0; version != nullptr && i < k_row_length; ++i) {
        if (s.on_row == row_use::out) {
            version[i] = seen * 17 + i;
        } else {
            seen = seen * 31 + version[i];
        }
        if (s.on_row == row_use::inout) {
            version[i] = seen;
        }
    }
    if (sum != nullptr && s.on_sum == sum_use::read) {
        seen = seen * 31 + *sum;
    } else if (sum != nullptr && s.on_sum == sum_use::change) {
        *sum = *sum * 3 + seen;
    }
    seen = work_on_cells(s, all, seen);
    if (sum != nullptr && s.on_sum == sum_use::add) {
        *sum = k_sum_operators[s.sum_by](*sum, seen | 1);
    }
    return seen;
}

/// What it does after it has released its first access.
inline std::uint64_t work_on_the_rest(const step& s, cells& all) {
    return work_on_cells(s, all, s.id + 2, 1);
}

/// Calls saw(step, value) for each piece of work.
template <class Saw>
void run_serially(const step& s, data& all, Saw saw) {
    std::uint64_t* const sum = s.on_sum != sum_use::none ? &all.sums[s.sum] : nullptr;
    std::uint64_t* const version = s.on_row != row_use::none ? all.rows[s.row].data() : nullptr;
    saw(s, work(s, all.plain, 0, sum, version));
    if (s.releases) {
        saw(s, work_on_the_rest(s, all.plain));
    }
    for (const step& each : s.children) {
        run_serially(each, all, saw);
    }
    if (s.waits) {
        saw(s, work(s, all.plain, 1, sum, version));
    }
}

inline data expected_of(const std::vector<step>& steps) {
    data all;
    all.reset();
    for (const step& each : steps) {
        run_serially(each, all, [](const step&, std::uint64_t) {});
    }
    return all;
}

// -- what is ordered ---------------------------------------------------------------------------

/// By cells or by a sum, in the order of creation.
inline bool are_ordered(const step& a, const step& b) {
    const bool same_sum = a.on_sum != sum_use::none && b.on_sum != sum_use::none && a.sum == b.sum;
    const bool same_operator = a.on_sum != sum_use::add || a.sum_by == b.sum_by;
    if (same_sum && (a.on_sum != b.on_sum || a.on_sum == sum_use::change || !same_operator)) {
        return true;
    }
    return std::any_of(a.ranges.begin(), a.ranges.end(), [&](const range& x) {
        return std::any_of(b.ranges.begin(), b.ranges.end(),
                           [&](const range& y) { return conflict(x, y); });
    });
}

/// Commutative steps, whatever their order, run one at a time.
inline bool exclude(const step& a, const step& b) {
    return std::any_of(a.ranges.begin(), a.ranges.end(), [&](const range& x) {
        return std::any_of(b.ranges.begin(), b.ranges.end(), [&](const range& y) {
            return x.how == use::commutative && y.how == use::commutative && overlap(x, y);
        });
    });
}

/// A set of the steps of a program.
using step_set = std::uint32_t;
constexpr step_set set_of(std::uint32_t i) { return step_set{1} << i; }
constexpr std::uint32_t k_most_steps = 31;

/// Which steps must begin after each one: conflicts, and values of renamed objects that come from
/// it; directly or through others.
inline std::vector<step_set> order_of(const std::vector<step>& steps) {
    std::vector<step_set> before(steps.size(), 0);
    std::array<step_set, k_rows> writer{};
    for (std::uint32_t later = 0; later < steps.size(); ++later) {
        const step& s = steps[later];
        if (s.on_row == row_use::in || s.on_row == row_use::inout) {
            before[later] |= writer[s.row];
        }
        for (std::uint32_t i = 0; i < later; ++i) {
            if ((before[later] & set_of(i)) != 0 || are_ordered(steps[i], s)) {
                before[later] |= set_of(i) | before[i];
            }
        }
        if (s.on_row == row_use::out || s.on_row == row_use::inout) {
            writer[s.row] = set_of(later);
        }
    }
    std::vector<step_set> after(steps.size(), 0);
    for (std::uint32_t later = 0; later < steps.size(); ++later) {
        for (std::uint32_t i = 0; i < later; ++i) {
            after[i] |= (before[later] & set_of(i)) != 0 ? set_of(later) : 0;
        }
    }
    return after;
}

/// Those that may be kept waiting while the blocker runs: itself, those after it, those that it
/// excludes, and after these.
inline step_set kept_by(const std::vector<step>& steps, const std::vector<step_set>& after,
                        std::uint32_t blocker) {
    step_set kept = set_of(blocker) | after[blocker];
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
        if (exclude(steps[i], steps[blocker])) {
            kept |= set_of(i) | after[i];
        }
    }
    return kept;
}

}  // namespace quern_test::dependents
