// SPDX-License-Identifier: BSL-1.0
// The examples of docs/porting/std.md, run and checked: the standard library's version of a program
// (`..._std`) and Quern's. The lines between two markers `// [name]` are those of the page, which
// ../check_examples.py compares.
#include <quern/quern.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <numeric>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

long count_words(const std::string& text) {
    long words = 0;
    bool inside = false;
    for (const char c : text) {
        words += c != ' ' && !inside ? 1 : 0;
        inside = c != ' ';
    }
    return words;
}

const std::vector<std::string> k_texts{"one two three", "", "four", " five  six "};

long words_std(const std::vector<std::string>& texts) {
    // [results_std]
    std::vector<std::future<long>> parts;
    for (const std::string& text : texts) {
        parts.push_back(std::async(std::launch::async, count_words, std::cref(text)));
    }
    long words = 0;
    for (auto& part : parts) {
        words += part.get();
    }
    // [results_std]
    return words;
}

long words(const std::vector<std::string>& texts) {
    // [results]
    std::vector<quern::future<long>> parts;
    for (const std::string& text : texts) {
        parts.push_back(quern::async(count_words, std::cref(text)));
    }
    long words = 0;
    for (auto& part : parts) {
        words += part.get();
    }
    // [results]
    return words;
}

TEST(porting_from_std, async_and_futures) {
    EXPECT_EQ(words_std(k_texts), 6);
    EXPECT_EQ(words(k_texts), 6);
}

int width() { return 6; }
int height() { return 7; }

TEST(porting_from_std, a_result_of_two_results) {
    int area_std = 0;
    {
        // [two_results_std]
        auto w = std::async(std::launch::async, width);
        auto h = std::async(std::launch::async, height);
        auto area = std::async(std::launch::async, [&] { return w.get() * h.get(); });
        // [two_results_std]
        area_std = area.get();
    }
    EXPECT_EQ(area_std, 42);
    // [two_results]
    auto area = quern::dataflow(quern::unwrapping([](int w, int h) { return w * h; }),
                                quern::async(width), quern::async(height));
    // [two_results]
    EXPECT_EQ(area.get(), 42);
}

void scale_std(std::vector<double>& x, double a) {
    // [loop_std]
    const std::size_t n = x.size();
    const std::size_t parts = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (std::size_t part = 0; part < parts; ++part) {
        threads.emplace_back([&, part] {
            for (std::size_t i = part * n / parts; i < (part + 1) * n / parts; ++i) {
                x[i] *= a;
            }
        });
    }
    for (std::thread& each : threads) {
        each.join();
    }
    // [loop_std]
}

void scale(std::vector<double>& x, double a) {
    // [loop]
    quern::parallel_for(0, x.size(), [&](std::size_t i) { x[i] *= a; });
    // [loop]
}

TEST(porting_from_std, a_loop_over_threads) {
    std::vector<double> x(10'000, 1.0);
    scale_std(x, 2.0);
    scale(x, 3.0);
    EXPECT_EQ(x, std::vector<double>(10'000, 6.0));
}

TEST(porting_from_std, a_parallel_algorithm) {
    const std::vector<double> x(1'000, 0.5);
    const std::vector<double> y(1'000, 4.0);
    // [reduce]
    const double dot = quern::parallel_reduce(
        0, x.size(), 0.0, [&](std::size_t i) { return x[i] * y[i]; }, std::plus<>{});
    // [reduce]
    EXPECT_EQ(dot, 2'000.0);
}

// [queue]
class line_queue {
public:
    void push(std::string line) {
        {
            const std::scoped_lock lock(m_mutex);
            m_lines.push_back(std::move(line));
        }
        m_filled.notify_one();
    }

    std::string pop() {
        std::unique_lock lock(m_mutex);
        m_filled.wait(lock, [&] { return !m_lines.empty(); });
        std::string first = std::move(m_lines.front());
        m_lines.pop_front();
        return first;
    }

private:
    quern::mutex m_mutex;                // std::mutex
    quern::condition_variable m_filled;  // std::condition_variable
    std::deque<std::string> m_lines;
};
// [queue]

TEST(porting_from_std, a_queue_with_mutex_and_condition_variable) {
    constexpr int k_lines = 500;
    line_queue queue;
    auto received = quern::async([&] {
        std::size_t letters = 0;
        for (int i = 0; i < k_lines; ++i) {
            letters += queue.pop().size();
        }
        return letters;
    });
    for (int i = 0; i < k_lines; ++i) {
        queue.push("four");
    }
    EXPECT_EQ(received.get(), 4U * k_lines);
}

/// Counts how often each cell was updated, and whether every step saw the whole step before.
struct cells {
    explicit cells(int n) : updates(static_cast<std::size_t>(n)) {}
    void update(int i, int step) {
        const auto right = static_cast<std::size_t>(i + 1) % updates.size();
        const int seen = updates[right].load();
        in_step = in_step && (seen == step || seen == step + 1);
        ++updates[static_cast<std::size_t>(i)];
    }
    std::vector<std::atomic<int>> updates;
    std::atomic<bool> in_step{true};
};

void run_steps_std(cells& grid, int n, int steps) {
    // [barrier_std]
    std::barrier all(n);
    std::vector<std::jthread> threads;
    for (int i = 0; i < n; ++i) {
        threads.emplace_back([&, i] {
            for (int step = 0; step < steps; ++step) {
                grid.update(i, step);
                all.arrive_and_wait();
            }
        });
    }
    threads.clear();  // joins them
    // [barrier_std]
}

void run_steps(cells& grid, int n, int steps) {
    // [barrier]
    quern::barrier all(n);
    quern::task_group tasks;
    for (int i = 0; i < n; ++i) {
        tasks.run([&, i] {
            for (int step = 0; step < steps; ++step) {
                grid.update(i, step);
                all.arrive_and_wait();
            }
        });
    }
    tasks.wait();
    // [barrier]
}

TEST(porting_from_std, steps_with_a_barrier) {
    for (auto run : {run_steps_std, run_steps}) {
        cells grid(20);
        run(grid, 20, 50);
        EXPECT_TRUE(grid.in_step);
        for (const std::atomic<int>& each : grid.updates) {
            EXPECT_EQ(each, 50);
        }
    }
}

/// Handles events in a thread of its own until it is stopped. Returns the handled ones.
template <class Jthread, class Mutex, class ConditionVariable, class Latch>
std::vector<int> handle_events(int count) {
    std::vector<int> handled;
    Mutex m;
    ConditionVariable changed;
    std::deque<int> events;
    Latch done(count);
    const auto handle = [&](int e) {
        handled.push_back(e);
        done.count_down();
    };
    // [jthread]
    Jthread handler([&](std::stop_token stop) {
        std::unique_lock lock(m);
        while (changed.wait(lock, stop, [&] { return !events.empty(); })) {
            handle(events.front());
            events.pop_front();
        }
    });  // its destructor requests the stop and joins
    // [jthread]
    for (int e = 0; e < count; ++e) {
        const std::scoped_lock lock(m);
        events.push_back(e);
        changed.notify_one();
    }
    done.wait();
    return handled;
}

TEST(porting_from_std, a_thread_that_is_asked_to_stop) {
    constexpr int k_events = 100;
    std::vector<int> expected(k_events);
    std::iota(expected.begin(), expected.end(), 0);
    const auto with_std =
        handle_events<std::jthread, std::mutex, std::condition_variable_any, std::latch>(k_events);
    EXPECT_EQ(with_std, expected);
    const auto with_quern =
        handle_events<quern::jthread, quern::mutex, quern::condition_variable_any, quern::latch>(
            k_events);
    EXPECT_EQ(with_quern, expected);
}

TEST(porting_from_std, at_most_so_many_at_a_time) {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    const auto transfer = [&](int) {
        const int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        quern::this_task::yield();
        --inside;
    };
    // [semaphore]
    quern::counting_semaphore<> slots(4);  // std::counting_semaphore
    quern::task_group transfers;
    for (int i = 0; i < 1'000; ++i) {  // with std::thread: a thousand threads
        transfers.run([&, i] {
            slots.acquire();
            transfer(i);
            slots.release();
        });
    }
    transfers.wait();
    // [semaphore]
    EXPECT_GE(most, 1);
    EXPECT_LE(most, 4);
    EXPECT_EQ(inside, 0);
}

}  // namespace
