// SPDX-License-Identifier: BSL-1.0
// Random programs of dependent tasks against a serial oracle. Regions of all kinds and overlaps.
// The values must be those of the serial program (no order is lost). In each program one task waits
// until all tasks have ended that the oracle does not order after it (no order is invented).
#include <quern/dependences/detail/access_checks.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>

#include "stress/seed.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using quern::detail::access_kind;
using quern_test::dice;

constexpr std::uint32_t k_cells = 24;
constexpr std::uint32_t k_uses = 5;
using cells = std::array<std::uint64_t, k_cells>;

enum class use : std::uint8_t { in, out, inout, concurrent, commutative };

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

access_kind kind_of(use how) {
    return how == use::in            ? access_kind::read
           : how == use::concurrent  ? access_kind::concurrent
           : how == use::commutative ? access_kind::commutative
                                     : access_kind::write;
}

bool overlap(const range& a, const range& b) {
    bool found = a.count == 0 && b.count == 0 && a.first == b.first;
    for (std::uint32_t cell = 0; cell < k_cells; ++cell) {
        found = found || (a.has(cell) && b.has(cell));
    }
    return found;
}

bool conflict(const range& a, const range& b) {
    return overlap(a, b) &&
           (kind_of(a.how) != kind_of(b.how) || kind_of(a.how) == access_kind::write);
}

struct step {
    std::uint64_t id = 0;
    std::vector<range> ranges;
    std::vector<step> children;
    bool waits = false;     ///< for its children, and then works once more
    bool releases = false;  ///< its first access before its end
    quern::task_attributes how;
};

// -- making a program --------------------------------------------------------------------------

range random_range(dice& d) {
    // Few different places, so that exact matches are as frequent as overlaps.
    const std::uint32_t first = d.below(8) * 3;
    const std::uint32_t shapes[] = {3, 3, 3, 1, 2, 6, 9};
    std::uint32_t count = shapes[d.below(7)];
    const std::uint32_t shift = d.below(4) == 0 ? d.below(3) : 0;
    count = std::min(count, k_cells - first - shift);
    range made{static_cast<use>(d.below(k_uses)), first + shift, d.below(12) == 0 ? 0 : count};
    if (made.count != 0 && made.count < 4 && d.below(4) == 0) {
        made.pitch = made.count + 1 + d.below(3);
        made.rows = 1 + d.below((k_cells - made.first - made.count) / made.pitch + 1);
    }
    return made;
}

/// Within a range of the parent, whose effects contain its own.
range range_within(const range& outer, dice& d) {
    range inner = outer;
    inner.is_weak = false;
    if (outer.count != 0 && outer.rows > 1) {
        inner.rows = 1 + d.below(outer.rows);
        inner.first += d.below(outer.rows - inner.rows + 1) * outer.pitch;
    } else if (outer.count != 0) {
        inner.first += d.below(outer.count);
        inner.count = 1 + d.below(outer.first + outer.count - inner.first);
    }
    if (outer.how == use::inout || outer.how == use::out) {
        inner.how = static_cast<use>(d.below(k_uses));
    }
    return inner;
}

step random_step(std::uint64_t id, const step* parent, int depth, dice& d) {
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
    } else {
        made.releases = !made.ranges.empty() && d.below(4) == 0;
    }
    // A creator that waits for a task could wait for the blocker, which waits for later tasks.
    made.how.deferred = parent == nullptr || d.below(8) != 0;
    return made;
}

// -- what a step computes ----------------------------------------------------------------------

/// Of its own ranges, in their order. Additions of concurrent steps commute.
void work(const step& s, cells& data, std::uint64_t salt) {
    std::uint64_t seen = s.id + salt;
    for (const range& r : s.ranges) {
        for (std::uint32_t i = 0; i < k_cells; ++i) {
            if (r.is_weak || !r.has(i)) {
                continue;
            }
            std::uint64_t& cell = data[i];
            switch (r.how) {
                case use::in:
                    seen = seen * 31 + cell;
                    break;
                case use::out:
                    cell = seen * 17 + i;
                    break;
                case use::inout:
                    cell = cell * 5 + seen;
                    break;
                case use::concurrent:
                    std::atomic_ref(cell).fetch_add(seen | 1, std::memory_order_relaxed);
                    break;
                case use::commutative:
                    cell += seen | 1;
                    break;
            }
        }
    }
}

void run_serially(const step& s, cells& data) {
    work(s, data, 0);
    for (const step& each : s.children) {
        run_serially(each, data);
    }
    if (s.waits) {
        work(s, data, 1);
    }
}

// -- the same as tasks -------------------------------------------------------------------------

/// Any access of the random programs.
struct access : quern::detail::access_base {
    using view_type = void;
    using kept = quern::detail::strides;

    quern::detail::strided_region resolve(kept& keeps, quern::detail::domain_core&) const {
        keeps.outer[0] = {rows, pitch * sizeof(std::uint64_t)};
        return {*this, rows > 1 ? &keeps : nullptr};
    }
    static std::tuple<> view(kept&, const quern::detail::region&) { return {}; }

    std::uint32_t rows = 1;
    std::uint32_t pitch = 0;
};

access access_of(const range& r, cells& data) {
    access made;
    made.begin = reinterpret_cast<std::uintptr_t>(&data[r.first]);
    made.bytes = r.count * sizeof(std::uint64_t);
    made.kind = kind_of(r.how);
    made.is_weak = r.is_weak;
    made.rows = r.rows;
    made.pitch = r.pitch;
    return made;
}

/// Calls spawn(accesses..., body).
template <class Spawn, class Body>
void spawn_with(const step& s, cells& data, Spawn spawn, Body body) {
    const auto at = [&](std::size_t i) { return access_of(s.ranges[i], data); };
    switch (s.ranges.size()) {
        case 0:
            spawn(s.how, body);
            break;
        case 1:
            spawn(s.how, at(0), body);
            break;
        case 2:
            spawn(s.how, at(0), at(1), body);
            break;
        default:
            spawn(s.how, at(0), at(1), at(2), body);
            break;
    }
}

/// `in_place`: within a final task, so it is no task of its own.
void run_as_task(const step& s, cells& data, bool in_place = false) {
    work(s, data, 0);
    if (s.releases && !in_place) {
        quern::this_task::release(access_of(s.ranges[0], data));
        quern::this_task::yield();
    }
    for (const step& each : s.children) {
        spawn_with(
            each, data, [](auto... parts) { quern::spawn(parts...); },
            [&each, &data, inner = in_place || s.how.final] { run_as_task(each, data, inner); });
    }
    if (s.waits) {
        quern::taskwait();
        work(s, data, 1);
    }
}

struct program {
    program(std::uint64_t seed, int depth) {
        dice d(seed);
        const std::uint32_t n = 2 + d.below(30);
        for (std::uint32_t i = 0; i < n; ++i) {
            steps.push_back(random_step(i + 1, nullptr, depth, d));
        }
        for (std::uint32_t i = 0; i < k_cells; ++i) {
            start[i] = i;
        }
        expected = start;
        for (const step& each : steps) {
            run_serially(each, expected);
        }
        blocker = d.below(n);
        is_after.assign(n, false);
        for (std::uint32_t i = 0; i < n; ++i) {
            is_after[i] = i == blocker || exclude(i, blocker);
        }
        for (std::uint32_t later = 1; later < n; ++later) {
            for (std::uint32_t i = 0; i < later; ++i) {
                is_after[later] = is_after[later] || (is_after[i] && are_ordered(i, later));
            }
        }
    }

    /// Commutative tasks, whatever their order, run one at a time.
    bool exclude(std::uint32_t a, std::uint32_t b) const {
        return std::any_of(steps[a].ranges.begin(), steps[a].ranges.end(), [&](const range& x) {
            return std::any_of(steps[b].ranges.begin(), steps[b].ranges.end(), [&](const range& y) {
                return x.how == use::commutative && y.how == use::commutative && overlap(x, y);
            });
        });
    }

    bool are_ordered(std::uint32_t a, std::uint32_t b) const {
        return std::any_of(steps[a].ranges.begin(), steps[a].ranges.end(), [&](const range& x) {
            return std::any_of(steps[b].ranges.begin(), steps[b].ranges.end(),
                               [&](const range& y) { return conflict(x, y); });
        });
    }

    std::vector<step> steps;
    cells start{};
    cells expected{};
    std::uint32_t blocker = 0;
    /// Than the blocker, by conflicts; the blocker itself; those that it excludes, and after these.
    std::vector<bool> is_after;
};

/// False: a task was ordered after the blocker without a reason.
bool runs_in(quern::domain& domain, const program& p, cells& data) {
    const auto free = quern::detail::checks_accesses()
                          ? 0  // tasks run one at a time
                          : std::count(p.is_after.begin(), p.is_after.end(), false);
    std::atomic<std::ptrdiff_t> ended{0};
    std::atomic<bool> is_right{true};
    data = p.start;
    for (std::uint32_t i = 0; i < p.steps.size(); ++i) {
        const step& s = p.steps[i];
        spawn_with(
            s, data, [&domain](auto... parts) { domain.spawn(parts...); },
            [&, i] {
                if (i == p.blocker) {
                    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
                    while (ended.load(std::memory_order_relaxed) < free) {
                        if (std::chrono::steady_clock::now() > limit) {
                            is_right = false;
                            break;
                        }
                        quern::this_task::yield();
                    }
                }
                run_as_task(s, data);
                if (!p.is_after[i]) {
                    ended.fetch_add(1, std::memory_order_relaxed);
                }
            });
    }
    domain.taskwait();
    return is_right;
}

void run_programs(quern::runtime& rt, int depth, std::uint64_t seeds) {
    int programs = 0;
    const auto end = quern_test::stress_end();
    for (std::uint64_t seed = quern_test::stress_seed();
         std::chrono::steady_clock::now() < end || programs < 20; ++seed, ++programs) {
        const program p(seed * 2 + seeds, depth);
        const auto data = std::make_unique<cells>();
        bool is_right = false;
        if (seed % 4 == 0) {
            quern::domain domain(rt.default_pool());
            is_right = runs_in(domain, p, *data);
        } else {
            quern::async(rt, [&] {
                quern::domain domain;
                is_right = runs_in(domain, p, *data) && runs_in(domain, p, *data);
            }).get();
        }
        ASSERT_TRUE(is_right) << "a task waited for the blocker, seed " << seed;
        ASSERT_EQ(*data, p.expected) << "seed " << seed;
    }
    std::printf("[ stress   ] %d programs\n", programs);
}

class dependences_stress : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(dependences_stress);

// The blocker may wait for tasks that are not after it: none of them may be after it in the
// runtime.
TEST_P(dependences_stress, keeps_each_order_and_invents_none) { run_programs(rt, 0, 0); }

TEST_P(dependences_stress, keeps_each_order_with_children) { run_programs(rt, 2, 1); }

// Of its mistakes, only weak accesses without a child that uses them may be there.
TEST_P(dependences_stress, is_right_and_silent_while_accesses_are_checked) {
    testing::internal::CaptureStderr();
    quern::detail::check_accesses(true);
    run_programs(rt, 2, 1);
    quern::detail::check_accesses(false);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("missing"), std::string::npos) << said;
}

}  // namespace
