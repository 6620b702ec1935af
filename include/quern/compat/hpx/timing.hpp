// SPDX-License-Identifier: BSL-1.0
// hpx::chrono's timer and clock, and hpx::cout.
#pragma once

#include <chrono>
#include <cstdint>
#include <iostream>
#include <ostream>

namespace hpx::chrono {

/// Nanoseconds of the steady clock.
struct high_resolution_clock {
    static std::uint64_t now() noexcept {
        return static_cast<std::uint64_t>(
            std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
    }
};

/// Seconds since it was made or restarted.
class high_resolution_timer {
public:
    static double now() noexcept { return double(high_resolution_clock::now()) * 1e-9; }
    void restart() noexcept { m_start = high_resolution_clock::now(); }
    double elapsed() const noexcept { return double(elapsed_nanoseconds()) * 1e-9; }
    std::int64_t elapsed_microseconds() const noexcept { return elapsed_nanoseconds() / 1000; }
    std::int64_t elapsed_nanoseconds() const noexcept {
        return static_cast<std::int64_t>(high_resolution_clock::now() - m_start);
    }

private:
    std::uint64_t m_start = high_resolution_clock::now();
};

}  // namespace hpx::chrono

namespace hpx {

namespace util {
using chrono::high_resolution_timer;
}

#if defined(QUERN_HPX_LOCALITIES)
namespace detail {
std::ostream& output_by_lines();
}
/// Writes whole lines to the stdout of the process, which the starter of the ranks forwards: those
/// of tasks that write at the same time are not mixed. What has no end of line is written by a
/// flush.
inline std::ostream& cout = detail::output_by_lines();
#else
inline std::ostream& cout = std::cout;
#endif
inline std::ostream& cerr = std::cerr;
using std::endl;
using std::flush;

}  // namespace hpx
