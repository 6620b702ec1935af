// SPDX-License-Identifier: BSL-1.0
// fib without any runtime. Used by the problems fib and oversubscribed.
#pragma once

namespace bench::fib {

[[gnu::noinline]] static long serial(long n) {  // noinline: a real call, as in the tasks
    return n < 2 ? n : serial(n - 1) + serial(n - 2);
}

}  // namespace bench::fib
