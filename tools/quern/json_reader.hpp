// SPDX-License-Identifier: BSL-1.0
// Reading JSON by the library of Niels Lohmann: answers of programs that `quern` looks into, and
// logs of counters. What is not there is read as empty, by value(key, fallback) and items_of, so
// that an answer of an older program can be read too.
#pragma once

#include <nlohmann/json.hpp>

namespace quern::tool {

using json_value = nlohmann::json;

/// Text that is no JSON, or a value of another type than expected.
using json_error = nlohmann::json::exception;

/// The elements of the array of that key; none where there is none.
inline const json_value& items_of(const json_value& object, const char* key) {
    static const json_value k_none = json_value::array();
    const auto found = object.find(key);
    return found == object.end() ? k_none : *found;
}

/// Whether it has that key, and not null there.
inline bool has(const json_value& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && !found->is_null();
}

}  // namespace quern::tool
