// SPDX-License-Identifier: BSL-1.0
// Tries out what the system lets this process do, so that `quern info` can say what will be missing
// and why. Each probe undoes what it did; none may fail, change a setting or take longer than a
// millisecond.
#pragma once

#include <quern/topology/system_root.hpp>

#include <string>
#include <vector>

namespace quern::tool {

struct feature {
    std::string name;
    bool available = false;
    std::string
        detail;  ///< when available: from where; otherwise the reason, with the name of the error
};

/// Files are read below the root; system calls are always this computer's.
std::vector<feature> probe_features(const topology::system_root& root);

}  // namespace quern::tool
