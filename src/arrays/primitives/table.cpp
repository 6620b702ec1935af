// SPDX-License-Identifier: BSL-1.0
// All primitives by name, and calls of them with defaults.
#include "primitives/families.hpp"
#include "primitives/parameters.hpp"

#include <quern/arrays/primitive.hpp>
#include <quern/base/detail/nearest_match.hpp>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace quern::arrays {

namespace {

using family = std::span<const primitive> (*)() noexcept;
constexpr family k_families[] = {
    detail::elementwise_primitives, detail::reduction_primitives, detail::shape_primitives,
    detail::indexing_primitives,    detail::creation_primitives,  detail::joining_primitives,
    detail::sorting_primitives,     detail::random_primitives,    detail::linear_algebra_primitives,
};

std::vector<primitive> joined() {
    std::vector<primitive> all;
    for (const family each : k_families) {
        const std::span<const primitive> of = each();
        all.insert(all.end(), of.begin(), of.end());
    }
    std::ranges::sort(all, {}, &primitive::name);
    return all;
}

[[noreturn]] void refuse_name(std::string_view name) {
    std::vector<std::string_view> names;
    for (const primitive& each : all_primitives()) {
        names.push_back(each.name);
    }
    std::string text = "no primitive '" + std::string(name) + "'";
    if (const std::string_view nearest = quern::detail::nearest_match(name, names);
        !nearest.empty()) {
        text += "; did you mean '" + std::string(nearest) + "'?";
    }
    throw std::invalid_argument(text);
}

[[noreturn]] void refuse_count(const primitive& of, std::size_t given, std::string_view missing) {
    throw std::invalid_argument(std::string(of.name) + "(" + std::string(of.parameters) +
                                ") with " + std::to_string(given) + " operands" +
                                (missing.empty() ? std::string(": too many")
                                                 : ": '" + std::string(missing) + "' is missing"));
}

const std::vector<primitive>& table() noexcept {
    static const std::vector<primitive> all = joined();
    return all;
}

}  // namespace

std::span<const primitive> all_primitives() noexcept { return table(); }

const primitive* find_primitive(std::string_view name) noexcept {
    const auto at = std::ranges::lower_bound(table(), name, {}, &primitive::name);
    return at != table().end() && at->name == name ? &*at : nullptr;
}

value call(std::string_view name, std::initializer_list<value> operands) {
    const primitive* const found = find_primitive(name);
    if (found == nullptr) refuse_name(name);
    const std::vector<detail::parameter> wanted = detail::parameters_of(found->parameters);
    if (operands.size() > wanted.size()) refuse_count(*found, operands.size(), {});
    values all(operands);
    for (std::size_t i = all.size(); i < wanted.size(); ++i) {
        if (!wanted[i].preset) refuse_count(*found, operands.size(), wanted[i].name);
        all.push_back(*wanted[i].preset);
    }
    return found->run(all);
}

}  // namespace quern::arrays
