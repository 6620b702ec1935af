// SPDX-License-Identifier: BSL-1.0
#include "kernels/elementwise.hpp"

#include "kernels/tiles.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace quern::arrays::detail {

namespace {

constexpr std::ptrdiff_t k_buffered = 256;  // elements that are converted at a time

struct operand {
    char* data = nullptr;
    std::array<std::ptrdiff_t, k_max_dimensions> strides{};
    kernel_loop cast = nullptr;  ///< from the array's type to the loop's, or back for the output
    std::ptrdiff_t size = 0;     ///< bytes of the loop's type
};

/// Dimensions from the outermost to the innermost; the loop runs along the last.
struct plan {
    kernel_loop loop;
    void* data;
    std::size_t operands = 0;
    std::size_t dimensions = 0;
    std::array<std::ptrdiff_t, k_max_dimensions> lengths{};
    std::array<operand, k_most_operands> of{};
    bool has_casts = false;

    operand& output() noexcept { return of[operands - 1]; }
};

void swap_dimensions(plan& p, std::size_t a, std::size_t b) noexcept {
    std::swap(p.lengths[a], p.lengths[b]);
    for (std::size_t i = 0; i < p.operands; ++i) {
        std::swap(p.of[i].strides[a], p.of[i].strides[b]);
    }
}

/// Small strides of the output innermost: insertion sort, which keeps the order of equal ones.
void order_dimensions(plan& p) noexcept {
    for (std::size_t i = 1; i < p.dimensions; ++i) {
        for (std::size_t j = i; j > 0; --j) {
            const auto& strides = p.output().strides;
            if (std::abs(strides[j - 1]) >= std::abs(strides[j])) break;
            detail::swap_dimensions(p, j - 1, j);
        }
    }
}

bool can_join(const plan& p, std::size_t outer) noexcept {
    for (std::size_t i = 0; i < p.operands; ++i) {
        const auto& strides = p.of[i].strides;
        if (strides[outer] != strides[outer + 1] * p.lengths[outer + 1]) return false;
    }
    return true;
}

void remove_dimension(plan& p, std::size_t which) noexcept {
    for (std::size_t d = which; d + 1 < p.dimensions; ++d) {
        detail::swap_dimensions(p, d, d + 1);
    }
    --p.dimensions;
}

/// Dimensions of length 1 go; two that lie one after the other in all operands become one.
void join_dimensions(plan& p) noexcept {
    for (std::size_t d = p.dimensions; d-- > 0;) {
        if (p.lengths[d] == 1) detail::remove_dimension(p, d);
    }
    detail::order_dimensions(p);
    for (std::size_t d = p.dimensions; d-- > 1;) {
        if (!detail::can_join(p, d - 1)) continue;
        p.lengths[d] *= p.lengths[d - 1];
        detail::remove_dimension(p, d - 1);
    }
    if (p.dimensions == 0) {
        p.lengths[0] = 1;
        p.dimensions = 1;
        for (operand& each : p.of) {
            each.strides[0] = 0;
        }
    }
}

/// A call of the loop for a few elements costs more than they do: a longer dimension goes inside.
void avoid_short_rows(plan& p) noexcept {
    constexpr std::ptrdiff_t k_short = 8;
    const std::size_t inner = p.dimensions - 1;
    if (p.lengths[inner] >= k_short) return;
    const auto* const longest =
        std::max_element(p.lengths.begin(), p.lengths.begin() + p.dimensions);
    if (*longest < 4 * k_short) return;
    const auto which = static_cast<std::size_t>(longest - p.lengths.begin());
    for (std::size_t d = which; d < inner; ++d) {
        detail::swap_dimensions(p, d, d + 1);
    }
}

/// Converts inputs into buffers, runs the loop on these, and converts the output back.
void run_buffered(const plan& p, std::array<char*, k_most_operands> at, std::ptrdiff_t count) {
    alignas(64) char memory[k_most_operands][k_buffered * 8];
    const std::size_t inner = p.dimensions - 1;
    const std::size_t last = p.operands - 1;
    for (std::ptrdiff_t done = 0; done < count; done += k_buffered) {
        const std::ptrdiff_t n = std::min(k_buffered, count - done);
        std::array<char*, k_most_operands> arguments{};
        std::array<std::ptrdiff_t, k_most_operands> strides{};
        for (std::size_t i = 0; i < p.operands; ++i) {
            const operand& each = p.of[i];
            strides[i] = each.cast == nullptr ? each.strides[inner] : each.size;
            arguments[i] = each.cast == nullptr ? at[i] : memory[i];
            if (each.cast == nullptr || i == last) continue;
            std::array<char*, 2> pair = {at[i], memory[i]};
            const std::array<std::ptrdiff_t, 2> steps = {each.strides[inner], each.size};
            each.cast(pair.data(), &n, steps.data(), nullptr);
        }
        p.loop(arguments.data(), &n, strides.data(), p.data);
        if (const operand& out = p.of[last]; out.cast != nullptr) {
            std::array<char*, 2> pair = {memory[last], at[last]};
            const std::array<std::ptrdiff_t, 2> steps = {out.size, out.strides[inner]};
            out.cast(pair.data(), &n, steps.data(), nullptr);
        }
        for (std::size_t i = 0; i < p.operands; ++i) {
            at[i] += n * p.of[i].strides[inner];
        }
    }
}

void run_row(const plan& p, const std::array<char*, k_most_operands>& at, std::ptrdiff_t count) {
    if (p.has_casts) return detail::run_buffered(p, at, count);
    std::array<char*, k_most_operands> arguments = at;
    std::array<std::ptrdiff_t, k_most_operands> strides{};
    for (std::size_t i = 0; i < p.operands; ++i) {
        strides[i] = p.of[i].strides[p.dimensions - 1];
    }
    p.loop(arguments.data(), &count, strides.data(), p.data);
}

/// Elements [begin, end) in the order of the dimensions.
void run_range(const plan& p, std::ptrdiff_t begin, std::ptrdiff_t end) {
    const std::size_t inner = p.dimensions - 1;
    std::array<std::ptrdiff_t, k_max_dimensions> index{};
    std::ptrdiff_t rest = begin;
    for (std::size_t d = p.dimensions; d-- > 0;) {
        index[d] = rest % p.lengths[d];
        rest /= p.lengths[d];
    }
    std::array<char*, k_most_operands> at{};
    for (std::size_t i = 0; i < p.operands; ++i) {
        at[i] = p.of[i].data;
        for (std::size_t d = 0; d < p.dimensions; ++d) {
            at[i] += index[d] * p.of[i].strides[d];
        }
    }
    while (begin < end) {
        const std::ptrdiff_t n = std::min(end - begin, p.lengths[inner] - index[inner]);
        detail::run_row(p, at, n);
        begin += n;
        if (begin == end) return;
        // The whole row has ended: to the first element of the next one.
        for (std::size_t i = 0; i < p.operands; ++i) {
            at[i] -= index[inner] * p.of[i].strides[inner];
        }
        index[inner] = 0;
        for (std::size_t d = inner; d-- > 0;) {
            const bool carries = ++index[d] == p.lengths[d];
            const std::ptrdiff_t steps = carries ? 1 - p.lengths[d] : 1;
            for (std::size_t i = 0; i < p.operands; ++i) {
                at[i] += steps * p.of[i].strides[d];
            }
            if (!carries) break;
            index[d] = 0;
        }
    }
}

void put_operand(operand& to, const array& from, const extents& shape, dtype loop_type,
                 bool is_output) {
    to.data = reinterpret_cast<char*>(from.bytes());
    const extents strides = detail::broadcast_strides(from, shape);
    std::copy(strides.begin(), strides.end(), to.strides.begin());
    to.size = static_cast<std::ptrdiff_t>(size_of(loop_type));
    to.cast = is_output ? detail::cast_loop(loop_type, from.type())
                        : detail::cast_loop(from.type(), loop_type);
}

/// The first and the last byte that an array reaches.
std::pair<const std::byte*, const std::byte*> reach(const array& of) noexcept {
    const std::byte* first = of.bytes();
    const std::byte* last = first + size_of(of.type());
    for (std::size_t d = 0; d < of.dimensions(); ++d) {
        const std::ptrdiff_t span = (of.shape()[d] - 1) * of.strides()[d];
        (span < 0 ? first : last) += span;
    }
    return {first, last};
}

bool is_same_view(const array& a, const array& b) noexcept {
    return a.bytes() == b.bytes() && a.type() == b.type() && a.shape() == b.shape() &&
           a.strides() == b.strides();
}

}  // namespace

extents broadcast_strides(const array& of, const extents& shape) {
    extents strides = shape;
    const std::size_t skipped = shape.size() - of.dimensions();
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const bool repeats = d < skipped || (of.shape()[d - skipped] == 1 && shape[d] != 1);
        strides[d] = repeats ? 0 : of.strides()[d - skipped];
    }
    return strides;
}

void run_elementwise(const elementwise_run& run) {
    const array& output = *run.output;
    if (output.size() == 0) return;
    plan p{run.loop, run.data};
    p.operands = run.inputs.size() + 1;
    p.dimensions = output.dimensions();
    std::copy(output.shape().begin(), output.shape().end(), p.lengths.begin());
    for (std::size_t i = 0; i < run.inputs.size(); ++i) {
        detail::put_operand(p.of[i], run.inputs[i], output.shape(), run.input_types[i], false);
    }
    detail::put_operand(p.output(), output, output.shape(), run.output_type, true);
    for (const operand& each : p.of) {
        p.has_casts = p.has_casts || each.cast != nullptr;
    }
    detail::join_dimensions(p);
    detail::avoid_short_rows(p);
    detail::for_tiles(
        output.size(), run.is_dear ? k_dear_tile : k_tile, k_tile_step,
        [&p](std::ptrdiff_t begin, std::ptrdiff_t end) { detail::run_range(p, begin, end); });
}

array without_overlap(const array& input, const array& output) {
    if (input.size() == 0 || output.size() == 0) return input;
    const auto [first, last] = detail::reach(input);
    const auto [out_first, out_last] = detail::reach(output);
    if (last <= out_first || out_last <= first || detail::is_same_view(input, output)) return input;
    array copy(input.type(), input.shape());
    const dtype type = input.type();
    detail::run_elementwise(
        {detail::copy_loop(type), nullptr, {&input, 1}, {&type, 1}, &copy, type, false});
    return copy;
}

void run_kernel(const kernel_row& row, const kernel& of, std::span<const array> inputs,
                const array& output) {
    std::array<dtype, k_most_operands> types{};
    types.fill(of.computes);
    if (row.condition_first) types[0] = dtype::boolean;
    detail::run_elementwise(
        {of.loop, of.data, inputs, {types.data(), inputs.size()}, &output, of.output, row.is_dear});
}

}  // namespace quern::arrays::detail
