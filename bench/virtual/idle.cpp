// SPDX-License-Identifier: BSL-1.0
#include "idle.hpp"

#include "group.hpp"

#include <algorithm>
#include <stdexcept>

namespace virtual_time {
namespace {

constexpr picoseconds k_ms = 1'000'000'000;
constexpr picoseconds k_leaf = 50 * k_ms;
constexpr picoseconds k_sibling = k_ms / 50;
constexpr long k_many_tiny = 1'000'000;

/// A task that is recorded.
struct recorded {
    record* where;
    picoseconds length;

    std::uint64_t operator()(fork_place place) const {
        where->start = machine::running()->now();
        where->worker = place.here->host().rank();
        simulation::compute(length);
        where->end = machine::running()->now();
        return 1;
    }
};

struct tiny {
    picoseconds length;

    std::uint64_t operator()(fork_place) const {
        simulation::compute(length);
        return 1;
    }
};

/// fork_join in a recursion, whose innermost call computes the leaf.
struct nested {
    std::vector<record>* siblings;
    std::size_t index;
    recorded leaf;

    std::uint64_t operator()(fork_place place) const {
        if (index == siblings->size()) {
            return leaf(place);
        }
        return fork_join(place, recorded{&(*siblings)[index], k_sibling},
                         nested{siblings, index + 1, leaf});
    }
};

/// Makes `count` tasks make(i), calls `after`, and waits.
template <class Task, class Make, class After>
std::uint64_t spawn_all(const std::string& by, fork_place place, std::size_t count, Make make,
                        After after) {
    if (by == "group") {
        task_group<Task> tasks(*place.here);
        for (std::size_t i = 0; i < count; ++i) {
            tasks.run(make(i));
        }
        const std::uint64_t other = after();
        return other + tasks.wait();
    }
    scope<Task> tasks(place);
    for (std::size_t i = 0; i < count; ++i) {
        tasks.spawn(make(i));
    }
    const std::uint64_t other = after();
    return other + tasks.join_all();
}

void expect_construct(const setup& s, bool has_fork) {
    if (s.by != "scope" && s.by != "group" && !(has_fork && s.by == "fork")) {
        throw std::invalid_argument("--by " + s.by + ": this row has scope and group" +
                                    (has_fork ? " and fork" : ""));
    }
}

double us(picoseconds t) { return static_cast<double>(t) * 1e-6; }

row_result result_of(std::vector<picoseconds> gaps, const run_figures& run) {
    std::sort(gaps.begin(), gaps.end());
    row_result r{us(gaps.back()), {}};
    r.more["gap_median_us"] = us(gaps[gaps.size() / 2]);
    r.more["seconds"] = us(run.took) * 1e-6;
    r.more["wakes"] = static_cast<double>(run.counted.wakes);
    r.more["vain_wakes"] = static_cast<double>(run.vain_wakes);
    r.more["barriers"] = static_cast<double>(run.counted.barriers);
    r.more["took_part"] = run.took_part;
    return r;
}

}  // namespace

std::vector<picoseconds> idle_gaps(std::vector<record> tasks, picoseconds begin,
                                   std::size_t workers) {
    std::sort(tasks.begin(), tasks.end(),
              [](const record& a, const record& b) { return a.start < b.start; });
    const picoseconds none_left = tasks.back().start;
    std::vector<picoseconds> gaps;
    for (std::size_t rank = 0; rank < workers; ++rank) {
        picoseconds free_since = begin;
        for (const record& r : tasks) {
            if (r.worker == rank) {
                gaps.push_back(r.start - free_since);
                free_since = r.end;
            }
        }
        if (free_since < none_left) {
            gaps.push_back(none_left - free_since);
        }
    }
    return gaps;
}

row_result simulate_leaf(const setup& s) {
    expect_construct(s, true);
    simulation all(s.cost, s.how, s.workers, s.seed);
    std::vector<record> records(static_cast<std::size_t>(s.size));
    record leaf;
    picoseconds begin = 0;
    std::uint64_t done = 0;
    const run_figures run = all.run([&](fork_place place) {
        simulation::compute(s.before);
        all.begin_timing();
        begin = all.now();
        const recorded whole{&leaf, k_leaf};
        done = s.by == "fork" ? nested{&records, 0, whole}(place)
                              : spawn_all<recorded>(
                                    s.by, place, records.size(),
                                    [&](std::size_t i) {
                                        return recorded{&records[i], k_sibling};
                                    },
                                    [&] { return whole(place); });
        all.end_timing();
    });
    expect("tasks that have run", records.size() + 1, done);
    picoseconds other = leaf.end;
    for (const record& r : records) {
        if (r.worker != leaf.worker) {
            other = std::min(other, r.start);
        }
    }
    records.push_back(leaf);
    row_result r = result_of(idle_gaps(records, begin, s.workers), run);
    r.more["first_us"] = other > leaf.start ? us(other - leaf.start) : 0;
    return r;
}

row_result simulate_phase(const setup& s) {
    expect_construct(s, false);
    const bool is_long = s.size >= k_many_tiny;
    const picoseconds large = (is_long ? 10 : 5) * k_ms;
    simulation all(s.cost, s.how, s.workers, s.seed);
    std::vector<record> records(is_long ? 100 : 20);
    picoseconds begin = 0;
    std::uint64_t done = 0;
    const run_figures run = all.run([&](fork_place place) {
        const auto nothing = [] { return std::uint64_t{0}; };
        const auto all_tiny = [&] {
            return spawn_all<tiny>(
                s.by, place, static_cast<std::size_t>(s.size),
                [&](std::size_t) { return tiny{s.work}; }, nothing);
        };
        simulation::compute(s.before);
        done = all_tiny();
        all.begin_timing();
        begin = all.now();
        done += spawn_all<recorded>(
            s.by, place, records.size(),
            [&](std::size_t i) {
                return recorded{&records[i], large};
            },
            nothing);
        all.end_timing();
        done += all_tiny();
    });
    expect("tasks that have run", 2 * static_cast<std::uint64_t>(s.size) + records.size(), done);
    return result_of(idle_gaps(records, begin, s.workers), run);
}

}  // namespace virtual_time
