// SPDX-License-Identifier: BSL-1.0
// Ways of random programs to run children as dependent tasks, in every form that a domain has.
#pragma once

#include <quern/quern.hpp>

#include "random_family.hpp"

#include <array>
#include <utility>
#include <vector>

namespace quern_test::ways {

/// Two chains.
inline void dependent_tasks(const family& f) {
    std::array<int, 2> cells{};
    quern::domain work;
    for (std::size_t i = 0; i < f.size(); ++i) {
        work.spawn({.rank = static_cast<std::int16_t>(i % 3)}, quern::inout(cells[i % 2]),
                   [&f, i](int& done) {
                       f.run(i);
                       ++done;
                   });
    }
    work.taskwait();
    if (static_cast<std::size_t>(cells[0] + cells[1]) != f.size()) {
        f.spoil();
    }
}

inline void dependent_readers(const family& f) {
    std::size_t value = 0;
    quern::domain work;
    for (std::size_t i = 0; i < f.size(); ++i) {
        if (i % 2 == 0) {
            work.spawn(quern::out(value), [i](std::size_t& v) { v = i; });
        }
        work.spawn(quern::in(value), [&f, i](const std::size_t& v) {
            f.run(i);
            if (v != i / 2 * 2) {
                f.spoil();
            }
        });
    }
    work.taskwait();
}

inline void dependent_children(const family& f) {
    std::array<int, 3> cells{};
    quern::domain work;
    for (std::size_t i = 0; i < f.size(); i += 2) {
        work.spawn(quern::weak(quern::inout(cells)), [&f, &cells, i] {
            for (std::size_t c = i; c < f.size() && c < i + 2; ++c) {
                quern::spawn({.deferred = c % 3 != 0}, quern::inout(cells[c % 3]),
                             [&f, c] { f.run(c); });
            }
        });
    }
    work.taskwait();
}

inline void final_task(const family& f) {
    quern::domain work;
    work.spawn({.final = true}, [&f] {
        for (std::size_t i = 0; i < f.size(); ++i) {
            quern::spawn([&f, i] { f.run(i); });
        }
    });
}

/// One at a time, in any order.
inline void commutative_tasks(const family& f) {
    std::size_t inside = 0;
    quern::domain work;
    for (std::size_t i = 0; i < f.size(); ++i) {
        work.spawn(quern::commutative(inside), [&f, i](std::size_t& n) {
            const std::size_t before = n++;
            f.run(i);
            if (before != 0 || --n != 0) {
                f.spoil();
            }
        });
    }
    work.taskwait();
}

/// The order of the values must be that of the tasks.
inline void dependent_reduction(const family& f) {
    struct list {
        std::vector<std::size_t> numbers;
    } whole;
    {
        quern::domain work;
        for (std::size_t i = 0; i < f.size(); ++i) {
            const auto combine = [](list& to, list& from) {
                to.numbers.insert(to.numbers.end(), from.numbers.begin(), from.numbers.end());
            };
            work.spawn(quern::reduction(whole, combine, list()).in_creation_order(),
                       [&f, i](list& part) {
                           f.run(i);
                           part.numbers.push_back(i);
                       });
        }
    }
    for (std::size_t i = 0; i < f.size(); ++i) {
        if (whole.numbers.size() != f.size() || whole.numbers[i] != i) {
            f.spoil();
        }
    }
}

inline void renamed_versions(const family& f) {
    std::size_t value = 0;
    quern::domain work;
    quern::renamed versions(value);
    for (std::size_t i = 0; i < f.size(); ++i) {
        work.spawn(quern::out(versions), [i](std::size_t& v) { v = i; });
        work.spawn(quern::in(versions), [&f](const std::size_t& v) { f.run(v); });
    }
    work.taskwait();
}

inline void held_accesses(const family& f) {
    std::size_t next = 0;
    quern::domain work;
    for (std::size_t i = 0; i < f.size(); ++i) {
        work.spawn(quern::inout(next), [&f, i](std::size_t& turn) {
            quern::post([&f, &turn, i, hold = quern::this_task::hold_accesses()]() mutable {
                f.run(i);
                if (turn++ != i) {
                    f.spoil();
                }
                hold.drop();
            });
        });
    }
    work.taskwait();
}

inline void futures_of_a_domain(const family& f) {
    int cell = 0;
    quern::domain work;
    std::vector<quern::future<std::size_t>> all;
    for (std::size_t i = 0; i < f.size(); ++i) {
        all.push_back(work.async(quern::in(cell), [&f, i] {
            f.run(i);
            return i;
        }));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].get() != i) {
            f.spoil();
        }
    }
}

inline void task_loop(const family& f) {
    std::vector<int> marks(f.size());
    quern::domain work;
    quern::task_loop(
        work, 0, std::ssize(marks), 2,
        [&](auto from, auto to) {
            return quern::out(&marks[static_cast<std::size_t>(from)], to - from);
        },
        [&f](std::ptrdiff_t from, std::ptrdiff_t to) {
            for (; from < to; ++from) {
                f.run(static_cast<std::size_t>(from));
            }
        });
    work.taskwait();
}

inline void replayed_loop(const family& f) {
    int cell = 0;
    quern::domain work;
    quern::replay(work, static_cast<std::int64_t>(f.size()), [&](std::int64_t step) {
        work.spawn(quern::inout(cell), [&f, step](int& c) {
            f.run(static_cast<std::size_t>(step));
            ++c;
        });
    });
    if (static_cast<std::size_t>(cell) != f.size()) {
        f.spoil();
    }
}

inline void throwing_domain(const family& f) {
    for (std::size_t i = 0; i < f.size(); ++i) {
        keep_outcome(f, i, [&f, i] {
            std::uint64_t value = 0;
            bool is_dropped = true;
            quern::domain work;
            work.spawn(quern::out(value), [&f, i](std::uint64_t& v) {
                quern::spawn(quern::out(v),
                             [&f, i](std::uint64_t& inner) { inner = f.value_of(i); });
            });
            work.spawn(quern::in(value), [&is_dropped] { is_dropped = false; });
            try {
                work.taskwait();
            } catch (...) {
                if (!is_dropped) {
                    f.spoil();
                }
                throw;
            }
            return value;
        });
    }
}

inline void cancelled_domain(const family& f) {
    std::vector<char> done(f.size(), 0);
    int cell = 0;
    quern::domain work;
    for (std::size_t i = 0; i < f.size(); ++i) {
        work.spawn(quern::inout(cell), [&f, &done, i] {
            f.run(i);
            done[i] = 1;
        });
    }
    work.cancel();
    try {
        work.taskwait();
        f.spoil();
    } catch (const quern::task_cancelled&) {
        run_the_rest(f, done);
    }
}

}  // namespace quern_test::ways
