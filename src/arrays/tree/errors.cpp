// SPDX-License-Identifier: BSL-1.0
#include "tree/errors.hpp"

#include <quern/arrays/errors.hpp>

#include <stdexcept>
#include <typeinfo>

namespace quern::arrays::detail {

namespace {

/// Exactly of that type: what is derived from it may carry more than a message.
template <class Error>
void throw_if_of_type(const std::exception& error, const std::string& text) {
    if (typeid(error) == typeid(Error)) {
        throw Error(text);
    }
}

template <class... Errors>
void throw_as_first_of(const std::exception& error, const std::string& text) {
    (throw_if_of_type<Errors>(error, text), ...);
}

std::string with_place(const tree_parts& all, const node_data& n, const std::string& why) {
    return all.place_of(n) + ": in " + all.name + ": " + why;
}

}  // namespace

void throw_with_place(const tree_parts& all, const node_data& n, const std::exception& error) {
    throw_as_first_of<std::invalid_argument, std::out_of_range, std::overflow_error, type_error,
                      zero_division_error, std::domain_error, std::length_error, std::range_error,
                      std::underflow_error, std::logic_error, std::runtime_error>(
        error, with_place(all, n, error.what()));
    throw;
}

void refuse_at(const tree_parts& all, const node_data& n, const std::string& why) {
    throw std::invalid_argument(with_place(all, n, why));
}

}  // namespace quern::arrays::detail
