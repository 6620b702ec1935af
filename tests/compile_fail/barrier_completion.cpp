// SPDX-License-Identifier: BSL-1.0
// The completion function of a barrier is called inside arrive(), where no caller could catch its
// exception: it must be noexcept.
#include <quern/sync/barrier.hpp>

// Holds: barrier: The completion function must be noexcept; another one does not compile.
#ifdef QUERN_MUST_COMPILE
using completion = void (*)() noexcept;
#else
using completion = void (*)();
#endif

int main() {
    quern::barrier<completion> all(1, []() noexcept {});
}
