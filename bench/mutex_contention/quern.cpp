// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <mutex>

namespace bench::mutex_contention {

namespace {

template <class Mutex>
job with(const arguments& a) {
    return quern_job(a, [locks = a.size] {
        return of_account(locks, [](account& shared) {
            Mutex mutex;
            quern::task_group group;
            for (long i = 0; i < k_tasks; ++i) {
                group.run([&] {
                    shared.use([&mutex](auto f) {
                        const std::scoped_lock lock(mutex);
                        f();
                    });
                });
            }
            group.wait();
        });
    });
}

const contender own{"mutex_contention", "mutex", with<quern::mutex>};
const contender of_threads{"mutex_contention", "std_mutex", with<std::mutex>};  // blocks the worker

}  // namespace

}  // namespace bench::mutex_contention
