// SPDX-License-Identifier: BSL-1.0
// Tries what the system permits this process, so that `quern info` can say which features are
// missing and why. Each probe undoes its changes; none may fail, change a setting or take longer
// than a millisecond.
#pragma once

#include <quern/topology/system_root.hpp>

#include <string>
#include <vector>

namespace quern::tool {

struct feature {
    std::string name;
    bool available = false;
    std::string
        detail;  ///< the source if available; otherwise the reason, with the name of the error
};

/// Files are read below the root; system calls always concern this computer.
std::vector<feature> probe_features(const topology::system_root& root);

}  // namespace quern::tool
