// SPDX-License-Identifier: BSL-1.0
// The names that messages list, from the table of settings.
#pragma once

#include <quern/scheduler/settings.hpp>

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

}  // namespace quern_test
