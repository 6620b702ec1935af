// SPDX-License-Identifier: BSL-1.0
// Limits of the process: an affinity mask that changes while runtimes live, no more threads, little
// address space.
#include "child.hpp"
#include "stress/process.hpp"

#include <quern/quern.hpp>

#include <sched.h>
#include <sys/resource.h>
#include <filesystem>
#include <system_error>

namespace {

using quern::runtime;
using quern::runtime_options;
using quern_test::alone;

long work(const runtime& rt) {
    return quern::async(rt,
                        [] {
                            return quern::parallel_reduce(
                                0, 100'000, 0L, [](int i) { return long(i % 7); }, std::plus<>{});
                        })
        .get();
}

/// As `taskset -a -p` does: for every thread of the process.
void allow(const cpu_set_t& cpus) {
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        ::sched_setaffinity(std::stoi(thread.path().filename()), sizeof cpus, &cpus);
    }
}

/// The first of the CPUs that the process may use.
cpu_set_t one_of(const cpu_set_t& cpus) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &cpus)) {
            CPU_SET(cpu, &one);
            break;
        }
    }
    return one;
}

cpu_set_t allowed() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    ::sched_getaffinity(0, sizeof cpus, &cpus);
    return cpus;
}

class affinity_test : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(on, affinity_test, testing::Values("none", "compact"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(affinity_test, that_shrinks_leaves_runtimes_running_and_counts_for_later_ones) {
    const auto end = alone([] {
        const cpu_set_t all = allowed();
        runtime before({.pools = {{.workers = 4, .binding = GetParam()}}});
        runtime automatic;
        const long expected = work(before);
        const unsigned workers = automatic.workers();
        std::atomic<bool> stop{false};
        auto across = quern::async(before, [&] {  // runs while the mask changes
            int rounds = 0;
            while (!stop.load()) {
                quern::this_task::yield();
                ++rounds;
            }
            return rounds;
        });
        allow(one_of(all));
        const unsigned later = runtime().workers();
        const bool goes_on = work(before) == expected && work(automatic) == expected;
        stop.store(true);
        across.get();
        allow(all);
        const unsigned again = runtime().workers();
        std::printf("%u workers, %u with one CPU, %u again\n", workers, later, again);
        return goes_on && automatic.workers() == workers && later == 1 && again == workers ? 0 : 1;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

/// Limits the process to this many more bytes of address space, while the object lives.
class address_space {
public:
    explicit address_space(std::size_t more) {
        ::getrlimit(RLIMIT_AS, &m_before);
        rlimit limit = m_before;
        limit.rlim_cur = quern_test::mapped_bytes() + more;
        ::setrlimit(RLIMIT_AS, &limit);
    }
    address_space(const address_space&) = delete;
    address_space& operator=(const address_space&) = delete;
    ~address_space() { ::setrlimit(RLIMIT_AS, &m_before); }

private:
    rlimit m_before{};
};

constexpr std::size_t k_mib = std::size_t{1} << 20;

/// Prints why a runtime cannot be made, 0 if it could.
int count_refusals() {
    try {
        const runtime rt(runtime_options::with_workers(2));
        return 0;
    } catch (const std::system_error& error) {
        std::puts(error.what());
        return 1;
    }
}

/// The C library reuses the stacks of ended threads.
void keep_thread_stacks(int count) {
    std::atomic<int> running{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&] {
            running.fetch_add(1);
            while (running.load() < count) {
                std::this_thread::yield();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

class limits_test : public testing::Test {
protected:
    void SetUp() override {
        if (quern_test::k_sanitized) {
            GTEST_SKIP() << "sanitizers need address space and threads of their own";
        }
    }
};

TEST_F(limits_test, no_address_space_for_a_stack_is_an_error_and_the_next_runtime_works) {
    const auto end = alone([] {
        keep_thread_stacks(2);
        int refusals = 0;
        {
            const address_space little(4 * k_mib);
            refusals = count_refusals();
        }
        work(runtime(runtime_options::with_workers(2)));
        return refusals;
    });
    EXPECT_EQ(end.status, 1) << end.output;
    EXPECT_NE(end.output.find("quern: pool 'default': worker 1 of 2 cannot be started: no address "
                              "space for its stack"),
              std::string::npos)
        << end.output;
}

TEST_F(limits_test, no_address_space_for_a_thread_is_an_error_and_the_next_runtime_works) {
    const auto end = alone([] {
        int refusals = 0;
        {
            const address_space little(11 * k_mib);  // a worker's own stack is 10 MiB
            refusals = count_refusals();
        }
        work(runtime(runtime_options::with_workers(2)));
        return refusals;
    });
    EXPECT_EQ(end.status, 1) << end.output;
    EXPECT_NE(end.output.find("quern: pool 'default': worker 1 of 2 cannot be started: no thread"),
              std::string::npos)
        << end.output;
}

TEST_F(limits_test, no_more_threads_for_the_user_is_an_error) {
    constexpr int k_not_limited = 77;
    const auto end = alone([] {
        constexpr uid_t k_nobody = 65534;
        if (::geteuid() == 0 && ::setuid(k_nobody) != 0) {
            return k_not_limited;
        }
        const rlimit none{1, 1};
        ::setrlimit(RLIMIT_NPROC, &none);
        try {
            std::thread([] {}).join();
            return k_not_limited;  // a user without this limit
        } catch (const std::system_error&) {
            return count_refusals();
        }
    });
    if (end.status == k_not_limited) {
        GTEST_SKIP() << "RLIMIT_NPROC does not concern this user";
    }
    EXPECT_EQ(end.status, 1) << end.output;
    EXPECT_NE(end.output.find("quern: pool 'default': worker 1 of 2 cannot be started: no thread"),
              std::string::npos)
        << end.output;
}

TEST_F(limits_test, no_stack_for_a_task_that_blocks_ends_the_program_with_a_message) {
    const auto end = alone([] {
        runtime rt(runtime_options::with_workers(1));
        work(rt);
        const address_space little(k_mib);
        quern::latch gate(1);
        quern::task_group group(rt.default_pool());
        for (int i = 0; i < 1000; ++i) {
            group.run([&] { gate.wait(); });
        }
        group.wait();
        return 0;
    });
    EXPECT_EQ(end.status, -1);
    EXPECT_NE(end.output.find("no address space is left for another task's stack"),
              std::string::npos)
        << end.output;
}

}  // namespace
