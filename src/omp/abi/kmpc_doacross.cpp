// SPDX-License-Identifier: BSL-1.0
// clang's entry points for loops with `ordered(n)` and `ordered depend`: a bit for each iteration,
// which the members of the team share.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/kmpc.hpp"
#include "core/shares.hpp"
#include "core/waiting.hpp"

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

using namespace quern::omp;

namespace {

/// What a member knows of such a loop. The bits belong to the construct: its share has them in
/// `turn`, and in `taken` how many members have left.
struct ordered_nest {
    ordered_nest* outer = nullptr;
    share* construct = nullptr;
    std::atomic<std::uint64_t>* bits = nullptr;
    std::vector<kmpc_dimension> dimensions;
};

constinit thread_local ordered_nest* tls_nest = nullptr;

std::uint64_t length_of(const kmpc_dimension& one) noexcept {
    if (one.step > 0) {
        return one.first > one.last
                   ? 0
                   : static_cast<std::uint64_t>((one.last - one.first) / one.step) + 1;
    }
    return one.first < one.last
               ? 0
               : static_cast<std::uint64_t>((one.first - one.last) / -one.step) + 1;
}

/// The number of an iteration, counted over all loops. False: it is outside of the loops.
bool number_of(const ordered_nest& nest, const std::int64_t* at, std::uint64_t& number) noexcept {
    number = 0;
    for (std::size_t i = 0; i < nest.dimensions.size(); ++i) {
        const kmpc_dimension& one = nest.dimensions[i];
        const bool is_up = one.step > 0;
        if (is_up ? at[i] < one.first || at[i] > one.last : at[i] > one.first || at[i] < one.last) {
            return false;
        }
        const std::int64_t index =
            is_up ? (at[i] - one.first) / one.step : (one.first - at[i]) / -one.step;
        number = number * length_of(one) + static_cast<std::uint64_t>(index);
    }
    return true;
}

ordered_nest& present_nest() noexcept {
    if (tls_nest == nullptr) {
        fatal("`ordered depend` on a thread that has not begun a loop with ordered(n)");
    }
    return *tls_nest;
}

constexpr std::uint64_t k_bits = 64;

/// The first member makes the bits, the others wait for them.
std::atomic<std::uint64_t>* share_bits(member& here, bool is_first, std::uint64_t count) {
    share& one = *here.sharing;
    if (is_first) {
        auto* const made = new std::atomic<std::uint64_t>[count / k_bits + 1] {};
        one.turn.store(reinterpret_cast<std::uint64_t>(made), std::memory_order_release);
        wake_sleepers(*here.of);
        return made;
    }
    wait_idly_until(here, [&one] { return one.turn.load(std::memory_order_acquire) != 0; });
    return reinterpret_cast<std::atomic<std::uint64_t>*>(one.turn.load(std::memory_order_relaxed));
}

}  // namespace

QUERN_OMP_ENTRY void __kmpc_doacross_init(kmpc_place*, std::int32_t, std::int32_t loops,
                                          const kmpc_dimension* of_loops) {
    member& here = this_member();
    auto* const nest = new ordered_nest;
    nest->outer = std::exchange(tls_nest, nest);
    if (here.of->size == 1) {
        return;  // its iterations are in order
    }
    std::uint64_t count = 1;
    for (std::int32_t i = 0; i < loops; ++i) {
        nest->dimensions.push_back(of_loops[i]);
        count *= length_of(of_loops[i]);
    }
    const bool is_first = enter_share(here, {});
    nest->construct = here.sharing;
    nest->bits = share_bits(here, is_first, count);
    here.sharing = nullptr;
}

QUERN_OMP_ENTRY void __kmpc_doacross_wait(kmpc_place*, std::int32_t, const std::int64_t* at) {
    const ordered_nest& nest = present_nest();
    std::uint64_t number = 0;
    if (nest.bits == nullptr || !number_of(nest, at, number)) {
        return;
    }
    const std::atomic<std::uint64_t>& word = nest.bits[number / k_bits];
    const std::uint64_t bit = std::uint64_t{1} << number % k_bits;
    wait_idly_until(this_member(),
                    [&word, bit] { return (word.load(std::memory_order_acquire) & bit) != 0; });
}

QUERN_OMP_ENTRY void __kmpc_doacross_post(kmpc_place*, std::int32_t, const std::int64_t* at) {
    const ordered_nest& nest = present_nest();
    std::uint64_t number = 0;
    if (nest.bits == nullptr || !number_of(nest, at, number)) {
        return;
    }
    nest.bits[number / k_bits].fetch_or(std::uint64_t{1} << number % k_bits,
                                        std::memory_order_seq_cst);
    wake_sleepers(*this_member().of);
}

QUERN_OMP_ENTRY void __kmpc_doacross_fini(kmpc_place*, std::int32_t) {
    const std::unique_ptr<ordered_nest> nest(&present_nest());
    tls_nest = nest->outer;
    if (nest->bits == nullptr) {
        return;
    }
    member& here = this_member();
    share& one = *nest->construct;
    if (one.taken.fetch_add(1, std::memory_order_acq_rel) + 1 == here.of->size) {
        delete[] nest->bits;
    }
    here.sharing = &one;
    leave_share(here);
}

// NOLINTEND(readability-identifier-naming)
