// SPDX-License-Identifier: BSL-1.0
// Energy by the kernel's powercap zones (RAPL): packages, what is measured within them, the whole
// platform. The counters of the hardware wrap after minutes; this makes sums of them that do not.
// Says why there is none rather than 0 J: most virtual machines have no zones, or zones that never
// move, and the files are readable by root alone on most others.
#pragma once

#include <quern/counters/source.hpp>
#include <quern/topology/system_root.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace quern::counters {

/// Counters, in joules since the first reading: /power/package, the sum of all packages, whatever
/// runs there; /power/{core,uncore,dram}, the sums of the zones of that name within packages, where
/// core and uncore are part of the package; /power/psys, the platform.
///
/// Zones of intel-rapl-mmio that show a package which intel-rapl shows too are left out. A sum with
/// a zone that cannot be read is not made. A zone is stuck when it shows 0, or has not moved for a
/// second; it may move later. When two readings lie so far apart that a zone may have wrapped
/// twice, which takes minutes to hours at its highest power, its energy is lost, from then on
/// absent: whoever measures long runs reads now and then.
class energy_source final : public source {
public:
    using clock = std::function<std::uint64_t()>;  ///< nanoseconds

    /// The clock is another one in tests alone.
    explicit energy_source(topology::system_root root = {}, clock now = {});
    ~energy_source() override;

    const std::vector<counter_info>& counters() const override;
    bool has_workers() const override { return false; }
    std::vector<raw_reading> read(const place& where) override;

private:
    struct parts;

    std::unique_ptr<parts> m_parts;
};

}  // namespace quern::counters
