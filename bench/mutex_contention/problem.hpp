// SPDX-License-Identifier: BSL-1.0
// mutex_contention: 16 tasks lock and unlock one mutex, with a little work inside and four times as
// much outside. Value: ns for one lock, its work and its unlock. Size: the locks of all tasks.
#pragma once

#include "../harness/figures.hpp"
#include "../harness/work.hpp"

namespace bench::mutex_contention {

constexpr long k_tasks = 16;
constexpr long k_steps_inside = 10;  // 10-15 ns
constexpr long k_steps_outside = 40;

struct account {
    explicit account(long locks) : locks_per_task(locks / k_tasks) {}

    /// One task. `locked(f)` calls f() while it holds the mutex.
    template <class Locked>
    void use(Locked locked) {
        for (long i = 0; i < locks_per_task; ++i) {
            locked([this] {
                work(k_steps_inside);
                ++balance;
            });
            work(k_steps_outside);
        }
    }

    long locks_per_task;
    long balance = 0;
};

/// `run(account)` makes k_tasks tasks that use it, and waits for them.
template <class Run>
measurement of_account(long locks, Run run) {
    const long sum = locks / k_tasks * k_tasks;
    const measurement m = timed(
        [&] {
            account shared(locks);
            run(shared);
            return shared.balance;
        },
        [&](long balance) { expect_equal("the balance", balance, sum); });
    return per_step(m, sum);
}

}  // namespace bench::mutex_contention
