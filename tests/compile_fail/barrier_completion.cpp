// SPDX-License-Identifier: BSL-1.0
// The completion function of a barrier is called in the middle of arriving, where nobody could
// catch what it throws: it must be noexcept.
#include <quern/sync/barrier.hpp>

#ifdef QUERN_MUST_COMPILE
using completion = void (*)() noexcept;
#else
using completion = void (*)();
#endif

int main() {
    quern::barrier<completion> all(1, []() noexcept {});
}
