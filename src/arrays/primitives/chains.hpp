// SPDX-License-Identifier: BSL-1.0
// Elementwise primitives whose result only another one needs: the first one checks its operands
// and gives what it would compute; the last one computes all together, block by block.
#pragma once

#include "primitives/operations.hpp"

#include <quern/arrays/primitive.hpp>

#include <cstdint>
#include <span>

namespace quern::arrays::detail {

/// The operation of a primitive that may be part of a chain; null for others. Lives as long as the
/// program. Thread safe.
const operation* chain_operation_of(const primitive& what);

/// Which operands may be results of such primitives that are not computed yet: one bit for each.
using operand_bits = std::uint8_t;

/// What `what.run(operands)` gives, with the same errors. With `may_defer` a large result may be a
/// `foreign` that holds a `pending`; only run_in_chain knows what to do with it. The operands are
/// moved from. Requires: `of` belongs to `what`; no memory that an operand uses is written before
/// the result is computed.
value run_in_chain(const operation& of, const primitive& what, std::span<value> operands,
                   operand_bits may_be_pending, bool may_defer);

}  // namespace quern::arrays::detail
