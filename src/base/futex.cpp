// SPDX-License-Identifier: BSL-1.0
// Sleeping and waking by the Linux futex system call, private to the process.
// Called when a worker or an outside thread sleeps; never on a spawn path.
#include <quern/base/detail/atomics.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <ctime>

namespace quern::detail {

namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* limit) noexcept {
    static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
    return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word),
                     operation | FUTEX_PRIVATE_FLAG, value, limit, nullptr, 0);
}

}  // namespace

void std_atomics::futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    futex(word, FUTEX_WAIT, expected, nullptr);
}

bool std_atomics::futex_wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                                 std::chrono::nanoseconds limit) noexcept {
    constexpr std::int64_t k_ns_per_s = 1'000'000'000;
    const auto ns = limit.count() > 0 ? limit.count() : 0;
    const timespec relative{static_cast<std::time_t>(ns / k_ns_per_s),
                            static_cast<long>(ns % k_ns_per_s)};
    return futex(word, FUTEX_WAIT, expected, &relative) == 0 || errno != ETIMEDOUT;
}

void std_atomics::futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept {
    futex(word, FUTEX_WAKE, static_cast<std::uint32_t>(count), nullptr);
}

}  // namespace quern::detail
