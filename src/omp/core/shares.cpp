// SPDX-License-Identifier: BSL-1.0
// Loops, sections and singles. Iterations are counted from 0, so that all loops are the same.
#include "core/shares.hpp"

#include "core/waiting.hpp"

#include <algorithm>
#include <mutex>

namespace quern::omp {

first_share describe_loop(bool up, std::uint64_t start, std::uint64_t end, std::uint64_t step,
                          schedule_kind schedule, std::uint64_t chunk) noexcept {
    first_share made;
    made.schedule = schedule;
    made.start = start;
    made.step = step;
    made.end = end;
    const std::uint64_t stride = up ? step : 0 - step;
    const std::uint64_t length = up ? end - start : start - end;
    made.count = length == 0 ? 0 : (length - 1) / stride + 1;
    made.chunk = chunk;
    return made;
}

void set_up(share& one, const first_share& as, unsigned members) noexcept {
    one.schedule = as.schedule;
    one.start = as.start;
    one.step = as.step;
    one.end = as.end;
    one.count = as.count;
    one.chunk = std::min(as.chunk, std::max<std::uint64_t>(as.count, 1));
    if (one.chunk == 0 && as.schedule != schedule_kind::fixed) {
        one.chunk = 1;
    }
    if (members == 1 && as.step != 0) {
        one.chunk = std::max<std::uint64_t>(as.count, 1);  // there is no one to share it with
    }
    // Members that look in vain add to `taken` as well.
    one.may_overflow = one.count > ~std::uint64_t{0} / 2 / (members + 1);
    one.taken.store(0, std::memory_order_relaxed);
    one.turn.store(0, std::memory_order_relaxed);
    one.left = 0;
}

bool enter_share(member& here, const first_share& as) noexcept {
    team& of = *here.of;
    const std::uint64_t construct = ++here.constructs;
    share& one = share_of(of, construct);
    here.sharing = &one;
    here.trip = here.first = here.last = 0;
    if (of.size == 1) {
        set_up(one, as, 1);
        return true;
    }
    for (;;) {
        {
            const std::lock_guard<detail::spin_lock> held(one.lock);
            if (one.construct == construct) {
                return false;
            }
            if (one.left == of.size) {
                one.construct = construct;
                set_up(one, as, of.size);
                return true;
            }
        }
        // Some member is still in the construct k_shares before this one.
        wait_idly_until(here, [&one, &of, construct] {
            const std::lock_guard<detail::spin_lock> held(one.lock);
            return one.left == of.size || one.construct == construct;
        });
    }
}

void leave_share(member& here) noexcept {
    share* const one = here.sharing;
    here.sharing = nullptr;
    if (here.of->size == 1 || one == nullptr) {
        return;
    }
    bool is_last = false;
    {
        const std::lock_guard<detail::spin_lock> held(one->lock);
        is_last = ++one->left == here.of->size;
        if (is_last) {
            delete one->marks.exchange(nullptr, std::memory_order_relaxed);
        }
    }
    if (is_last) {
        wake_sleepers(*here.of);
    }
}

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
                     ? std::max(one.chunk, (left - 1) / members + 1)
                     : one.chunk;
        wanted = std::min(wanted, left);
    } while (!one.taken.compare_exchange_weak(from, from + wanted, std::memory_order_relaxed));
    return {from, from + wanted};
}

QUERN_ALWAYS_INLINE piece take_piece(member& here, share& one) noexcept {
    if (one.schedule == schedule_kind::fixed) {
        return take_fixed(here, one);
    }
    if (one.schedule == schedule_kind::guided || one.may_overflow) {
        return take_some(one, here.of->size);
    }
    const std::uint64_t from = one.taken.fetch_add(one.chunk, std::memory_order_relaxed);
    return from >= one.count ? piece{} : piece{from, from + std::min(one.chunk, one.count - from)};
}

/// What a member must have done before it can be in a construct.
share& present_share(const member& here) noexcept {
    if (here.sharing == nullptr) {
        fatal("a loop or sections continue on a thread that has not begun them");
    }
    return *here.sharing;
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

iteration_marks::iteration_marks(unsigned loops, const std::uint64_t* extents)
    : m_extents(extents, extents + loops) {
    std::uint64_t count = 1;
    for (const std::uint64_t each : m_extents) {
        count *= each;
    }
    m_bits = std::make_unique<std::atomic<std::uint64_t>[]>(count / 64 + 1);
}

std::uint64_t iteration_marks::number_of(const std::uint64_t* at) const noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < m_extents.size(); ++i) {
        number = number * m_extents[i] + at[i];
    }
    return number;
}

void iteration_marks::set(const std::uint64_t* at) noexcept {
    const std::uint64_t number = number_of(at);
    m_bits[number / 64].fetch_or(std::uint64_t{1} << number % 64, std::memory_order_seq_cst);
}

bool iteration_marks::is_set(const std::uint64_t* at) const noexcept {
    const std::uint64_t number = number_of(at);
    return (m_bits[number / 64].load(std::memory_order_acquire) >> number % 64 & 1) != 0;
}

void enter_nest(member& here, const first_share& as, unsigned loops, const std::uint64_t* extents) {
    const bool is_first = enter_share(here, as);
    if (here.of->size == 1) {
        return;
    }
    share& one = *here.sharing;
    if (is_first) {
        one.marks.store(new iteration_marks(loops, extents), std::memory_order_seq_cst);
        wake_sleepers(*here.of);
    } else {
        wait_idly_until(here,
                        [&one] { return one.marks.load(std::memory_order_acquire) != nullptr; });
    }
}

bool next_chunk(member& here, std::uint64_t& from, std::uint64_t& to) noexcept {
    return take_values(here, present_share(here), from, to);
}

void begin_ordered(member& here) noexcept {
    const share& one = present_share(here);
    wait_idly_until(
        here, [&one, &here] { return one.turn.load(std::memory_order_acquire) == here.first; });
}

bool next_ordered_chunk(member& here, std::uint64_t& from, std::uint64_t& to) noexcept {
    share& one = present_share(here);
    if (here.first != here.last) {
        // Its last chunk has ended: the turn passes on, in the order of the chunks.
        begin_ordered(here);
        one.turn.store(here.last, std::memory_order_seq_cst);
        here.first = here.last;
        wake_sleepers(*here.of);
    }
    return take_values(here, one, from, to);
}

unsigned next_section(member& here) noexcept {
    const piece taken = take_piece(here, present_share(here));
    return taken.from == taken.to ? 0 : static_cast<unsigned>(taken.to);
}

}  // namespace quern::omp
