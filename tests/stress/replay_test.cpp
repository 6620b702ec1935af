// SPDX-License-Identifier: BSL-1.0
// Random loops whose steps spawn dependent tasks, replayed, against the serial loop. Structures
// that change at random steps, children, waits within a step. Where no step differs, one task waits
// until all tasks of its step and the next one have ended that need not come after it.
#include <quern/dependences/access_list.hpp>
#include <quern/dependences/replay.hpp>
#include <quern/dependences/spawn.hpp>

#include "stress/seed.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

using quern::detail::access_kind;
using quern_test::dice;

constexpr std::uint32_t k_replay_cells = 20;
using replay_cells = std::array<std::uint64_t, k_replay_cells>;

/// Of equal distances: `count` cells, `rows` times.
struct replay_range {
    access_kind kind;
    std::uint32_t first;
    std::uint32_t count;
    std::uint32_t rows;
    std::uint32_t pitch;

    bool has(std::uint32_t cell) const {
        for (std::uint32_t r = 0; r < rows; ++r) {
            if (cell - (first + r * pitch) < count) {
                return true;
            }
        }
        return false;
    }
};

struct replay_step_task {
    std::uint64_t id;
    std::vector<replay_range> ranges;
    std::uint32_t children = 0;
    std::uint32_t type = 0;     ///< of its function
    bool is_list = false;       ///< its accesses are one list
    bool waits_before = false;  ///< the creator, for all
    bool waits_on = false;      ///< the creator, for a cell
    bool cannot_be_replayed = false;
};

using replay_structure = std::vector<replay_step_task>;

replay_range random_replay_range(dice& d) {
    const access_kind kinds[] = {access_kind::read, access_kind::read, access_kind::write,
                                 access_kind::write, access_kind::concurrent};
    replay_range made{kinds[d.below(5)], d.below(k_replay_cells), 0, 1, 0};
    made.count = 1 + d.below(std::min(k_replay_cells - made.first, 1 + d.below(6)));
    if (d.below(5) == 0) {
        made.pitch = made.count + d.below(3);
        made.rows = 1 + d.below((k_replay_cells - made.first - made.count) / made.pitch + 1);
    }
    return made;
}

replay_step_task random_replay_task(dice& d, bool is_plain) {
    replay_step_task made{.id = d.below(1000), .ranges = {}};
    for (std::uint32_t n = d.below(4); n > 0; --n) {
        made.ranges.push_back(random_replay_range(d));
    }
    made.type = d.below(3);
    made.is_list = d.below(4) == 0;
    if (!is_plain) {
        made.children = d.below(6) == 0 ? 1 + d.below(4) : 0;
        made.waits_before = d.below(60) == 0;
        made.waits_on = d.below(60) == 0;
        made.cannot_be_replayed = d.below(200) == 0;
    }
    return made;
}

/// The same with a difference: a task more, one less, another one.
replay_structure random_change(replay_structure of, dice& d) {
    const auto at = of.begin() + d.below(static_cast<std::uint32_t>(of.size()));
    switch (d.below(3)) {
        case 0:
            of.insert(at, random_replay_task(d, false));
            break;
        case 1:
            of.erase(at);
            break;
        default:
            *at = random_replay_task(d, false);
            break;
    }
    return of;
}

// -- what a task computes ----------------------------------------------------------------------

void replay_work(const replay_step_task& t, std::uint64_t step, replay_cells& data) {
    std::uint64_t seen = t.id + step;
    for (const replay_range& r : t.ranges) {
        for (std::uint32_t i = 0; i < k_replay_cells; ++i) {
            if (!r.has(i)) {
                continue;
            }
            if (r.kind == access_kind::read) {
                seen = seen * 31 + data[i];
            } else if (r.kind == access_kind::write) {
                data[i] = data[i] * 5 + seen + t.type;
            } else {
                std::atomic_ref(data[i]).fetch_add(t.id | 1, std::memory_order_relaxed);
            }
        }
    }
}

/// Of the child with that number: a cell that its parent writes.
void replay_child_work(std::uint64_t& cell, std::uint32_t number) { cell = cell * 3 + number; }

template <class Spawn>
void for_each_child(const replay_step_task& t, Spawn spawn) {
    for (const replay_range& r : t.ranges) {
        for (std::uint32_t n = 0; r.kind == access_kind::write && n < t.children; ++n) {
            spawn(r.first + n % r.count, n);
        }
    }
}

// -- as tasks ----------------------------------------------------------------------------------

struct replay_access : quern::detail::access_base {
    using view_type = void;
    using kept = quern::detail::strides;

    replay_access(const replay_range& of, replay_cells& data) : range(of) {
        begin = reinterpret_cast<std::uintptr_t>(&data[of.first]);
        bytes = of.count * sizeof(std::uint64_t);
        kind = of.kind;
    }
    quern::detail::strided_region resolve(kept& keeps, quern::detail::domain_core&) const {
        return named(keeps);
    }
    quern::detail::strided_region named(kept& keeps) const {
        keeps.outer[0] = {range.rows, range.pitch * sizeof(std::uint64_t)};
        return {*this, range.rows > 1 ? &keeps : nullptr};
    }
    static std::tuple<> view(kept&, const quern::detail::region&) { return {}; }

    replay_range range;
};

template <class Body>
void spawn_replay_task(quern::domain& work, const replay_step_task& t, replay_cells& data,
                       Body body) {
    const auto at = [&](std::size_t i) { return replay_access(t.ranges[i], data); };
    if (t.is_list) {
        quern::access_list all;
        for (std::size_t i = 0; i < t.ranges.size(); ++i) {
            all.add(at(i));
        }
        work.spawn(all, body);
        return;
    }
    switch (t.ranges.size()) {
        case 0:
            work.spawn(body);
            break;
        case 1:
            work.spawn(at(0), body);
            break;
        case 2:
            work.spawn(at(0), at(1), body);
            break;
        default:
            work.spawn(at(0), at(1), at(2), body);
            break;
    }
}

template <std::uint32_t Type>
struct replay_body {
    const replay_step_task* task;
    std::uint64_t step;
    replay_cells* data;

    void operator()() const {
        replay_work(*task, step, *data);
        for_each_child(*task, [this](std::uint32_t cell, std::uint32_t number) {
            quern::spawn(quern::inout((*data)[cell]),
                         [number](std::uint64_t& c) { replay_child_work(c, number); });
        });
    }
};

void add_replay_task(quern::domain& work, const replay_step_task& t, std::uint64_t step,
                     replay_cells& data) {
    if (t.waits_before) {
        work.taskwait();
    }
    if (t.waits_on) {
        work.taskwait(quern::on(data[t.id % k_replay_cells]));
    }
    if (t.cannot_be_replayed) {
        work.spawn(quern::commutative(data[0]), [](std::uint64_t& c) { ++c; });
    }
    if (t.type == 0) {
        spawn_replay_task(work, t, data, replay_body<0>{&t, step, &data});
    } else if (t.type == 1) {
        spawn_replay_task(work, t, data, replay_body<1>{&t, step, &data});
    } else {
        spawn_replay_task(work, t, data, replay_body<2>{&t, step, &data});
    }
}

void add_serially(const replay_step_task& t, std::uint64_t step, replay_cells& data) {
    data[0] += t.cannot_be_replayed ? 1 : 0;
    replay_work(t, step, data);
    for_each_child(t, [&data](std::uint32_t cell, std::uint32_t number) {
        replay_child_work(data[cell], number);
    });
}

/// The structure of each step, one of few.
struct replay_program {
    explicit replay_program(std::uint64_t seed) {
        dice d(seed);
        structures.emplace_back();
        for (std::uint32_t n = 1 + d.below(d.below(2) == 0 ? 3 : 30); n > 0; --n) {
            structures[0].push_back(random_replay_task(d, false));
        }
        for (std::uint32_t n = d.below(3); n > 0; --n) {
            structures.push_back(random_change(structures[0], d));
        }
        const std::uint32_t steps = 3 + d.below(d.below(4) == 0 ? 200 : 40);
        const std::uint32_t often = 2 + d.below(20);
        std::uint32_t now = 0;
        for (std::uint32_t s = 0; s < steps; ++s) {
            if (d.below(often) == 0) {
                now = d.below(static_cast<std::uint32_t>(structures.size()));
            }
            of_step.push_back(now);
        }
    }
    template <class Add>
    void for_each_task(std::uint64_t step, Add add) const {
        for (const replay_step_task& each : structures[of_step[step]]) {
            add(each, step);
        }
    }

    std::vector<replay_structure> structures;
    std::vector<std::uint32_t> of_step;
};

void run_replay(quern::domain& work, const replay_program& p, replay_cells& data) {
    quern::replay(work, static_cast<std::int64_t>(p.of_step.size()), [&](std::int64_t step) {
        p.for_each_task(
            static_cast<std::uint64_t>(step),
            [&](const replay_step_task& t, std::uint64_t s) { add_replay_task(work, t, s, data); });
    });
}

// -- no order is invented ----------------------------------------------------------------------

bool conflict(const replay_step_task& a, const replay_step_task& b) {
    for (const replay_range& x : a.ranges) {
        for (const replay_range& y : b.ranges) {
            for (std::uint32_t cell = 0; cell < k_replay_cells; ++cell) {
                if (x.has(cell) && y.has(cell) &&
                    (x.kind != y.kind || x.kind == access_kind::write)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/// False: a task of the blocker's step or of the next one was ordered after it without a reason.
bool blocks_no_other(quern::domain& work, std::uint64_t seed) {
    dice d(seed);
    replay_structure tasks;
    for (std::uint32_t n = 1 + d.below(15); n > 0; --n) {
        tasks.push_back(random_replay_task(d, true));
    }
    const std::size_t n = tasks.size();
    const auto of_blocker = static_cast<std::int64_t>(1 + d.below(80));
    const std::size_t blocker = d.below(static_cast<std::uint32_t>(n));
    std::vector<bool> is_after(2 * n, false);  // in both steps
    is_after[blocker] = true;
    for (std::size_t later = blocker + 1; later < 2 * n; ++later) {
        for (std::size_t i = blocker; i < later; ++i) {
            is_after[later] =
                is_after[later] || (is_after[i] && conflict(tasks[i % n], tasks[later % n]));
        }
    }
    const auto free = std::count(is_after.begin(), is_after.end(), false);
    std::atomic<std::ptrdiff_t> ended{0};
    std::atomic<bool> is_right{true};
    replay_cells data{};
    quern::replay(work, of_blocker + 3, [&](std::int64_t step) {
        for (std::size_t i = 0; i < n; ++i) {
            spawn_replay_task(work, tasks[i], data, [&, step, i] {
                if (step == of_blocker && i == blocker) {
                    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
                    while (ended.load(std::memory_order_relaxed) < free) {
                        if (std::chrono::steady_clock::now() > limit) {
                            is_right = false;
                            break;
                        }
                        quern::this_task::yield();
                    }
                } else if ((step == of_blocker && !is_after[i]) ||
                           (step == of_blocker + 1 && !is_after[n + i])) {
                    ended.fetch_add(1, std::memory_order_relaxed);
                }
            });
        }
    });
    return is_right;
}

// -- the tests ---------------------------------------------------------------------------------

class replay_stress : public quern_test::on_runtime {
protected:
    template <class F>
    void for_each_seed(F check) {
        int programs = 0;
        const auto end = quern_test::stress_end();
        for (std::uint64_t seed = quern_test::stress_seed();
             (std::chrono::steady_clock::now() < end || programs < 20) && !HasFailure();
             ++seed, ++programs) {
            if (seed % 4 == 0) {
                quern::domain work(rt.default_pool());
                check(work, seed);
            } else {
                quern::async(rt, [&] {
                    quern::domain work;
                    check(work, seed);
                }).get();
            }
        }
        std::printf("[ stress   ] %d programs\n", programs);
    }
};
QUERN_ON_1_2_8_WORKERS(replay_stress);

TEST_P(replay_stress, is_as_the_serial_loop) {
    for_each_seed([](quern::domain& work, std::uint64_t seed) {
        const replay_program p(seed);
        const auto data = std::make_unique<replay_cells>();
        replay_cells expected{};
        for (int round = 0; round < 2; ++round) {
            run_replay(work, p, *data);
            for (std::uint64_t step = 0; step < p.of_step.size(); ++step) {
                p.for_each_task(step, [&](const replay_step_task& t, std::uint64_t s) {
                    add_serially(t, s, expected);
                });
            }
            ASSERT_EQ(*data, expected) << "seed " << seed;
        }
    });
}

TEST_P(replay_stress, invents_no_order) {
    for_each_seed([](quern::domain& work, std::uint64_t seed) {
        ASSERT_TRUE(blocks_no_other(work, seed)) << "a task waited for the blocker, seed " << seed;
    });
}

}  // namespace
