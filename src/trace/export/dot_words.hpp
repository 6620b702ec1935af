// SPDX-License-Identifier: BSL-1.0
// Text in Graphviz's language. Private to the layer.
#pragma once

#include "analyse/words.hpp"

#include <string>

namespace quern::trace::detail {

/// Within quotes: only quotes and backslashes mean something there, and lines must not end.
inline std::string dot_words(const std::string& text) {
    std::string out;
    for (const char c : clean_text(text)) {
        if (c == '"' || c == '\\') {
            out.push_back('\\');
        }
        out.push_back(static_cast<unsigned char>(c) < ' ' ? ' ' : c);
    }
    return out;
}

}  // namespace quern::trace::detail
