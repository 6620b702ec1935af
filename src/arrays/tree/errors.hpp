// SPDX-License-Identifier: BSL-1.0
// Where in the source an error comes from, placed before its message.
#pragma once

#include "tree/nodes.hpp"

#include <exception>
#include <string>

namespace quern::arrays::detail {

/// Called in a handler. Throws an exception of the same type with "file:line: in name: " before the
/// message, or the present one if it is of a type that is not known here.
[[noreturn]] void throw_with_place(const tree_parts& all, const node_data& n,
                                   const std::exception& error);

/// Throws std::invalid_argument with the place.
[[noreturn]] void refuse_at(const tree_parts& all, const node_data& n, const std::string& why);

/// Returns f(), whose errors get the place of the node.
template <class F>
auto at_place(const tree_parts& all, const node_data& n, F&& f) {
    try {
        return f();
    } catch (const std::exception& error) {
        throw_with_place(all, n, error);
    }
}

}  // namespace quern::arrays::detail
