// SPDX-License-Identifier: BSL-1.0
#include "kernels/chain.hpp"

#include "kernels/tiles.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace quern::arrays::detail {

namespace {

/// Elements of a block: a few of float64 fit into the first cache.
constexpr std::ptrdiff_t k_block = 1024;
/// Bytes from one scratch block to the next: not a multiple of a page.
constexpr std::ptrdiff_t k_scratch = k_block * 8 + 192;
/// Blocks are parts of rows; with shorter rows a call of a loop costs more than its elements do.
constexpr std::ptrdiff_t k_least_row = 128;

/// Where a step finds an input or puts its output.
struct place {
    enum class where : std::uint8_t { leaf, scratch, output };
    where kind = where::leaf;
    std::uint8_t number = 0;
    dtype type = dtype::float64;
};

/// A call of a loop for each block.
struct step {
    kernel_loop loop = nullptr;
    void* data = nullptr;
    std::uint8_t inputs = 0;
    std::array<place, k_most_operands> at{};  ///< inputs, then the output
};

/// An array that is read or written, with strides in the dimensions of the chain.
struct chain_operand {
    char* data = nullptr;
    std::array<std::ptrdiff_t, k_max_dimensions> strides{};
};

/// Dimensions from the outermost to the innermost; blocks lie along the last.
struct chain_plan {
    std::size_t dimensions = 0;
    std::array<std::ptrdiff_t, k_max_dimensions> lengths{};
    std::size_t operands = 0;  ///< leaves, then the output
    std::array<chain_operand, k_most_leaves + 1> of{};
    std::vector<step> steps{};
    std::size_t scratches = 0;
    bool is_dear = false;
};

/// The operations in the order in which they run, and which scratch block each one writes.
class chain_steps {
public:
    chain_steps(chain_plan& plan, std::vector<array>& leaves) : m_plan(plan), m_leaves(leaves) {}

    void add_last(const pending& last) { add(last, true); }

private:
    place add(const pending& one, bool is_last) {
        step made{one.of.loop, one.of.data, static_cast<std::uint8_t>(one.inputs), {}};
        for (std::size_t i = 0; i < one.inputs; ++i) {
            made.at[i] = of_type(input(one, i), one.input_type(i));
        }
        m_plan.is_dear |= one.row->is_dear;
        if (is_last) {
            made.at[one.inputs] = {place::where::output, 0, one.of.output};
        } else {
            made.at[one.inputs] = output_beside(made, one.of.output);
        }
        m_plan.steps.push_back(made);
        return made.at[one.inputs];
    }

    place input(const pending& one, std::size_t i) {
        if (one.parts[i] != nullptr) return add(*one.parts[i], false);
        m_leaves.push_back(one.arrays[i]);
        return {place::where::leaf, static_cast<std::uint8_t>(m_leaves.size() - 1),
                one.arrays[i].type()};
    }

    /// Converted, if it has another type.
    place of_type(place from, dtype type) {
        if (from.type == type) return from;
        step made{cast_loop(from.type, type), nullptr, 1, {from}};
        made.at[1] = output_beside(made, type);
        m_plan.steps.push_back(made);
        return made.at[1];
    }

    /// The scratch block of an input of the same type, which is used for the last time, or one that
    /// is free. Those of the other inputs are free from then on.
    place output_beside(const step& of, dtype type) {
        std::optional<place> taken;
        for (std::size_t i = 0; i < of.inputs; ++i) {
            if (of.at[i].kind != place::where::scratch || of.at[i].type != type) continue;
            taken = of.at[i];
            break;
        }
        const place made = taken ? *taken : place{place::where::scratch, free_scratch(), type};
        for (std::size_t i = 0; i < of.inputs; ++i) {
            if (of.at[i].kind != place::where::scratch) continue;
            m_is_used[of.at[i].number] = of.at[i].number == made.number;
        }
        return made;
    }

    std::uint8_t free_scratch() {
        const auto free = std::find(m_is_used.begin(), m_is_used.end(), false);
        const auto number = static_cast<std::size_t>(free - m_is_used.begin());
        if (free == m_is_used.end()) m_is_used.push_back(false);
        m_is_used[number] = true;
        m_plan.scratches = m_is_used.size();
        return static_cast<std::uint8_t>(number);
    }

    chain_plan& m_plan;
    std::vector<array>& m_leaves;
    std::vector<bool> m_is_used{};
};

/// Two dimensions that lie one after the other in all operands become one; those of length 1 go.
void put_dimensions(chain_plan& p, const extents& shape, std::span<const extents> strides) {
    std::size_t made = 0;  // from the innermost on, turned round at the end
    for (std::size_t d = shape.size(); d-- > 0;) {
        if (shape[d] == 1) continue;
        bool joins = made > 0;
        for (std::size_t i = 0; i < p.operands && joins; ++i) {
            joins = strides[i][d] == p.of[i].strides[made - 1] * p.lengths[made - 1];
        }
        if (joins) {
            p.lengths[made - 1] *= shape[d];
            continue;
        }
        for (std::size_t i = 0; i < p.operands; ++i) {
            p.of[i].strides[made] = strides[i][d];
        }
        p.lengths[made++] = shape[d];
    }
    std::reverse(p.lengths.begin(), p.lengths.begin() + made);
    for (std::size_t i = 0; i < p.operands; ++i) {
        std::reverse(p.of[i].strides.begin(), p.of[i].strides.begin() + made);
    }
    p.dimensions = made;
}

chain_plan plan_of(const pending& last, const array& output) {
    chain_plan p;
    std::vector<array> leaves;
    leaves.reserve(k_most_leaves + 1);
    chain_steps(p, leaves).add_last(last);
    leaves.push_back(output);
    p.operands = leaves.size();
    std::array<extents, k_most_leaves + 1> strides;
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        p.of[i].data = reinterpret_cast<char*>(leaves[i].bytes());
        strides[i] = detail::broadcast_strides(leaves[i], last.shape);
    }
    detail::put_dimensions(p, last.shape, {strides.data(), leaves.size()});
    return p;
}

using addresses = std::array<char*, k_most_leaves + 1>;

/// All steps for the elements of a part of a row.
void run_block(const chain_plan& p, const addresses& at, char* scratch, std::ptrdiff_t count) {
    const std::size_t inner = p.dimensions - 1;
    const std::size_t output = p.operands - 1;
    for (const step& each : p.steps) {
        std::array<char*, k_most_operands> arguments{};
        std::array<std::ptrdiff_t, k_most_operands> strides{};
        for (std::size_t i = 0; i <= each.inputs; ++i) {
            const place& from = each.at[i];
            if (from.kind == place::where::scratch) {
                arguments[i] = scratch + from.number * k_scratch;
                strides[i] = static_cast<std::ptrdiff_t>(size_of(from.type));
                continue;
            }
            const std::size_t number = from.kind == place::where::output ? output : from.number;
            arguments[i] = at[number];
            strides[i] = p.of[number].strides[inner];
        }
        each.loop(arguments.data(), &count, strides.data(), each.data);
    }
}

/// Elements [begin, end) in C order.
void run_part(const chain_plan& p, std::ptrdiff_t begin, std::ptrdiff_t end) {
    const auto room = static_cast<std::ptrdiff_t>(p.scratches) * k_scratch;
    const array scratch(dtype::boolean, {room});
    char* const memory = reinterpret_cast<char*>(scratch.bytes());
    const std::ptrdiff_t row = p.lengths[p.dimensions - 1];
    while (begin < end) {
        addresses at{};
        std::ptrdiff_t rest = begin;
        for (std::size_t i = 0; i < p.operands; ++i) {
            at[i] = p.of[i].data;
        }
        for (std::size_t d = p.dimensions; d-- > 0;) {
            const std::ptrdiff_t index = rest % p.lengths[d];
            rest /= p.lengths[d];
            for (std::size_t i = 0; i < p.operands; ++i) {
                at[i] += index * p.of[i].strides[d];
            }
        }
        const std::ptrdiff_t n = std::min({k_block, end - begin, row - begin % row});
        detail::run_block(p, at, memory, n);
        begin += n;
    }
}

/// One operation after the other, each with an array of its own.
array computed_by_steps(const pending& last) {
    std::array<array, 3> inputs = last.arrays;
    std::array<dtype, 3> types{};
    for (std::size_t i = 0; i < last.inputs; ++i) {
        if (last.parts[i] != nullptr) inputs[i] = detail::computed_by_steps(*last.parts[i]);
        types[i] = last.input_type(i);
    }
    array output(last.of.output, last.shape);
    detail::run_elementwise({last.of.loop,
                             last.of.data,
                             {inputs.data(), last.inputs},
                             {types.data(), last.inputs},
                             &output,
                             last.of.output,
                             last.row->is_dear});
    return output;
}

}  // namespace

array computed(const pending& last) {
    if (last.steps == 1) return detail::computed_by_steps(last);
    array output(last.of.output, last.shape);
    const chain_plan p = detail::plan_of(last, output);
    if (p.lengths[p.dimensions - 1] < k_least_row) return detail::computed_by_steps(last);
    const auto steps = static_cast<std::ptrdiff_t>(p.steps.size());
    const std::ptrdiff_t tile = p.is_dear ? k_dear_tile : std::max(k_dear_tile, k_tile / steps);
    detail::for_tiles(
        output.size(), tile, k_tile_step,
        [&p](std::ptrdiff_t begin, std::ptrdiff_t end) { detail::run_part(p, begin, end); });
    return output;
}

}  // namespace quern::arrays::detail
