// SPDX-License-Identifier: BSL-1.0
// Writes an exposition of OpenMetrics 1.0.0: families with type, unit and help, in base units,
// which their names end with. Private to the layer.
#pragma once

#include <quern/counters/counter.hpp>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quern::counters::detail {

class openmetrics {
public:
    /// Names and values; one without a value is left out.
    using labels = std::vector<std::pair<std::string_view, std::string>>;

    /// A sample in the unit of the counter. The help is asked for where the family is new.
    void add(std::string name, std::string_view unit, counter_kind kind,
             const std::function<std::string()>& help, const labels& where, double value);

    /// All values that there are; those of several runtimes have the label "runtime".
    void add(std::span<const snapshot> of_runtimes);

    std::string take();

private:
    std::vector<std::string> m_order;
    std::map<std::string, std::string> m_families;  ///< the samples of one must stand together
};

}  // namespace quern::counters::detail
