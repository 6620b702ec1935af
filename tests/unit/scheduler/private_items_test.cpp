// SPDX-License-Identifier: BSL-1.0
// Private items of a worker's ready deque do not stay there while another worker is idle: not
// beside a long task, not while the other sleeps, and not on a system without a barrier for all
// processors.
#include <quern/task/task_group.hpp>

#include "in_child.hpp"
#include "on_runtime.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <cerrno>
#include <cstddef>

namespace {

constexpr int k_items = 300;

/// A task that makes others while all workers are busy, and then runs until they have run
/// elsewhere. True: they have.
bool others_run_beside_a_long_task(quern::runtime& rt, std::chrono::milliseconds idle) {
    std::atomic<int> ran = 0;
    quern_test::spin_gate made;
    std::atomic<bool> is_busy = false;
    auto busy = quern::async(rt, [&] {
        is_busy = true;
        made.pass();
    });
    auto maker = quern::async(rt, [&] {
        while (!is_busy) {
            std::this_thread::yield();
        }
        // No request is open: the first of these answers earlier ones.
        for (int i = 0; i < k_items; ++i) {
            quern::post([&ran] { ++ran; });
        }
        quern_test::spin_for(idle);
        made.open();
        return quern_test::eventually([&ran] { return ran == k_items; });
    });
    busy.get();
    return maker.get();
}

class private_items_test : public quern_test::on_runtime {};
QUERN_ON_STEALING_POLICIES(private_items_test);

// Holds: async: Where the policy steals, no ready task waits beside a long one while another worker
//     has nothing to do.
TEST_P(private_items_test, go_to_a_worker_that_has_nothing_while_their_own_runs_long) {
    if (!has_thieves()) {
        GTEST_SKIP() << "nobody else";
    }
    for (int round = 0; round < quern_test::scaled(20, 5); ++round) {
        EXPECT_TRUE(others_run_beside_a_long_task(rt, std::chrono::milliseconds(round % 3)));
    }
}

// Holds: async: Where the policy steals...
TEST_P(private_items_test, go_to_a_worker_that_slept_when_they_were_made) {
    if (!has_thieves()) {
        GTEST_SKIP() << "nobody else";
    }
    for (int round = 0; round < quern_test::scaled(20, 5); ++round) {
        rt.default_pool().get().wait_until_quiet();
        EXPECT_TRUE(inside([] {
            std::atomic<int> ran = 0;
            for (int i = 0; i < k_items; ++i) {
                quern::post([&ran] { ++ran; });
            }
            const bool all = quern_test::eventually([&ran] { return ran == k_items; });
            while (ran != k_items) {
                quern_test::let_others_run();
            }
            return all;
        }));
    }
}

/// The worker that goes to sleep fires timers in its last check: the items that these make ready
/// are its own.
TEST_P(private_items_test, run_when_a_timer_makes_them_ready_in_the_last_look) {
    const int naps = inside([] {
        constexpr int k_naps = quern_test::scaled(1'000, 200);
        for (int i = 0; i < k_naps; ++i) {
            quern::this_task::sleep_for(std::chrono::microseconds(i % 60));
        }
        return k_naps;
    });
    EXPECT_GT(naps, 0);
}

/// From now on the system call fails as unknown in this process.
bool forbid_membarrier() {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{sizeof code / sizeof code[0], code};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Holds: async: Where the policy steals...
TEST(private_items_without_barrier, are_public_at_once) {
    const quern_test::ended child = quern_test::in_child({}, [](int&, char**) {
        if (!forbid_membarrier()) {
            return 77;
        }
        quern::runtime rt(quern::runtime_options::with_workers(2));
        bool all = true;
        for (int round = 0; round < 5; ++round) {
            all = all && others_run_beside_a_long_task(rt, std::chrono::milliseconds(round));
        }
        const int sum = quern::async(rt, [] {
                            std::vector<quern::future<int>> parts;
                            for (int i = 0; i < k_items; ++i) {
                                parts.push_back(quern::async([] { return 1; }));
                            }
                            int total = 0;
                            for (auto& part : parts) {
                                total += part.get();
                            }
                            return total;
                        }).get();
        return all && sum == k_items ? 0 : 1;
    });
    if (child.status == 77) {
        GTEST_SKIP() << "the system lets no process forbid itself anything";
    }
    EXPECT_EQ(child.status, 0) << child.output;
}

}  // namespace
