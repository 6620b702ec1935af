// SPDX-License-Identifier: BSL-1.0
// Random programs of tasks with dependences, taskgroups, waits, events and inner regions, against a
// serial run of the same program. A failure names the seed of its program:
// QUERN_TEST_SEED=<seed> runs that one.
#include "unit/omp/entry_points.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

using namespace quern_test::openmp;

class task_dice {
public:
    explicit task_dice(std::uint64_t seed) : m_state(seed * 0x9E3779B97F4A7C15U + 1) {}
    std::uint32_t below(std::uint32_t limit) {
        m_state ^= m_state << 13;
        m_state ^= m_state >> 7;
        m_state ^= m_state << 17;
        return static_cast<std::uint32_t>(m_state >> 33) % limit;
    }

private:
    std::uint64_t m_state;
};

constexpr std::uint32_t k_cells = 6;
using cells = std::uint64_t[k_cells];

/// A task of a random program: it reads some cells, changes others, and makes tasks that use cells
/// of its own. The cells of one task are used by its children only.
struct random_task {
    std::vector<std::uint32_t> reads;
    std::vector<std::uint32_t> writes;
    std::uint64_t factor = 1;
    bool is_deferred = true;
    bool is_final = false;
    bool has_event = false;
    bool has_group = false;        ///< around the children; else a taskwait ends them
    std::uint32_t inner_size = 0;  ///< the children are made in a region of so many
    std::vector<random_task> children;
};

random_task random_tree(task_dice& dice, int depth) {
    random_task made;
    for (std::uint32_t cell = 0; cell < k_cells; ++cell) {
        switch (dice.below(6)) {
            case 0:
                made.writes.push_back(cell);
                break;
            case 1:
            case 2:
                made.reads.push_back(cell);
                break;
            default:
                break;
        }
    }
    made.factor = 2 * dice.below(1000) + 3;
    made.is_deferred = dice.below(8) != 0;
    made.is_final = dice.below(16) == 0;
    made.has_event = dice.below(8) == 0;
    made.has_group = dice.below(2) == 0;
    made.inner_size = dice.below(12) == 0 ? 1 + dice.below(3) : 0;
    const std::uint32_t children = depth == 0 ? 0 : dice.below(depth > 2 ? 12 : 6);
    for (std::uint32_t i = 0; i < children; ++i) {
        made.children.push_back(random_tree(dice, depth - 1));
    }
    return made;
}

/// What a task does with its parent's cells, given what its children have left in its own.
void apply(const random_task& one, cells& shared, const cells& own) {
    std::uint64_t value = one.factor;
    for (const std::uint32_t cell : one.reads) {
        value = value * 31 + shared[cell];
    }
    for (const std::uint64_t each : own) {
        value = value * 7 + each;
    }
    for (const std::uint32_t cell : one.writes) {
        shared[cell] = shared[cell] * one.factor + value;
    }
}

void run_serially(const random_task& one, cells& shared) {
    cells own{};
    for (const random_task& child : one.children) {
        run_serially(child, own);
    }
    apply(one, shared, own);
}

void make_task(const random_task& one, cells& shared);

void make_children(const random_task& one, cells& own) {
    for (const random_task& child : one.children) {
        make_task(child, own);
    }
}

void run_as_task(const random_task& one, cells& shared) {
    cells own{};
    if (one.inner_size != 0) {
        single_in_region(one.inner_size, [&] { make_children(one, own); });
    } else if (one.has_group) {
        task_group([&] { make_children(one, own); });
    } else {
        make_children(one, own);
        GOMP_taskwait();
    }
    apply(one, shared, own);
}

struct event_task {
    void* event;
    const random_task* one;
    cells* shared;
    void operator()() const {
        run_as_task(*one, *shared);
        omp_fulfill_event(event);
    }
};

void make_task(const random_task& one, cells& shared) {
    std::vector<const void*> writes;
    std::vector<const void*> reads;
    for (const std::uint32_t cell : one.writes) {
        writes.push_back(&shared[cell]);
    }
    for (const std::uint32_t cell : one.reads) {
        reads.push_back(&shared[cell]);
    }
    depends on(writes, reads);
    clauses with{.is_deferred = one.is_deferred, .is_final = one.is_final};
    if (!writes.empty() || !reads.empty()) {
        with.on = &on;
    }
    if (one.has_event) {
        void* event = nullptr;
        with.event = &event;
        spawn(event_task{nullptr, &one, &shared}, with);
    } else {
        spawn([&one, &shared] { run_as_task(one, shared); }, with);
    }
}

std::uint64_t count(const random_task& one) {
    std::uint64_t all = 1;
    for (const random_task& child : one.children) {
        all += count(child);
    }
    return all;
}

void run_program(std::uint64_t seed, std::uint64_t& tasks) {
    task_dice dice(seed);
    const random_task program = random_tree(dice, 4);
    tasks += count(program);
    cells expected{};
    run_serially(program, expected);
    for (const unsigned size : {1U, 2U, 3U, 8U}) {
        cells found{};
        single_in_region(size, [&] { run_as_task(program, found); });
        for (std::uint32_t cell = 0; cell < k_cells; ++cell) {
            ASSERT_EQ(found[cell], expected[cell])
                << "seed " << seed << ", " << size << " members, cell " << cell;
        }
    }
}

TEST(openmp_random_tasks, programs_have_the_serial_answer) {
    std::uint64_t first = 1;
    std::uint64_t programs = 12;
    if (const char* const text = std::getenv("QUERN_TEST_SEED")) {
        first = std::strtoull(text, nullptr, 10);
        programs = 1;
    }
    if (const char* const text = std::getenv("QUERN_TEST_PROGRAMS")) {
        programs = std::strtoull(text, nullptr, 10);
    }
    std::uint64_t tasks = 0;
    for (std::uint64_t i = 0; i < programs && !HasFatalFailure(); ++i) {
        run_program(first + i, tasks);
    }
    std::printf("%llu programs from seed %llu on, %llu tasks\n",
                static_cast<unsigned long long>(programs), static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(tasks));
}

}  // namespace
