// SPDX-License-Identifier: BSL-1.0
// Explicit tasks through the entry points that gcc's compiled code calls.
#include "unit/omp/entry_points.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace quern_test::openmp;

class openmp_tasks : public with_members {};
QUERN_WITH_1_2_8_MEMBERS(openmp_tasks);

long fibonacci(long n) {
    if (n < 2) {
        return n;
    }
    long first = 0;
    long second = 0;
    spawn([&first, n] { first = fibonacci(n - 1); });
    spawn([&second, n] { second = fibonacci(n - 2); }, {.is_deferred = n % 3 != 0});
    GOMP_taskwait();
    return first + second;
}

TEST_P(openmp_tasks, taskwait_waits_for_the_children) {
    long result = 0;
    single_in_region(members(), [&result] { result = fibonacci(15); });
    EXPECT_EQ(result, 610);
}

TEST_P(openmp_tasks, each_member_makes_tasks) {
    std::vector<long> results(members(), 0);
    region(members(), [&] { results[static_cast<unsigned>(omp_get_thread_num())] = fibonacci(9); });
    EXPECT_EQ(results, std::vector<long>(members(), 34));
}

TEST_P(openmp_tasks, what_a_task_copies_is_destroyed) {
    const auto counted = std::make_shared<int>(7);
    std::atomic<int> sum{0};
    single_in_region(members(), [&] {
        for (int i = 0; i < 100; ++i) {
            spawn([counted, &sum] { sum += *counted; }, {.is_deferred = i % 4 != 0});
        }
    });
    EXPECT_EQ(sum, 700);
    EXPECT_EQ(counted.use_count(), 1);
}

TEST_P(openmp_tasks, final_tasks_run_their_children_at_once) {
    int order = 0;
    single_in_region(members(), [&order] {
        spawn(
            [&order] {
                spawn([&order] { EXPECT_EQ(order++, 0); });
                EXPECT_EQ(order++, 1);
            },
            {.is_final = true});
        GOMP_taskwait();
    });
    EXPECT_EQ(order, 2);
}

void make_descendants(std::atomic<int>& ended, int depth) {
    for (int i = 0; i < 3; ++i) {
        spawn([&ended, depth] {
            if (depth > 1) {
                make_descendants(ended, depth - 1);  // nothing waits for them but the taskgroup
            }
            ended += 1;
        });
    }
}

TEST_P(openmp_tasks, a_taskgroup_waits_for_all_descendants) {
    single_in_region(members(), [] {
        for (int round = 0; round < 5; ++round) {
            std::atomic<int> ended{0};
            task_group([&ended] { make_descendants(ended, 4); });
            EXPECT_EQ(ended, 3 + 9 + 27 + 81);
        }
    });
}

TEST_P(openmp_tasks, a_barrier_waits_for_all_tasks) {
    std::atomic<int> ended{0};
    const int each = 3 + 9 + 27;
    region(members(), [&] {
        for (int round = 1; round <= 5; ++round) {
            make_descendants(ended, 3);
            GOMP_barrier();
            EXPECT_EQ(ended, round * each * static_cast<int>(members()));
            GOMP_barrier();
        }
    });
}

TEST_P(openmp_tasks, a_task_follows_those_it_depends_on) {
    constexpr int k_length = 60;
    std::uint64_t value = 0;
    std::array<std::uint64_t, 4> seen{};
    single_in_region(members(), [&] {
        for (int i = 0; i < k_length; ++i) {
            depends writes({&value}, {});
            spawn([&value] { value = value * 3 + 1; }, {.on = &writes});
            for (std::uint64_t& each : seen) {
                depends reads({&each}, {&value});
                spawn([&value, &each] { each += value % 1000; }, {.on = &reads});
            }
        }
    });
    std::uint64_t expected = 0;
    std::uint64_t expected_seen = 0;
    for (int i = 0; i < k_length; ++i) {
        expected = expected * 3 + 1;
        expected_seen += expected % 1000;
    }
    EXPECT_EQ(value, expected);
    for (const std::uint64_t each : seen) {
        EXPECT_EQ(each, expected_seen);
    }
}

TEST_P(openmp_tasks, undeferred_tasks_and_taskwait_wait_for_what_they_depend_on) {
    single_in_region(members(), [] {
        for (int i = 0; i < 40; ++i) {
            int first = 0;
            int second = 0;
            depends writes_first({&first}, {});
            depends writes_second({&second}, {});
            depends reads_first({}, {&first});
            spawn([&first] { first = 1; }, {.on = &writes_first});
            spawn([&second] { second = 1; }, {.on = &writes_second});
            spawn([&first] { EXPECT_EQ(first, 1); }, {.is_deferred = false, .on = &reads_first});
            depends reads_second({}, {&second});
            GOMP_taskwait_depend(reads_second.words());
            EXPECT_EQ(second, 1);
            GOMP_taskwait();
        }
    });
}

TEST_P(openmp_tasks, taskyield_may_run_another_task) {
    std::atomic<int> ended{0};
    single_in_region(members(), [&ended] {
        for (int i = 0; i < 50; ++i) {
            spawn([&ended] {
                spawn([&ended] { ended += 1; });
                GOMP_taskyield();
            });
        }
    });
    EXPECT_EQ(ended, 50);
}

/// A thread that knows nothing of OpenMP and fulfills events.
class fulfiller {
public:
    fulfiller() : m_thread([this] { run(); }) {}
    ~fulfiller() {
        m_ends = true;
        m_thread.join();
    }
    void add(void* event) {
        const std::lock_guard held(m_mutex);
        m_events.push_back(event);
    }

private:
    void run() {
        while (!m_ends) {
            void* event = nullptr;
            {
                const std::lock_guard held(m_mutex);
                if (!m_events.empty()) {
                    event = m_events.front();
                    m_events.pop_front();
                }
            }
            if (event != nullptr) {
                omp_fulfill_event(event);
            } else {
                std::this_thread::yield();
            }
        }
    }

    std::mutex m_mutex;
    std::deque<void*> m_events;
    std::atomic<bool> m_ends{false};
    std::thread m_thread;
};

/// The body of a task with `detach`: gcc puts the event into the first word.
struct detached_body {
    void* event;
    fulfiller* by;  ///< null: the body fulfills it
    std::atomic<int>* bodies;
    void operator()() const {
        *bodies += 1;
        if (by != nullptr) {
            by->add(event);
        } else {
            omp_fulfill_event(event);
        }
    }
};

TEST_P(openmp_tasks, events_fulfilled_by_any_thread_end_their_tasks) {
    fulfiller another;
    std::atomic<int> bodies{0};
    int followers = 0;
    constexpr int k_tasks = 60;
    single_in_region(members(), [&] {
        for (int i = 0; i < k_tasks; ++i) {
            void* event = nullptr;
            depends on({&followers}, {});
            spawn(detached_body{nullptr, i % 3 != 0 ? &another : nullptr, &bodies},
                  {.is_deferred = i % 7 != 0, .on = i % 2 == 0 ? &on : nullptr, .event = &event});
            spawn([&followers] { followers += 1; }, {.on = &on});
            if (i % 16 == 0) {
                GOMP_taskwait();
                EXPECT_EQ(bodies, i + 1);
            }
        }
    });
    EXPECT_EQ(bodies, k_tasks);
    EXPECT_EQ(followers, k_tasks);
}

TEST_P(openmp_tasks, who_makes_a_task_may_fulfill_its_event) {
    std::atomic<int> bodies{0};
    struct plain_body {
        void* event;
        std::atomic<int>* bodies;
        void operator()() const { *bodies += 1; }
    };
    single_in_region(members(), [&bodies] {
        for (int i = 0; i < 50; ++i) {
            void* event = nullptr;
            spawn(plain_body{nullptr, &bodies}, {.event = &event});
            omp_fulfill_event(event);
        }
        GOMP_taskwait();
        EXPECT_EQ(bodies, 50);
    });
}

TEST_P(openmp_tasks, an_exception_is_caught_in_the_task_that_throws_it) {
    std::atomic<int> caught{0};
    single_in_region(members(), [&caught] {
        for (int i = 0; i < 40; ++i) {
            spawn([&caught, i] {
                try {
                    spawn([&caught] {
                        try {
                            throw std::runtime_error("inner");
                        } catch (const std::runtime_error& error) {
                            EXPECT_STREQ(error.what(), "inner");
                            caught += 1;
                        }
                    });
                    throw std::out_of_range("outer " + std::to_string(i));
                } catch (const std::out_of_range& error) {
                    GOMP_taskwait();  // other tasks throw while this exception is being handled
                    EXPECT_EQ(error.what(), "outer " + std::to_string(i));
                    caught += 1;
                }
            });
        }
    });
    EXPECT_EQ(caught, 80);
}

/// What gcc writes down of one reduced variable, of type long.
struct described_reduction {
    explicit described_reduction(long& reduced) {
        words = {1, 64, 8, 0, 0, 0, 0, reinterpret_cast<std::uintptr_t>(&reduced), 0, 0};
    }
    std::array<std::uintptr_t, 10> words{};

    void add_up(long& reduced, unsigned copies) const {
        for (unsigned i = 0; i < copies; ++i) {
            reduced += *reinterpret_cast<const long*>(words[2] + i * words[1]);
        }
    }
};

void add_in_reduction(long& original, long value) {
    void* address[2] = {&original, nullptr};
    GOMP_task_reduction_remap(1, 0, address);
    *static_cast<long*>(address[0]) += value;
}

TEST_P(openmp_tasks, a_taskgroup_reduces) {
    single_in_region(members(), [] {
        long sum = 5;
        described_reduction described(sum);
        GOMP_taskgroup_start();
        GOMP_taskgroup_reduction_register(described.words.data());
        for (long i = 1; i <= 100; ++i) {
            spawn([&sum, i] {
                add_in_reduction(sum, i);
                spawn([&sum, i] { add_in_reduction(sum, 1000 * i); });
            });
        }
        GOMP_taskgroup_end();
        described.add_up(sum, static_cast<unsigned>(omp_get_num_threads()));
        GOMP_taskgroup_reduction_unregister(described.words.data());
        EXPECT_EQ(sum, 5 + 5050 * 1001);
    });
}

TEST_P(openmp_tasks, recursion_goes_deeper_than_a_stack) {
    struct recursion {
        static long depth(long left) {
            if (left == 0) {
                return 0;
            }
            volatile char room[8192];  // so that some thousand tasks fill a stack
            room[0] = 1;
            long below = 0;
            spawn([&below, left] { below = depth(left - 1); });
            GOMP_taskwait();
            return below + room[0];
        }
    };
    long depth = 0;
    single_in_region(members(), [&depth] { depth = recursion::depth(1500); });
    EXPECT_EQ(depth, 1500);
}

}  // namespace
