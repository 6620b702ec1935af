// SPDX-License-Identifier: BSL-1.0
// Ways of random programs to run children that end before the call returns: forks, scopes, groups,
// loops; with exceptions and stop requests.
#pragma once

#include <quern/quern.hpp>

#include "random_family.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace quern_test::ways {

inline void fork_join_from(const family& f, std::size_t first, std::size_t last) {
    if (last - first < 2) {
        if (first != last) {
            f.run(first);
        }
        return;
    }
    const std::size_t middle = first + (last - first) / 2;
    quern::fork_join([&f, first, middle] { fork_join_from(f, first, middle); },
                     [&f, middle, last] { fork_join_from(f, middle, last); });
}
inline void fork_join(const family& f) { fork_join_from(f, 0, f.size()); }

inline void fork_three_from(quern::fork_context c, const family& f, std::size_t first,
                            std::size_t last) {
    if (last - first < 3) {
        for (std::size_t i = first; i < last; ++i) {
            f.run(i);
        }
        return;
    }
    const std::size_t third = (last - first) / 3;
    const auto part = [&f](std::size_t begin, std::size_t end) {
        return [&f, begin, end](quern::fork_context here) { fork_three_from(here, f, begin, end); };
    };
    quern::fork_join(c, part(first, first + third), part(first + third, first + 2 * third),
                     part(first + 2 * third, last));
}
inline void fork_join_of_three(const family& f) {
    quern::with_fork_context([&f](quern::fork_context c) { fork_three_from(c, f, 0, f.size()); });
}

inline void fork_one_by_one(quern::fork_context c, const family& f, std::size_t i) {
    if (i < f.size()) {
        quern::fork_join(
            c, [&f, i](quern::fork_context here) { fork_one_by_one(here, f, i + 1); },
            [&f, i](quern::fork_context) { f.run(i); });
    }
}
inline void fork_join_with_context(const family& f) {
    quern::fork_join([&f](quern::fork_context c) { fork_one_by_one(c, f, 0); }, [] {});
}

inline void throwing_fork_join(const family& f) {
    for (std::size_t i = 0; i < f.size(); ++i) {
        keep_outcome(
            f, i, [&f, i] { return quern::fork_join([&f, i] { return f.value_of(i); }, [] {}); });
    }
}

inline void cut_off_from(quern::cutoff& small, const family& f, std::size_t first,
                         std::size_t last) {
    small(
        static_cast<double>(last - first),
        [&] {
            if (last - first < 2) {
                first != last ? f.run(first) : void();
                return;
            }
            const std::size_t middle = first + (last - first) / 2;
            quern::fork_join([&, first, middle] { cut_off_from(small, f, first, middle); },
                             [&, middle, last] { cut_off_from(small, f, middle, last); });
        },
        [&] {
            for (std::size_t i = first; i < last; ++i) {
                f.run(i);
            }
        });
}
inline void cutoff(const family& f) {
    static quern::cutoff small("random programs");
    cut_off_from(small, f, 0, f.size());
}

inline void throwing_cutoff(const family& f) {
    static quern::cutoff small("throwing");
    for (std::size_t i = 0; i < f.size(); ++i) {
        const auto child = [&f, i] { return f.value_of(i); };
        keep_outcome(f, i, [&] { return small(1, child, child); });
    }
}

/// Every entry of all programs together is a trial; nested ones overlap.
inline void tuned(const family& f) {
    static quern::tuned<std::size_t> grain("random programs", {1, 8}, {},
                                           {.how = quern::adaptation::strategy::hill_climbing});
    auto now = grain.enter();
    quern::parallel_for(std::size_t{0}, f.size(), quern::grain::fixed(now.value()),
                        [&f](std::size_t i) { f.run(i); });
}

inline void scope(const family& f) {
    quern::scope([&f](quern::fork_scope& s) {
        for (std::size_t i = 0; i < f.size(); ++i) {
            s.spawn([&f, i] { f.run(i); });
        }
    });
}

inline void scope_from(quern::fork_context c, const family& f, std::size_t i) {
    quern::scope(c, [&f, i](quern::fork_scope& s) {
        if (i < f.size()) {
            s.spawn([&f, i](quern::fork_context here) { scope_from(here, f, i + 1); });
            f.run(i);
        }
    });
}
inline void scope_in_scope(const family& f) {
    quern::scope([&f](quern::fork_scope& s) {
        s.spawn([&f](quern::fork_context c) { scope_from(c, f, 0); });
    });
}

inline void throwing_scope(const family& f) {
    for (std::size_t i = 0; i < f.size(); ++i) {
        keep_outcome(f, i, [&f, i] {
            std::uint64_t value = 0;
            quern::scope(
                [&](quern::fork_scope& s) { s.spawn([&f, &value, i] { value = f.value_of(i); }); });
            return value;
        });
    }
}

inline void scope_with_results(const family& f) {
    for (std::size_t i = 0; i < f.size(); ++i) {
        keep_outcome(f, i, [&f, i] {
            std::optional<std::uint64_t> value;
            quern::scope([&](quern::fork_scope& s) {
                s.spawn_into(value, [&f, i] { return f.value_of(i); });
            });
            return value.value();
        });
    }
}

inline void stopped_scope(const family& f) {
    std::vector<char> done(f.size(), 0);
    std::stop_source stop;
    try {
        quern::scope(stop.get_token(), [&](quern::fork_scope& s) {
            for (std::size_t i = 0; i < f.size(); ++i) {
                s.spawn([&f, &done, &stop, i] {
                    f.run(i);
                    done[i] = 1;
                    stop.request_stop();
                });
            }
        });
    } catch (const quern::task_cancelled&) {
        run_the_rest(f, done);
    }
}

inline void fill(quern::task_group& group, const family& f) {
    for (std::size_t i = 0; i < f.size(); ++i) {
        group.run([&f, i] { f.run(i); });
    }
    group.wait();
}
inline void task_group(const family& f) {
    quern::task_group group;
    fill(group, f);
}
inline void bounded_group(const family& f) {
    quern::task_group group(quern::bounded(1 + static_cast<int>(f.size() % 3)));
    fill(group, f);
}

inline void group_that_fills_itself_from(quern::task_group& group, const family& f, std::size_t i) {
    if (i < f.size()) {
        group.run([&group, &f, i] { group_that_fills_itself_from(group, f, i + 1); });
        f.run(i);
    }
}
inline void group_that_fills_itself(const family& f) {
    quern::task_group group;
    group_that_fills_itself_from(group, f, 0);
    group.wait();
}
inline void bounded_group_that_fills_itself(const family& f) {
    quern::task_group group(quern::bounded(2));
    group_that_fills_itself_from(group, f, 0);
    group.wait();
}

inline void throwing_group(const family& f) {
    for (std::size_t i = 0; i < f.size(); ++i) {
        keep_outcome(f, i, [&f, i] {
            quern::task_group group;
            std::uint64_t value = 0;
            group.run({.name = "throws"}, [&f, &value, i] { value = f.value_of(i); });
            group.wait();
            return value;
        });
    }
}

inline void cancelled_group(const family& f) {
    std::vector<char> done(f.size(), 0);
    quern::task_group group;
    for (std::size_t i = 0; i < f.size(); ++i) {
        group.run([&f, &done, i] {
            f.run(i);
            done[i] = 1;
        });
    }
    group.cancel();
    group.wait();
    run_the_rest(f, done);
}

inline void parallel_for(const family& f) {
    quern::parallel_for(std::size_t{0}, f.size(), quern::grain::fixed(1),
                        [&f](std::size_t i) { f.run(i); });
}
inline void parallel_for_of_automatic_grain(const family& f) {
    quern::parallel_for(0, static_cast<int>(f.size()),
                        [&f](int i) { f.run(static_cast<std::size_t>(i)); });
}

inline void stopped_loop(const family& f) {
    std::vector<char> done(f.size(), 0);
    std::stop_source stop;
    try {
        quern::parallel_for(stop.get_token(), std::size_t{0}, f.size(), quern::grain::fixed(1),
                            [&](std::size_t i) {
                                f.run(i);
                                done[i] = 1;
                                stop.request_stop();
                            });
    } catch (const quern::task_cancelled&) {
        run_the_rest(f, done);
    }
}

/// Gives the numbers of the children.
class child_numbers {
public:
    explicit child_numbers(const family& f) noexcept : m_end(f.size()) {}
    std::optional<std::size_t> operator()() noexcept {
        return m_next != m_end ? std::optional(m_next++) : std::nullopt;
    }

private:
    std::size_t m_next = 0;
    std::size_t m_end;
};

/// The children may overtake one another, and must be in order behind that.
inline void pipeline(const family& f) {
    std::size_t next = 0;
    quern::pipeline(
        2, child_numbers(f), quern::in_parallel([&f](std::size_t i) {
            f.run(i);
            return i;
        }),
        quern::in_order([&f, &next](std::size_t i) { i != next++ ? f.spoil() : void(); }));
}

/// One child at a time; a plain number detects concurrent access.
inline void serial_pipeline(const family& f) {
    std::size_t inside = 0;
    const auto run_alone = [&f, &inside](std::size_t i) {
        const std::size_t before = inside++;
        f.run(i);
        if (before != 0 || --inside != 0) {
            f.spoil();
        }
        return i;
    };
    quern::pipeline(3, child_numbers(f), quern::one_at_a_time(run_alone),
                    quern::in_parallel([](std::size_t i) { return i; }),
                    quern::in_order([](std::size_t) {}));
}

inline void throwing_pipeline(const family& f) {
    for (std::size_t i = 0; i < f.size(); ++i) {
        keep_outcome(f, i, [&f, i] {
            bool is_begun = false;
            std::uint64_t value = 0;
            quern::pipeline(
                2,
                [&is_begun, i] {
                    return std::exchange(is_begun, true) ? std::nullopt : std::optional(i);
                },
                quern::in_parallel([&f](std::size_t which) { return f.value_of(which); }),
                quern::in_order([&value](std::uint64_t v) { value = v; }));
            return value;
        });
    }
}

/// The order of the values must be that of the indices.
inline void parallel_reduce(const family& f) {
    using list = std::vector<std::size_t>;
    const list all = quern::parallel_reduce(
        std::size_t{0}, f.size(), quern::grain::fixed(1), list(),
        [&f](std::size_t i) {
            f.run(i);
            return list{i};
        },
        [](list left, const list& right) {
            left.insert(left.end(), right.begin(), right.end());
            return left;
        });
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] != i) {
            f.spoil();
        }
    }
}

}  // namespace quern_test::ways
