// SPDX-License-Identifier: BSL-1.0
// The examples of docs/porting/dependences.md, run and checked: what stands in the place of the
// clauses of OpenMP, OmpSs and OmpSs-2. The lines between two markers `// [name]` are those of the
// page, which ../check_examples.py compares.
#include <quern/quern.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

// [names]
using quern::in, quern::out, quern::inout, quern::concurrent, quern::commutative, quern::reduction,
    quern::weak, quern::sentinel, quern::on;
// [names]

/// A domain of the example's own, in a task.
template <class Program>
void in_domain(Program program) {
    quern::async([&program] {
        quern::domain work;
        program(work);
        work.taskwait();
    }).get();
}

TEST(porting_dependences, reading_and_writing) {
    double x = 0, y = 0;
    // [order]
    quern::domain work;
    work.spawn(out(x), [](double& v) { v = 1; });
    work.spawn(in(x), out(y), [](const double& from, double& to) { to = 2 * from; });
    work.spawn(inout(x), [&x] { x += 1; });  // or without views
    work.taskwait();
    // [order]
    EXPECT_EQ(x, 2);
    EXPECT_EQ(y, 2);
}

TEST(porting_dependences, captures) {
    const int n = 3;
    std::vector<int> found(n, -1);
    in_domain([&](quern::domain& work) {
        // [captures]
        for (int i = 0; i < n; ++i) {
            work.spawn(out(found[i]),
                       [i, &found] { found[i] = i; });  // i firstprivate, found shared
        }
        // [captures]
    });
    EXPECT_EQ(found, (std::vector<int>{0, 1, 2}));
}

TEST(porting_dependences, sections_of_arrays) {
    const int n = 100, pitch = 10, r = 2, c = 3;
    std::vector<double> storage(n, 1.0);
    double* const a = storage.data();
    in_domain([&](quern::domain& work) {
        // [sections]
        work.spawn(inout(a, n), [](auto all) { all[0] = 2; });                // a[0:n], [n]a
        work.spawn(in(a + 5, 10), [](auto part) { EXPECT_EQ(part[0], 1); });  // a[5:10], a[5;10]
        // Of a matrix by rows, rows r to r + 3, columns c to c + 4: m[r;4][c;5].
        work.spawn(inout(quern::block(a + r * pitch + c, pitch, 4, 5)),
                   [](quern::strided<double, 2> m) { m(3, 4) = 7; });
        // Of an array of 4 by 5 by 5 elements, the corner of 2 by 2 by 2.
        work.spawn(in(quern::strided<double, 3>(a, {2, 2, 2}, {25, 5})), [](auto) {});
        // [sections]
    });
    EXPECT_EQ(storage[0], 2);
    EXPECT_EQ(storage[57], 7);
}

TEST(porting_dependences, as_many_accesses_as_needed) {
    const std::size_t n = 10;
    std::vector<std::vector<double>> a(n, std::vector<double>(3, 1.0));
    double sum = 0;
    in_domain([&](quern::domain& work) {
        // [iterator]
        quern::access_list all;
        for (std::size_t i = 0; i < n; ++i) {
            all.add(in(a[i]));
        }
        work.spawn(all, out(sum), [&a](double& s) {
            for (const auto& each : a) {
                s += each[0];
            }
        });
        // [iterator]
    });
    EXPECT_EQ(sum, 10);
}

TEST(porting_dependences, an_access_as_a_value) {
    int x = 0;
    in_domain([&](quern::domain& work) {
        // [depobj]
        const auto dependence = inout(x);
        work.spawn(dependence, [](int& v) { ++v; });
        work.spawn(dependence, [](int& v) { ++v; });
        // [depobj]
    });
    EXPECT_EQ(x, 2);
}

TEST(porting_dependences, an_order_without_data) {
    std::string text;
    std::mutex lock;
    in_domain([&](quern::domain& work) {
        // [sentinel]
        const char phase = 0;  // only its address counts
        work.spawn(out(sentinel(phase)), [&text] { text += "first "; });
        work.spawn(in(sentinel(phase)), [&] {
            const std::scoped_lock held(lock);
            text += "then ";
        });
        work.spawn(in(sentinel(phase)), [&] {
            const std::scoped_lock held(lock);
            text += "then ";
        });
        // [sentinel]
    });
    EXPECT_EQ(text, "first then then ");
}

TEST(porting_dependences, sets) {
    std::atomic<int> hits{0};
    int sum = 0;
    in_domain([&](quern::domain& work) {
        // [concurrent]
        for (int i = 0; i < 10; ++i) {
            work.spawn(concurrent(hits), [](std::atomic<int>& h) { ++h; });  // at the same time
        }
        // [concurrent]
        // [commutative]
        for (int i = 0; i < 10; ++i) {
            work.spawn(commutative(sum), [i](int& s) { s += i; });  // one at a time, in any order
        }
        // [commutative]
    });
    EXPECT_EQ(hits, 10);
    EXPECT_EQ(sum, 45);
}

TEST(porting_dependences, reductions) {
    std::vector<std::vector<double>> blocks(8, std::vector<double>(100, 0.5));
    double sum = 0, largest = 0;
    in_domain([&](quern::domain& work) {
        // [reduction]
        for (const auto& block : blocks) {
            work.spawn(in(block), reduction(sum, std::plus<>()), [](auto part, double& s) {
                for (double x : part) {
                    s += x;
                }
            });
        }
        work.taskwait(on(in(sum)));  // the parts are combined before the next other access
        // [reduction]
        EXPECT_EQ(sum, 400);
        // [declare_reduction]
        const auto larger = [](double a, double b) { return std::max(a, b); };
        for (const auto& block : blocks) {
            work.spawn(in(block), reduction(largest, larger, 0.0),  // 0 is what parts begin with
                       [](auto part, double& most) { most = std::max(most, part[0]); });
        }
        // [declare_reduction]
    });
    EXPECT_EQ(largest, 0.5);
}

TEST(porting_dependences, nested_tasks) {
    std::vector<double> v(1000, 0.0);
    in_domain([&](quern::domain& work) {
        // [nested]
        work.spawn(inout(v), [](auto all) {
            quern::spawn(inout(all.first(500)), [](auto half) { half[0] = 1; });
            quern::spawn(inout(all.subspan(500)), [](auto half) { half[0] = 2; });
            quern::taskwait();  // for these two; without it the data are released as each ends
        });
        // [nested]
        // [weak]
        for (int step = 0; step < 3; ++step) {
            work.spawn(weak(inout(v)), [&v] {  // begins at once: its children wait instead
                for (std::size_t i = 0; i < v.size(); i += 100) {
                    quern::spawn(inout(&v[i], 100), [](auto part) { part[0] += 1; });
                }
            });
        }
        // [weak]
    });
    EXPECT_EQ(v[0], 4);
    EXPECT_EQ(v[500], 5);
    EXPECT_EQ(v[900], 3);
}

TEST(porting_dependences, early_release) {
    int x = 0, y = 0;
    in_domain([&](quern::domain& work) {
        // [release]
        work.spawn(out(x), out(y), [](int& first, int& second) {
            first = 1;
            quern::this_task::release(out(first));  // tasks that wait only for x may begin
            second = 2;
        });
        // [release]
        // [wait]
        work.spawn({.wait = true}, inout(x), inout(y), [](int& first, int&) {
            quern::spawn(inout(first), [](int& v) { v += 10; });
        });  // neither x nor y is released before the child has ended
        // [wait]
    });
    EXPECT_EQ(x, 11);
    EXPECT_EQ(y, 2);
}

TEST(porting_dependences, waiting) {
    int x = 0, y = 0;
    quern::async([&] {
        // [taskwait]
        quern::domain work;
        work.spawn(out(x), [](int& v) { v = 1; });
        work.spawn(out(y), [](int& v) { v = 2; });
        work.taskwait(on(in(x)));  // x may be read here until the next spawn
        work.taskwait();           // for all, and for their children
        // [taskwait]
    }).get();
    EXPECT_EQ(x + y, 3);
}

TEST(porting_dependences, groups) {
    int x = 0;
    quern::async([&] {
        // [taskgroup]
        {
            quern::domain group;
            group.spawn(inout(x), [](int& v) { quern::spawn(inout(v), [](int& w) { ++w; }); });
        }  // waits for the tasks and all their descendants
        // [taskgroup]
        EXPECT_EQ(x, 1);
    }).get();
}

TEST(porting_dependences, attributes) {
    int x = 0;
    std::vector<int> order;
    const bool is_small = true;
    in_domain([&](quern::domain& work) {
        // [attributes]
        work.spawn({.name = "factorise", .rank = 2}, inout(x),
                   [](int& v) { ++v; });                                     // label, priority
        work.spawn({.deferred = !is_small}, inout(x), [](int& v) { ++v; });  // if(!is_small)
        work.spawn({.final = is_small}, inout(x), [](int& v) {
            quern::spawn(inout(v), [](int& w) { ++w; });  // runs at once, in this place
        });
        work.spawn({.worker = 1}, inout(x), [](int& v) { ++v; });  // affinity: a hint
        // [attributes]
    });
    EXPECT_EQ(x, 4);
}

TEST(porting_dependences, tasks_that_suspend) {
    int x = 0;
    std::vector<int> lines;
    in_domain([&](quern::domain& work) {
        // [untied]
        quern::mutex m;
        work.spawn(inout(x), [&](int& v) {
            quern::this_task::yield();       // taskyield; every task may continue on another worker
            const std::scoped_lock lock(m);  // critical: the task waits, its worker does not
            lines.push_back(++v);
        });
        // [untied]
        work.taskwait();
    });
    EXPECT_EQ(lines, std::vector<int>{1});
}

TEST(porting_dependences, events) {
    int answer = 0;
    std::jthread device;
    in_domain([&](quern::domain& work) {
        // [events]
        work.spawn(out(answer), [&device](int& a) {
            // As `detach`, and as nanos6_increase_current_task_event_counter().
            device = std::jthread([&a, hold = quern::this_task::hold_accesses()]() mutable {
                a = 42;
                hold.drop();  // any thread; the accesses are released when the last hold is gone
            });
        });
        work.spawn(in(answer), [](const int& a) { EXPECT_EQ(a, 42); });
        // [events]
    });
}

TEST(porting_dependences, blocking) {
    int x = 0;
    in_domain([&](quern::domain& work) {
        // [blocking]
        work.spawn(out(x), [](int& v) {
            quern::this_task::sleep_for(std::chrono::microseconds(100));  // nanos6_wait_for()
            // nanos6_block_current_task() and nanos6_unblock_task():
            quern::this_task::suspend([](quern::suspended_task me) {
                std::thread([me = std::move(me)]() mutable { me.resume(); }).detach();
            });
            v = 1;
        });
        // [blocking]
    });
    EXPECT_EQ(x, 1);
}

TEST(porting_dependences, loops) {
    const std::ptrdiff_t n = 1000;
    std::vector<double> a(n, 1.0), b(n, 0.0);
    double sum = 0;
    in_domain([&](quern::domain& work) {
        // [taskloop]
        quern::task_loop(
            work, 0, n, 100,  // grainsize(100); 0 chooses
            [&](auto from, auto to) {
                return quern::accesses(in(&a[from], to - from), out(&b[from], to - from));
            },
            [](auto from, auto to, auto source, auto target) {
                for (auto i = 0; i < to - from; ++i) {
                    target[i] = 2 * source[i];
                }
            });
        // [taskloop]
        // [taskloop_reduction]
        quern::task_loop(
            work, 0, n, 100,
            [&](auto from, auto to) {
                return quern::accesses(in(&b[from], to - from), reduction(sum, std::plus<>()));
            },
            [](auto, auto, auto part, double& s) {
                s = std::accumulate(part.begin(), part.end(), s);
            });
        // [taskloop_reduction]
    });
    EXPECT_EQ(sum, 2000);
}

TEST(porting_dependences, cancellation) {
    std::atomic<int> begun{0};
    bool was_cancelled = false;
    quern::async([&] {
        // [cancel]
        quern::domain work;
        for (int i = 0; i < 100; ++i) {
            work.spawn([&] {
                ++begun;
                if (quern::this_task::stop_requested()) {  // cancellation point
                    return;
                }
                work.cancel();  // of the domain and all children of its tasks
            });
        }
        try {
            work.taskwait();
        } catch (const quern::task_cancelled&) {
            was_cancelled = true;
        }
        // [cancel]
    }).get();
    EXPECT_TRUE(was_cancelled);
    EXPECT_LE(begun, 100);
}

TEST(porting_dependences, renaming) {
    std::vector<double> buffer(100);
    std::vector<double> sums(4, 0.0);
    quern::async([&] {
        // [renaming]
        quern::domain work;
        quern::renamed panel(buffer);
        for (std::size_t step = 0; step < sums.size(); ++step) {
            work.spawn(out(panel), [step](auto to) { to[0] = static_cast<double>(step); });
            work.spawn(in(panel), out(sums[step]), [](auto from, double& sum) { sum = from[0]; });
        }                 // a later `out` does not wait for earlier `in`
        work.taskwait();  // the last version is in `buffer`
        // [renaming]
    }).get();
    EXPECT_EQ(sums, (std::vector<double>{0, 1, 2, 3}));
    EXPECT_EQ(buffer[0], 3);
}

TEST(porting_dependences, graphs_that_repeat) {
    std::vector<double> a(10, 1.0);
    quern::async([&] {
        // [replay]
        quern::domain work;
        quern::replay(work, 50, [&](std::int64_t) {
            for (std::size_t i = 1; i < a.size(); ++i) {
                work.spawn(in(a[i - 1]), inout(a[i]),
                           [](const double& left, double& x) { x += left; });
            }
        });
        // [replay]
    }).get();
    EXPECT_EQ(a[1], 51);
}

TEST(porting_dependences, tasks_of_their_own) {
    std::atomic<bool> done{false};
    // [post]
    quern::post([&done] { done = true; });  // nanos6_spawn_function()
    // [post]
    while (!done) {
        std::this_thread::yield();
    }
}

TEST(porting_dependences, results_and_errors) {
    int x = 20;
    int found = 0;
    bool was_thrown = false;
    quern::async([&] {
        // [results]
        quern::domain work;
        quern::future<int> twice = work.async(in(x), [](const int& v) { return 2 * v; });
        found = twice.get();
        work.spawn(inout(x), [](int&) { throw std::runtime_error("no convergence"); });
        work.spawn(in(x), [] {});  // dropped: its data were not computed
        try {
            work.taskwait();
        } catch (const std::runtime_error&) {
            was_thrown = true;
        }
        // [results]
    }).get();
    EXPECT_EQ(found, 40);
    EXPECT_TRUE(was_thrown);
}

}  // namespace
