// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/threads.hpp"

#include <future>

namespace bench::serial_spawn {

namespace {

void with_futures(auto tasks, long n) {
    std::vector<std::future<void>> all;
    all.reserve(static_cast<std::size_t>(n));
    for (long i = 0; i < n; ++i) {
        tasks.spawn(i, [&all](auto task) { all.push_back(std::async(std::launch::async, task)); });
    }
    for (auto& one : all) {
        one.get();
    }
}

const contender async{"serial_spawn", "async", [](const arguments& a) {
                          return threads_job(
                              a, null_problem(a.size, [](auto t, long n) { with_futures(t, n); }));
                      }};

}  // namespace

}  // namespace bench::serial_spawn
