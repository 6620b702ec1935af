// SPDX-License-Identifier: BSL-1.0
// Copies by the kernel, which returns an error for an unmapped address.
#include <quern/base/detail/peek.hpp>

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace quern::detail {

bool copy_if_there(void* to, const void* from, std::size_t bytes) noexcept {
    const iovec here{to, bytes};
    const iovec there{const_cast<void*>(from), bytes};
    // The raw system call: a sanitizer would report the intercepted function as an access.
    return ::syscall(SYS_process_vm_readv, ::getpid(), &here, 1UL, &there, 1UL, 0UL) ==
           static_cast<long>(bytes);
}

}  // namespace quern::detail
