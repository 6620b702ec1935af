// SPDX-License-Identifier: BSL-1.0
// The tree that the command line names.
#pragma once

#include "tree.hpp"

#include "../common/cli.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace uts {

/// Throws usage_error for a name of none.
inline const tree& tree_named(const std::string& name) {
    std::vector<std::string_view> names;
    for (const tree& t : k_trees) {
        if (t.name == name) {
            return t;
        }
        names.push_back(t.name);
    }
    throw apps::usage_error(
        fmt::format("--tree is '{}'; {}", name, apps::accepted_text(name, names)));
}

}  // namespace uts
