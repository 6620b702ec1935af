// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/mutex.h>
#include <oneapi/tbb/queuing_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/task_group.h>

#include <mutex>

namespace bench::mutex_contention {

namespace {

template <class Mutex, class Lock>
job with(const arguments& a) {
    return tbb_job(a, [locks = a.size] {
        return of_account(locks, [](account& shared) {
            Mutex mutex;
            tbb::task_group group;
            for (long i = 0; i < k_tasks; ++i) {
                group.run([&] {
                    shared.use([&mutex](auto f) {
                        Lock lock(mutex);
                        f();
                    });
                });
            }
            group.wait();
        });
    });
}

const contender of_threads{"mutex_contention", "std_mutex",
                           with<std::mutex, std::unique_lock<std::mutex>>};
const contender sleeping{"mutex_contention", "mutex", with<tbb::mutex, tbb::mutex::scoped_lock>};
const contender spinning{"mutex_contention", "spin_mutex",
                         with<tbb::spin_mutex, tbb::spin_mutex::scoped_lock>};
const contender queuing{"mutex_contention", "queuing_mutex",
                        with<tbb::queuing_mutex, tbb::queuing_mutex::scoped_lock>};

}  // namespace

}  // namespace bench::mutex_contention
