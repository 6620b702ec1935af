// SPDX-License-Identifier: BSL-1.0
// Energy from the kernel's powercap zones (RAPL): packages, domains within them, the whole
// platform. The hardware counters wrap after minutes; this source makes sums that do not. It
// reports why a value is missing rather than 0 J: most virtual machines have no zones, or zones
// that never change, and on most other machines only root may read the files.
#pragma once

#include <quern/counters/source.hpp>
#include <quern/topology/system_root.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace quern::counters {

/// Counters, in joules since the first reading: /power/package, the sum of all packages, including
/// other programs; /power/{core,uncore,dram}, the sums of the zones of that name within packages,
/// where core and uncore are part of the package; /power/psys, the platform.
///
/// A package zone of intel-rapl-mmio is left out if intel-rapl has the same package. A sum is
/// unavailable if one of its zones cannot be read. A zone is stuck if it shows 0, or has not
/// changed for a second; this state can end. A zone may wrap twice within minutes to hours at its
/// highest power. If two readings are that far apart, the energy is lost and the zone is absent
/// from then on, so long measurements need readings in between.
class energy_source final : public source {
public:
    using clock = std::function<std::uint64_t()>;  ///< nanoseconds

    /// A custom clock is for tests.
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
