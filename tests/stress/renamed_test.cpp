// SPDX-License-Identifier: BSL-1.0
// Random programs over a few renamed objects against a serial oracle: each task must see what it
// would see if spawn() called it at once. In some programs one task waits until all tasks have
// ended that use no value that comes from it: no other order is there.
#include <quern/dependences/domain.hpp>
#include <quern/dependences/renamed.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/scheduler/knobs.hpp>

#include "stress/seed.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace {

using quern_test::dice;

constexpr std::size_t k_objects = 3;
constexpr std::size_t k_cells = 4;
using cell_row = std::vector<std::uint64_t>;
using object_rows = std::array<cell_row, k_objects>;
using renamed_rows = std::deque<quern::renamed<cell_row>>;

enum class use : std::uint8_t { none, in, out, inout, commutative };

struct renaming_task {
    std::uint64_t id = 0;
    std::array<use, k_objects> uses{};  ///< of at most two objects
    std::uint32_t yields = 0;
    bool has_children = false;  ///< that do its work, one for each object
    std::uint32_t wait = 0;     ///< of the creator afterwards: none, for an object, for all
};

struct renaming_program {
    std::vector<renaming_task> tasks;
    std::uint32_t budget;  ///< bytes
    int blocker = -1;      ///< the task that waits for those that do not come from it
};

renaming_program random_renaming(dice& d) {
    renaming_program made;
    const bool blocks = d.below(3) == 0;
    const std::uint32_t version = sizeof(cell_row) + k_cells * sizeof(std::uint64_t);
    made.budget = blocks || d.below(2) == 0 ? 1U << 20
                  : d.below(4) == 0         ? 0
                                            : version * (1 + d.below(6));
    const std::uint32_t count = 1 + d.below(40);
    for (std::uint32_t i = 0; i < count; ++i) {
        renaming_task task;
        task.id = i + 1;
        for (std::uint32_t n = 1 + d.below(2); n > 0; --n) {
            const std::uint32_t kinds = blocks ? 3 : 4;
            task.uses[d.below(k_objects)] = static_cast<use>(1 + d.below(kinds));
        }
        task.yields = d.below(4);
        task.has_children = d.below(4) == 0;
        task.wait = blocks || d.below(8) != 0 ? 0 : 1 + d.below(k_objects + 1);
        made.tasks.push_back(task);
    }
    if (blocks) {
        made.blocker = static_cast<int>(d.below(count));
    }
    return made;
}

// -- what a task computes ----------------------------------------------------------------------

/// Of one object. Commutative tasks add, so their order does not count and they see nothing.
std::uint64_t work_on(const renaming_task& task, use how, cell_row::value_type* cells) {
    std::uint64_t seen = task.id;
    for (std::size_t i = 0; i < k_cells; ++i) {
        switch (how) {
            case use::none:
                break;
            case use::in:
                seen = seen * 31 + cells[i];
                break;
            case use::out:
                cells[i] = task.id * 1000 + i;
                break;
            case use::inout:
                seen = seen * 31 + cells[i];
                cells[i] = cells[i] * 7 + task.id;
                break;
            case use::commutative:
                cells[i] += task.id << 20;
                break;
        }
    }
    return seen;
}

struct outcome_of_program {
    object_rows objects;
    std::vector<std::uint64_t> seen;

    bool operator==(const outcome_of_program&) const = default;
};

object_rows first_rows() {
    object_rows all;
    for (std::size_t o = 0; o < k_objects; ++o) {
        all[o].assign(k_cells, 10 + o);
    }
    return all;
}

outcome_of_program run_serially(const renaming_program& p) {
    outcome_of_program found{first_rows(), std::vector<std::uint64_t>(p.tasks.size())};
    for (std::size_t t = 0; t < p.tasks.size(); ++t) {
        for (std::size_t o = 0; o < k_objects; ++o) {
            found.seen[t] += work_on(p.tasks[t], p.tasks[t].uses[o], found.objects[o].data());
        }
    }
    return found;
}

/// How many tasks use no value, directly or through others, that comes from the blocker.
int free_of_blocker(const renaming_program& p) {
    std::vector<bool> comes_from(p.tasks.size());
    std::array<bool, k_objects> is_tainted{};
    int others = 0;
    for (std::size_t t = 0; t < p.tasks.size(); ++t) {
        const auto& uses = p.tasks[t].uses;
        bool taints = static_cast<int>(t) == p.blocker;
        for (std::size_t o = 0; o < k_objects; ++o) {
            taints = taints || (is_tainted[o] && (uses[o] == use::in || uses[o] == use::inout));
        }
        for (std::size_t o = 0; o < k_objects; ++o) {
            if (uses[o] == use::out || uses[o] == use::inout) {
                is_tainted[o] = taints;
            }
        }
        others += taints ? 0 : 1;
    }
    return others;
}

// -- running it --------------------------------------------------------------------------------

class renaming_run {
public:
    explicit renaming_run(const renaming_program& p)
        : m_program(p),
          m_found{first_rows(), std::vector<std::uint64_t>(p.tasks.size())},
          m_seen_by_children(p.tasks.size()) {}

    outcome_of_program run() {
        {
            quern::domain work;
            renamed_rows rows;
            for (cell_row& each : m_found.objects) {
                rows.emplace_back(each);
            }
            for (std::size_t t = 0; t < m_program.tasks.size(); ++t) {
                create(work, rows, t);
                wait(work, rows, m_program.tasks[t].wait);
            }
        }  // rows end before the domain
        return m_found;
    }

    bool has_blocked_in_vain() const { return m_in_vain; }

private:
    /// The accesses to one or two objects, whose kinds are known at run time alone.
    void create(quern::domain& work, renamed_rows& rows, std::size_t t) {
        std::array<std::size_t, 2> used{};
        std::size_t count = 0;
        for (std::size_t o = 0; o < k_objects; ++o) {
            if (m_program.tasks[t].uses[o] != use::none) {
                used[count++] = o;
            }
        }
        if (count == 1) {
            with_access(rows, t, used[0], [&](auto access) {
                work.spawn(access, [this, t, used](auto view) { call(t, used, view.data()); });
            });
            return;
        }
        with_access(rows, t, used[0], [&](auto first) {
            with_access(rows, t, used[1], [&](auto second) {
                work.spawn(first, second,
                           [this, t, used](auto a, auto b) { call(t, used, a.data(), b.data()); });
            });
        });
    }

    template <class F>
    void with_access(renamed_rows& rows, std::size_t t, std::size_t o, F f) {
        switch (m_program.tasks[t].uses[o]) {
            case use::in:
                return f(quern::in(rows[o]));
            case use::out:
                return f(quern::out(rows[o]));
            case use::inout:
                return f(quern::inout(rows[o]));
            default:
                return f(quern::commutative(rows[o]));
        }
    }

    template <class... Cells>
    void call(std::size_t t, const std::array<std::size_t, 2>& used, Cells*... cells) {
        const renaming_task& task = m_program.tasks[t];
        for (std::uint32_t i = 0; i < task.yields; ++i) {
            quern::this_task::yield();
        }
        if (static_cast<int>(t) == m_program.blocker) {
            const int others = free_of_blocker(m_program);
            m_in_vain = !quern_test::eventually([&] {
                quern::this_task::yield();
                return m_ended >= others;
            });
        }
        const std::array<std::uint64_t*, sizeof...(Cells)> all{
            const_cast<std::uint64_t*>(cells)...};
        for (std::size_t i = 0; i < all.size(); ++i) {
            const use how = task.uses[used[i]];
            if (task.has_children && (how == use::out || how == use::inout)) {
                quern::spawn(quern::inout(all[i], k_cells), [this, t, how](auto view) {
                    m_seen_by_children[t] += work_on(m_program.tasks[t], how, view.data());
                });
            } else {
                m_found.seen[t] += work_on(task, how, all[i]);
            }
        }
        // Objects without an access, as in the serial run.
        m_found.seen[t] += (k_objects - all.size()) * task.id;
        if (task.has_children) {
            quern::taskwait();
            m_found.seen[t] += m_seen_by_children[t];
        }
        ++m_ended;
    }

    void wait(quern::domain& work, renamed_rows& rows, std::uint32_t what) {
        if (what == k_objects + 1) {
            work.taskwait();
        } else if (what > 0) {
            work.taskwait(quern::on(quern::in(rows[what - 1])));
            static_cast<void>(rows[what - 1].value());
        }
    }

    const renaming_program& m_program;
    outcome_of_program m_found;
    std::vector<std::atomic<std::uint64_t>> m_seen_by_children;
    std::atomic<int> m_ended{0};
    bool m_in_vain = false;
};

class stress_renamed : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(stress_renamed);

TEST_P(stress_renamed, random_programs_see_the_values_of_the_serial_order) {
    const auto end = quern_test::stress_end();
    std::uint64_t seed = quern_test::stress_seed();
    int programs = 0;
    while (std::chrono::steady_clock::now() < end || programs < 10) {
        dice d(seed);
        const renaming_program p = random_renaming(d);
        rt.default_pool().set_knob("renaming-bytes", p.budget);
        renaming_run run(p);
        const outcome_of_program found = inside([&run] { return run.run(); });
        ASSERT_FALSE(run.has_blocked_in_vain()) << "seed " << seed;
        ASSERT_EQ(found, run_serially(p)) << "seed " << seed;
        ++seed;
        ++programs;
    }
    rt.default_pool().set_knob("renaming-bytes", 256U << 20);
    EXPECT_EQ(quern::detail::read_renaming().bytes, 0U);
    std::printf("[ stress   ] %d programs\n", programs);
}

}  // namespace
