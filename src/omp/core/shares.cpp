// SPDX-License-Identifier: BSL-1.0
// Loops, sections and singles: how members enter and leave them.
#include "core/shares.hpp"

#include "core/cancellation.hpp"
#include "core/task_reductions.hpp"
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

namespace {

void free_extras(share& one) noexcept {
    if (one.marks.load(std::memory_order_relaxed) != nullptr) {
        delete one.marks.exchange(nullptr, std::memory_order_relaxed);
    }
    if (one.memory.load(std::memory_order_relaxed) != nullptr) {
        delete one.memory.exchange(nullptr, std::memory_order_relaxed);
    }
}

/// Each member has about as many chunks as any other, in the order of the members. The last chunk
/// of the loop is none of them: take_of_others() has it.
void divide(team& of, const share& one, std::uint64_t chunks) noexcept {
    const auto slot = static_cast<std::size_t>(&one - of.shares);
    std::uint64_t from = 0;
    for (unsigned i = 0; i < of.size; ++i) {
        const std::uint64_t to = from + chunks / of.size + (i < chunks % of.size ? 1 : 0);
        of.members[i].ranges[slot].set(
            {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)});
        from = to;
    }
}

}  // namespace

void set_up(team& of, share& one, const first_share& as) noexcept {
    const std::uint64_t members = of.size;
    one.schedule = as.schedule;
    one.start = as.start;
    one.step = as.step;
    one.end = as.end;
    one.count = as.count;
    one.multiple = std::max<std::uint64_t>(as.multiple, 1);
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
    free_extras(one);  // members of a cancelled region may not have left it
    one.is_divided = false;
    if (members != 1 && !as.keeps_order && as.schedule == schedule_kind::dynamic) {
        const std::uint64_t chunks = one.count == 0 ? 0 : (one.count - 1) / one.chunk;
        one.is_divided =
            !one.may_overflow && chunks < chunk_range<detail::std_atomics>::k_most_chunks;
        if (one.is_divided) {
            divide(of, one, chunks);
        }
    }
}

bool enter_share(member& here, const first_share& as) noexcept {
    team& of = *here.of;
    const std::uint64_t construct = ++here.constructs;
    share& one = share_of(of, construct);
    here.sharing = &one;
    here.trip = here.first = here.last = 0;
    here.batch = here.batch_limit = 1;
    here.batch_time = 0;
    if (of.size == 1) {
        set_up(of, one, as);
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
                set_up(of, one, as);
                return true;
            }
        }
        if (is_cancelled(here, cancelled_part::region)) {
            here.sharing = nullptr;  // others may have passed it by
            return false;
        }
        // Some member is still in the construct k_shares before this one.
        wait_idly_until(here, [&one, &of, construct] {
            const std::lock_guard<detail::spin_lock> held(one.lock);
            return one.left == of.size || one.construct == construct ||
                   of.is_cancelled.load(std::memory_order_acquire);
        });
    }
}

namespace {

void begin_group_of_construct(member& here) {
    auto* const group = new task_group;
    group->outer = here.current->group;
    group->described_reductions =
        group->outer != nullptr ? group->outer->described_reductions : nullptr;
    group->is_of_construct = true;
    here.current->group = group;
}

}  // namespace

bool enter_share_with_memory(member& here, const first_share& as, std::uintptr_t* reductions,
                             void** memory) {
    if (reductions != nullptr) {
        begin_group_of_construct(here);
    }
    const bool is_first = enter_share(here, as);
    if ((reductions == nullptr && memory == nullptr) || here.sharing == nullptr) {
        return is_first;
    }
    share& one = *here.sharing;
    if (is_first) {
        auto* const made = new shared_memory;
        if (reductions != nullptr) {
            register_reductions(here, reductions);
            made->reductions = reductions;
        }
        if (memory != nullptr) {
            made->block = std::make_unique<std::byte[]>(reinterpret_cast<std::uintptr_t>(*memory));
        }
        one.memory.store(made, std::memory_order_seq_cst);
        wake_sleepers(*here.of);
    } else {
        wait_idly_until(here,
                        [&one] { return one.memory.load(std::memory_order_acquire) != nullptr; });
        if (reductions != nullptr) {
            share_reductions(here, reductions, one.memory.load()->reductions);
        }
    }
    if (memory != nullptr) {
        *memory = one.memory.load(std::memory_order_acquire)->block.get();
    }
    return is_first;
}

void leave_share(member& here) noexcept {
    share* const one = here.sharing;
    here.sharing = nullptr;
    if (one == nullptr) {
        return;
    }
    if (here.of->size == 1) {
        free_extras(*one);
        return;
    }
    bool is_last = false;
    {
        const std::lock_guard<detail::spin_lock> held(one->lock);
        is_last = ++one->left == here.of->size;
        if (is_last) {
            free_extras(*one);
        }
    }
    if (is_last) {
        wake_sleepers(*here.of);
    }
}

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

void enter_nest(member& here, const first_share& as, unsigned loops, const std::uint64_t* extents,
                std::uintptr_t* reductions, void** memory) {
    const bool is_first = enter_share_with_memory(here, as, reductions, memory);
    if (here.of->size == 1 || here.sharing == nullptr) {
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

}  // namespace quern::omp
