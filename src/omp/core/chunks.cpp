// SPDX-License-Identifier: BSL-1.0
// Which iterations a member gets next. They are counted from 0, so that all loops are the same.
#include "core/cancellation.hpp"
#include "core/shares.hpp"
#include "core/waiting.hpp"

#include <quern/base/detail/clock.hpp>

#include <algorithm>

namespace quern::omp {

namespace {

/// Some iterations; none if both are the same. Returned in registers: in memory the compiler would
/// write them one by one and read them at once, and the read would wait for the writes.
struct piece {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
};

piece take_fixed(member& here, const share& one) noexcept {
    const std::uint64_t size = here.of->size;
    const std::uint64_t number = here.number;
    const std::uint64_t trip = here.trip++;
    if (one.chunk == 0) {
        const std::uint64_t each = one.count / size;
        const std::uint64_t more = one.count % size;
        const std::uint64_t from = number * each + std::min(number, more);
        return trip == 0 ? piece{from, from + each + (number < more ? 1 : 0)} : piece{};
    }
    const std::uint64_t chunks = one.count == 0 ? 0 : (one.count - 1) / one.chunk + 1;
    const std::uint64_t chunk = trip * size + number;
    if (chunk >= chunks) {
        return {};
    }
    const std::uint64_t from = chunk * one.chunk;
    return {from, from + std::min(one.count - from, one.chunk)};
}

piece take_some(share& one, std::uint64_t members) noexcept {
    std::uint64_t from = one.taken.load(std::memory_order_relaxed);
    std::uint64_t wanted = 0;
    do {
        if (from >= one.count) {
            return {};
        }
        const std::uint64_t left = one.count - from;
        wanted = one.schedule == schedule_kind::guided
                     ? std::max(one.chunk, ((left - 1) / members / one.multiple + 1) * one.multiple)
                     : one.chunk;
        wanted = std::min(wanted, left);
    } while (!one.taken.compare_exchange_weak(from, from + wanted, std::memory_order_relaxed));
    return {from, from + wanted};
}

/// A member takes several chunks at once while that many last less than this. Iterations that it
/// has taken are not for others, so it takes at most 8, and a sixteenth of what it has left.
constexpr double k_batch_ns = 500;
constexpr std::uint32_t k_most_in_batch = 8;
constexpr std::uint32_t k_part_of_left = 16;

/// How many chunks it takes now: twice as many as last time if those were quick, half as many if
/// they were slow.
QUERN_ALWAYS_INLINE std::uint32_t choose_batch(member& here) noexcept {
    static const std::uint64_t quick = detail::ticks_of_ns(k_batch_ns);
    const std::uint64_t now = detail::ticks();
    const std::uint64_t took = now - here.batch_time;
    here.batch_time = now;
    const std::uint32_t wanted = took < quick       ? here.batch * 2
                                 : took < 2 * quick ? here.batch
                                                    : here.batch / 2;
    here.batch = std::clamp(wanted, 1U, here.batch_limit);
    return here.batch;
}

QUERN_ALWAYS_INLINE piece piece_of(member& here, const share& one, chunk_numbers taken,
                                   std::uint32_t left) noexcept {
    here.batch_limit = std::clamp(left / k_part_of_left, 1U, k_most_in_batch);
    const std::uint64_t from = taken.from * one.chunk;
    return {from, taken.to * one.chunk};
}

/// The member's range is empty: half of what another one has left, whose first chunk it gets now.
/// The last chunk of the loop is for the first member that finds no other one.
QUERN_COLD piece take_of_others(member& here, share& one, std::size_t slot) noexcept {
    team& of = *here.of;
    for (unsigned i = 1; i < of.size; ++i) {
        const unsigned other = here.number + i;
        member& victim = of.members[other < of.size ? other : other - of.size];
        const chunk_numbers half = victim.ranges[slot].take_half();
        if (!half.is_empty()) {
            here.ranges[slot].set({half.from + 1, half.to});
            return piece_of(here, one, {half.from, half.from + 1}, half.to - half.from - 1);
        }
    }
    if (one.taken.load(std::memory_order_relaxed) != 0 ||
        one.taken.exchange(1, std::memory_order_relaxed) != 0) {
        return {};
    }
    return {(one.count - 1) / one.chunk * one.chunk, one.count};
}

/// A member that has had the last iteration gets no other: the compiled code takes the values of
/// lastprivate from the iteration that the member runs last.
QUERN_ALWAYS_INLINE piece take_divided(member& here, share& one) noexcept {
    if (here.last == one.count) {
        return {};
    }
    const std::size_t slot = here.constructs % k_shares;
    std::uint32_t left = 0;
    const chunk_numbers taken = here.ranges[slot].take(choose_batch(here), left);
    return taken.is_empty() ? take_of_others(here, one, slot) : piece_of(here, one, taken, left);
}

QUERN_ALWAYS_INLINE piece take_piece(member& here, share& one) noexcept {
    if (one.is_divided) {
        return take_divided(here, one);
    }
    if (one.schedule == schedule_kind::fixed) {
        return take_fixed(here, one);
    }
    if (one.schedule == schedule_kind::guided || one.may_overflow) {
        return take_some(one, here.of->size);
    }
    const std::uint64_t from = one.taken.fetch_add(one.chunk, std::memory_order_relaxed);
    return from >= one.count ? piece{} : piece{from, from + std::min(one.chunk, one.count - from)};
}

/// Null: the member has found no place for the construct, since the region is cancelled.
share* present_share(const member& here) noexcept {
    if (here.sharing == nullptr && !is_cancelled(here, cancelled_part::region)) {
        fatal("a loop or sections continue on a thread that has not begun them");
    }
    return here.sharing;
}

QUERN_ALWAYS_INLINE bool take_values(member& here, share& one, std::uint64_t& from,
                                     std::uint64_t& to) noexcept {
    const piece taken = take_piece(here, one);
    if (taken.from == taken.to) {
        return false;
    }
    here.first = taken.from;
    here.last = taken.to;
    from = one.start + taken.from * one.step;
    to = taken.to == one.count ? one.end : one.start + taken.to * one.step;
    return true;
}

}  // namespace

bool next_chunk(member& here, std::uint64_t& from, std::uint64_t& to) noexcept {
    share* const one = present_share(here);
    return one != nullptr && take_values(here, *one, from, to);
}

void begin_ordered(member& here) noexcept {
    const share* const one = present_share(here);
    wait_idly_until(here, [one, &here] {
        return one == nullptr || one->turn.load(std::memory_order_acquire) == here.first ||
               is_cancelled(here, cancelled_part::region);
    });
}

bool next_ordered_chunk(member& here, std::uint64_t& from, std::uint64_t& to) noexcept {
    share* const one = present_share(here);
    if (one == nullptr) {
        return false;
    }
    if (here.first != here.last) {
        // Its last chunk has ended: the turn passes on, in the order of the chunks.
        begin_ordered(here);
        one->turn.store(here.last, std::memory_order_seq_cst);
        here.first = here.last;
        wake_sleepers(*here.of);
    }
    return take_values(here, *one, from, to);
}

unsigned next_section(member& here) noexcept {
    share* const one = present_share(here);
    const piece taken = one != nullptr ? take_piece(here, *one) : piece{};
    return taken.from == taken.to ? 0 : static_cast<unsigned>(taken.to);
}

}  // namespace quern::omp
