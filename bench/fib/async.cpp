// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/threads.hpp"

#include <future>

namespace bench::fib {

namespace {

long with_thread(long n) {
    if (n < 2) {
        return n;
    }
    auto a = std::async(std::launch::async, with_thread, n - 1);
    const long b = with_thread(n - 2);
    return a.get() + b;
}

const contender async{"fib", "async", [](const arguments& a) {
                          return threads_job(a, repetition_of(with_thread, a));
                      }};

}  // namespace

}  // namespace bench::fib
