// SPDX-License-Identifier: BSL-1.0
#include "primitives/chains.hpp"

#include "kernels/chain.hpp"
#include "primitives/families.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace quern::arrays::detail {

namespace {

using part = std::shared_ptr<const pending>;
using parts_of_call = std::array<part, 3>;

/// Not an array and not a number: what the primitive makes of it is its affair.
bool is_other(const value& v) noexcept { return !v.is<array>() && !is_scalar(v); }

bool is_large(const value& v) noexcept {
    const auto* const a = v.as<array>();
    return a != nullptr && a->size() >= k_least_in_chain;
}

/// Type and shape without elements, which choosing a loop does not read.
array without_elements(const pending& of) {
    return {nullptr, of.of.output, of.shape, c_strides(of.of.output, of.shape), nullptr, false};
}

parts_of_call taken_parts(std::span<const value> operands, operand_bits may_be_pending) {
    parts_of_call parts;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto* const held = operands[i].as<foreign>();
        if (held == nullptr || (may_be_pending >> i & 1) == 0) continue;
        parts[i] = std::static_pointer_cast<const pending>(held->object);
    }
    return parts;
}

/// Computes a part, and the array takes its place.
void compute_part(part& of, array& to) {
    to = detail::computed(*of);
    of.reset();
}

/// Sums up what the parts and the arrays have; parts that would be too much are computed.
void count_steps(pending& made) {
    const auto count = [&made] {
        made.steps = 1;
        made.leaves = 0;
        for (std::size_t i = 0; i < made.inputs; ++i) {
            made.steps += made.parts[i] != nullptr ? made.parts[i]->steps : 0;
            made.leaves += made.parts[i] != nullptr ? made.parts[i]->leaves : 1;
        }
    };
    count();
    if (made.steps <= k_most_steps && made.leaves <= k_most_leaves) return;
    for (std::size_t i = 0; i < made.inputs; ++i) {
        if (made.parts[i] != nullptr) compute_part(made.parts[i], made.arrays[i]);
    }
    count();
}

pending pending_of(const chosen_loop& found, parts_of_call&& parts) {
    pending made{found.row, *found.of, common_shape(found.inputs.all()), found.inputs.size};
    for (std::size_t i = 0; i < made.inputs; ++i) {
        made.arrays[i] = found.inputs.arrays[i];
        made.parts[i] = std::move(parts[i]);
        // One that is repeated is computed once.
        if (made.parts[i] != nullptr && !(made.parts[i]->shape == made.shape)) {
            compute_part(made.parts[i], made.arrays[i]);
        }
    }
    count_steps(made);
    return made;
}

bool is_large(const extents& shape) noexcept {
    std::ptrdiff_t count = 1;
    for (const std::ptrdiff_t length : shape) {
        count *= length;
    }
    return count >= k_least_in_chain;
}

std::map<std::string_view, operation> all_chain_operations() {
    std::map<std::string_view, operation> all;
    for (const primitive& each : elementwise_primitives()) {
        const std::string_view loops = loops_of(each.name);
        if (!loops.empty()) all.emplace(each.name, operation(loops));
    }
    return all;
}

}  // namespace

const operation* chain_operation_of(const primitive& what) {
    static const std::map<std::string_view, operation> all = all_chain_operations();
    const auto found = all.find(what.name);
    return found != all.end() ? &found->second : nullptr;
}

value run_in_chain(const operation& of, const primitive& what, std::span<value> operands,
                   operand_bits may_be_pending, bool may_defer) {
    parts_of_call parts = taken_parts(operands, may_be_pending);
    const bool has_parts = std::ranges::any_of(parts, [](const part& p) { return p != nullptr; });
    const bool begins = may_defer && std::ranges::any_of(operands, [](const value& v) {
                            return detail::is_large(v);
                        });
    if (!has_parts && !begins) return what.run(operands);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (parts[i] != nullptr) operands[i] = without_elements(*parts[i]);
    }
    const bool is_usual = std::ranges::none_of(operands, is_other);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        // Exponents are looked at when the loop is chosen.
        if (parts[i] == nullptr || (is_usual && !(of.is_power && i == 1))) continue;
        operands[i] = detail::computed(*parts[i]);
        parts[i].reset();
    }
    if (!is_usual) return what.run(operands);
    pending made = pending_of(choose_loop(of, operands), std::move(parts));
    if (!may_defer || !detail::is_large(made.shape)) return detail::computed(made);
    return foreign{std::make_shared<pending>(std::move(made))};
}

}  // namespace quern::arrays::detail
