// SPDX-License-Identifier: BSL-1.0
// The names that messages list, from the table of settings.
#pragma once

#include <quern/settings/settings.hpp>

#include <string>

namespace quern_test {

/// "threads, policy, …", each after the prefix.
inline std::string all_settings(const std::string& prefix = "", const std::string& without = "") {
    std::string names;
    for (const quern::setting& row : quern::setting_table()) {
        if (row.name != without) {
            names += (names.empty() ? "" : ", ") + prefix + std::string(row.name);
        }
    }
    return names;
}

/// The end of a message without a near match, in programs of the scheduler alone.
inline constexpr const char* k_elsewhere =
    "; counters, traces and reports come with quern/quern.hpp";

}  // namespace quern_test
