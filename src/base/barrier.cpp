// SPDX-License-Identifier: BSL-1.0
// The heavy half of the asymmetric fence: Linux's membarrier, which makes every thread of the
// process execute a fence. Called by thieves and by workers about to sleep; never on a spawn path.
#include <quern/base/detail/atomics.hpp>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace quern::detail {

namespace {

long membarrier(int command) noexcept { return ::syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

bool std_atomics::heavy_barrier() noexcept {
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

/// A process must register first; registering again costs a system call.
bool std_atomics::has_heavy_barrier() noexcept {
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 && heavy_barrier();
}

}  // namespace quern::detail
