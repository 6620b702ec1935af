// SPDX-License-Identifier: BSL-1.0
// dependent_memory: tiny dependent tasks without an end in sight, by one creator, by eight creators
// that are tasks themselves, and with tasks that are held by others. What counts is the memory:
// how much more the process has after each tenth of them than at the begin. Size: the tasks.
#include "../many_dependent/problem.hpp"

#include "../harness/quern.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <span>
#include <string>

namespace bench::dependent_memory {

namespace {

using many_dependent::changed_by;
using many_dependent::link;
using many_dependent::read_by;
using many_dependent::serial_sum;
using many_dependent::step;
using many_dependent::table;
using many_dependent::value;

constexpr int k_creators = 8;
constexpr long k_held_each = 16;  // one task of so many is held

double resident_mib() {
    long pages = 0;
    std::ifstream statm("/proc/self/statm");
    statm >> pages >> pages;  // the second number
    return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

/// How much the process has grown after each tenth. Thread safe.
class growth {
public:
    explicit growth(long tasks) : m_tenth(std::max(tasks / 10, 1L)) {}

    void one_more() {
        const long now = m_created.fetch_add(1, std::memory_order_relaxed) + 1;
        if (now % m_tenth == 0 && now / m_tenth <= 10) {
            m_at[static_cast<std::size_t>(now / m_tenth - 1)] = resident_mib() - m_begin;
        }
    }
    void add_to(measurement& m) const {
        for (std::size_t i = 0; i < m_at.size(); ++i) {
            m.more["mib_at_" + std::to_string((i + 1) * 10)] = m_at[i];
        }
    }

private:
    const double m_begin = resident_mib();
    const long m_tenth;
    std::atomic<long> m_created{0};
    std::array<double, 10> m_at{};
};

value by_one_creator(long tasks, growth& grows) {
    table t{};
    quern::domain work;
    for (long i = 0; i < tasks; ++i) {
        work.spawn(quern::in(t[read_by(i)]), quern::inout(t[changed_by(i)]), step);
        grows.one_more();
    }
    work.taskwait();
    return many_dependent::sum_of(t);
}

/// Each creator changes the numbers of its own part.
value by_nested_creators(long tasks, growth& grows) {
    table t{};
    const std::size_t size = t.size() / k_creators;
    quern::domain work;
    for (int c = 0; c < k_creators; ++c) {
        const std::span part(t.data() + static_cast<std::size_t>(c) * size, size);
        work.spawn(quern::inout(part), [tasks, &grows](std::span<value> numbers) {
            for (long i = 0; i < tasks / k_creators; ++i) {
                quern::spawn(quern::inout(numbers[static_cast<std::size_t>(i) % numbers.size()]),
                             link);
                grows.one_more();
            }
        });
    }
    work.taskwait();
    return many_dependent::sum_of(t);
}

value serial_nested(long tasks) {
    table t{};
    const std::size_t size = t.size() / k_creators;
    for (std::size_t c = 0; c < k_creators; ++c) {
        for (long i = 0; i < tasks / k_creators; ++i) {
            link(t[c * size + static_cast<std::size_t>(i) % size]);
        }
    }
    return many_dependent::sum_of(t);
}

/// Some tasks are complete only when another task has dropped their holds.
value with_holds(long tasks, growth& grows) {
    table t{};
    quern::domain work;
    for (long i = 0; i < tasks; ++i) {
        value& from = t[read_by(i)];
        value& to = t[changed_by(i)];
        if (i % k_held_each == 0) {
            work.spawn(quern::in(from), quern::inout(to), [](const value& f, value& x) {
                quern::post([f = f, &x, hold = quern::this_task::hold_accesses()]() mutable {
                    step(f, x);
                    hold.drop();
                });
            });
        } else {
            work.spawn(quern::in(from), quern::inout(to), step);
        }
        grows.one_more();
    }
    work.taskwait();
    return many_dependent::sum_of(t);
}

contender with(const char* variant, value (*run)(long, growth&), value (*serial)(long)) {
    return {"dependent_memory", variant, [run, serial](const arguments& a) {
                return quern_job(a, [run, n = a.size, answer = serial(a.size)] {
                    growth grows(n);
                    measurement m;
                    const double start = now();
                    const value found = run(n, grows);
                    m.value = now() - start;
                    expect_equal("the result", found, answer);
                    grows.add_to(m);
                    return m;
                });
            }};
}

const contender one = with("one_creator", by_one_creator, serial_sum);
const contender nested = with("nested_creators", by_nested_creators, serial_nested);
const contender held = with("holds", with_holds, serial_sum);

}  // namespace

}  // namespace bench::dependent_memory
