// SPDX-License-Identifier: BSL-1.0
// Words for nodes, and sets of numbers.
#include "tree/nodes.hpp"

#include <array>

namespace quern::arrays::detail {

std::string tree_parts::place_of(const node_data& n) const {
    return file + ":" + std::to_string(n.where.line);
}

std::string tree_parts::words_of(const node_data& n) const {
    std::string variable = n.slot < variables.size() ? variables[n.slot] : std::string();
    switch (n.kind) {
        case node_kind::constant:
            return n.constant.is<array>() ? "constant array" : describe(n.constant);
        case node_kind::load:
            return variable;
        case node_kind::store:
            return variable + " =";
        case node_kind::branch:
            return "if";
        case node_kind::loop:
            return "while";
        case node_kind::for_each:
            return "for " + variable;
        case node_kind::parallel_for:
            return "parallel for " + variable;
        case node_kind::leave:
            return "break";
        case node_kind::next:
            return "continue";
        case node_kind::result:
            return "return";
        case node_kind::both:
            return "and";
        case node_kind::either:
            return "or";
        case node_kind::negation:
            return "not";
        case node_kind::make_tuple:
            return "tuple";
        case node_kind::make_slice:
            return "slice";
        case node_kind::item:
            return "element " + std::to_string(n.slot);
        case node_kind::call:
            return n.name;
        case node_kind::call_tree:
        case node_kind::call_foreign:
            return n.name + "()";
        case node_kind::block:
            break;
    }
    return "block";
}

std::string_view name_of(node_kind kind) noexcept {
    static constexpr std::array<std::string_view, 19> k_names = {
        "constant",     "load",       "store",      "block",  "branch",   "loop", "for_each",
        "parallel_for", "leave",      "next",       "result", "call",     "both", "either",
        "negation",     "make_tuple", "make_slice", "item",   "call_tree"};
    const auto at = static_cast<std::size_t>(kind);
    return at < k_names.size() ? k_names[at] : "call_foreign";
}

void number_set::add_all(const number_set& other) noexcept {
    for (std::size_t i = 0; i < m_words.size(); ++i) {
        m_words[i] |= other.m_words[i];
    }
}

bool number_set::meets(const number_set& other) const noexcept {
    for (std::size_t i = 0; i < m_words.size(); ++i) {
        if ((m_words[i] & other.m_words[i]) != 0) {
            return true;
        }
    }
    return false;
}

}  // namespace quern::arrays::detail
