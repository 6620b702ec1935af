// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/threads.hpp"

#include <mutex>
#include <thread>
#include <vector>

namespace bench::mutex_contention {

namespace {

void with_threads(account& shared) {
    std::mutex mutex;
    std::vector<std::jthread> threads;
    for (long i = 0; i < k_tasks; ++i) {
        threads.emplace_back([&] {
            shared.use([&mutex](auto f) {
                const std::scoped_lock lock(mutex);
                f();
            });
        });
    }
}

const contender of_threads{"mutex_contention", "std_mutex", [](const arguments& a) {
                               return threads_job(
                                   a, [locks = a.size] { return of_account(locks, with_threads); });
                           }};

}  // namespace

}  // namespace bench::mutex_contention
