// SPDX-License-Identifier: BSL-1.0
// Reads JSON with the library of Niels Lohmann: answers of running programs, and logs of counters.
// Missing keys read as empty, by value(key, fallback) and items_of, so that answers of older
// programs can be read too.
#pragma once

#include <nlohmann/json.hpp>

namespace quern::tool {

using json_value = nlohmann::json;

/// The text is not JSON, or a value has an unexpected type.
using json_error = nlohmann::json::exception;

/// The elements of the array at that key; empty if there is none.
inline const json_value& items_of(const json_value& object, const char* key) {
    static const json_value k_none = json_value::array();
    const auto found = object.find(key);
    return found == object.end() ? k_none : *found;
}

/// Whether the key exists and is not null.
inline bool has(const json_value& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && !found->is_null();
}

}  // namespace quern::tool
