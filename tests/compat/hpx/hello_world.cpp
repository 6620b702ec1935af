// SPDX-License-Identifier: BSL-1.0
// A greeting from every worker: tasks are hinted to workers, and made again when another worker has
// stolen them. main itself is a task.
#include <hpx/format.hpp>
#include <hpx/hpx_main.hpp>
#include <hpx/include/lcos.hpp>
#include <hpx/include/parallel_executors.hpp>
#include <hpx/include/threads.hpp>
#include <hpx/iostream.hpp>

#include <cstddef>
#include <mutex>
#include <set>
#include <vector>

std::size_t hello_world_worker(std::size_t desired) {
    if (hpx::get_worker_thread_num() != desired) {
        return std::size_t(-1);
    }
    hpx::util::format_to(hpx::cout, "hello world from OS-thread {1} on locality {2}\n", desired,
                         hpx::get_locality_id())
        << std::flush;
    // Long enough for the others to wake up and take their tasks.
    hpx::this_thread::sleep_for(std::chrono::milliseconds(1));
    return desired;
}

int main() {
    std::size_t const os_threads = hpx::get_os_thread_count();
    std::set<std::size_t> attendance;
    for (std::size_t os_thread = 0; os_thread < os_threads; ++os_thread) {
        attendance.insert(os_thread);
    }
    while (!attendance.empty()) {
        std::vector<hpx::future<std::size_t>> futures;
        futures.reserve(attendance.size());
        for (std::size_t worker : attendance) {
            hpx::execution::parallel_executor exec(
                hpx::threads::thread_priority::default_, hpx::threads::thread_stacksize::default_,
                hpx::threads::thread_schedule_hint(static_cast<std::int16_t>(worker)));
            futures.push_back(hpx::async(exec, hello_world_worker, worker));
        }
        hpx::spinlock mtx;
        hpx::wait_each(hpx::unwrapping([&](std::size_t t) {
                           if (std::size_t(-1) != t) {
                               std::lock_guard<hpx::spinlock> lk(mtx);
                               attendance.erase(t);
                           }
                       }),
                       futures);
    }
    // In a task there is a worker.
    return hpx::get_worker_thread_num() < os_threads ? 0 : 1;
}
