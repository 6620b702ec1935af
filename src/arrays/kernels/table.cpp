// SPDX-License-Identifier: BSL-1.0
#include "kernels/table.hpp"

#include <quern/arrays/kernels.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quern::arrays {

namespace detail {

namespace {

std::vector<kernel_row> joined_rows() {
    std::vector<kernel_row> all = arithmetic_rows();
    for (const std::vector<kernel_row>& more : {comparison_rows(), math_rows()}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    std::ranges::sort(all, {}, &kernel_row::name);
    return all;
}

kernel_row* find_row(std::string_view name) {
    std::vector<kernel_row>& rows = kernel_rows();
    const auto at = std::ranges::lower_bound(rows, name, {}, &kernel_row::name);
    return at != rows.end() && at->name == name ? &*at : nullptr;
}

std::vector<dtype> inputs_of(const kernel_row& row, dtype type) {
    std::vector<dtype> inputs(row.inputs, type);
    if (row.condition_first) inputs.front() = dtype::boolean;
    return inputs;
}

}  // namespace

std::vector<kernel_row>& kernel_rows() {
    static std::vector<kernel_row> rows = joined_rows();
    return rows;
}

kernel_row& row_named(std::string_view name) {
    kernel_row* const row = find_row(name);
    if (row == nullptr) throw std::logic_error("arrays: no kernel '" + std::string(name) + "'");
    return *row;
}

}  // namespace detail

std::vector<kernel_signature> replaceable_kernels() {
    std::vector<kernel_signature> all;
    for (const detail::kernel_row& row : detail::kernel_rows()) {
        for (std::size_t i = 0; row.is_replaceable && i < row.of.size(); ++i) {
            const auto type = static_cast<dtype>(i);
            const detail::kernel& kernel = row.of[i];
            if (kernel.own == nullptr || kernel.computes != type) continue;
            all.push_back({row.name, detail::inputs_of(row, type), kernel.output});
        }
    }
    return all;
}

bool replace_kernel(std::string_view name, std::span<const dtype> inputs, dtype output,
                    kernel_loop loop, void* data) {
    detail::kernel_row* const row = detail::find_row(name);
    if (row == nullptr || !row->is_replaceable || inputs.empty()) return false;
    const dtype type = inputs.back();
    const detail::kernel before = row->at(type);
    if (before.own == nullptr || before.computes != type || before.output != output ||
        !std::ranges::equal(inputs, detail::inputs_of(*row, type))) {
        return false;
    }
    // Smaller types without a loop of their own have this one too.
    for (detail::kernel& each : row->of) {
        if (each.own != before.own) continue;
        each.loop = loop != nullptr ? loop : each.own;
        each.data = loop != nullptr ? data : nullptr;
    }
    return true;
}

}  // namespace quern::arrays
