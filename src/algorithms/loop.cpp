// SPDX-License-Identifier: BSL-1.0
// How a loop is divided. A longer loop gives each worker a contiguous part, the same one each time
// (loop_parts.hpp). A part splits itself only on a request to steal (lazy binary splitting:
// Tzannes, Caragea, Barua and Vishkin, PPoPP 2010; here the demand is the request of a thief
// instead of an empty deque). With one worker, or for a short loop, no task is created.
#include <quern/algorithms/detail/loop.hpp>

#include <quern/algorithms/detail/loop_parts.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace quern::detail {

namespace {

/// What all parts of a loop share.
struct shared_loop {
    stop_signal& stop;
    std::optional<loop_parts> parts{};  ///< empty until the loop is dealt
};

/// Whether to deal a loop to the workers: it is known to be long, or there is a request to steal,
/// and each part is at least a chunk.
bool is_to_be_dealt(fork_slot* slot, const chunk_size& chunk, std::size_t left,
                    std::size_t parts) noexcept {
    return parts > 1 && (chunk.settled() || context::of(slot).wanted()) &&
           left / parts >= chunk.get();
}

/// Whether a part should split itself: there is a request to steal, and every part has begun.
/// Before that, whole parts are offered.
bool is_to_split(fork_slot* slot, const shared_loop& loop) noexcept {
    context& place = context::of(slot);
    if (!place.wanted()) {
        return false;
    }
    if (loop.parts && loop.parts->has_free()) {
        place.offer_if_wanted();
        return false;
    }
    return true;
}

/// Runs `count` of the parts of a loop. A worker that runs a part claims its own, if that is free.
template <class Run>
void run_parts(fork_slot* slot, std::size_t count, shared_loop& loop, Run& run) {
    if (loop.stop.asks()) {
        return;
    }
    if (count == 1) {
        run(slot, loop.parts->claim(context::of(slot).host().rank()));
        return;
    }
    // The dealing worker continues with one part; the others may be stolen.
    const std::size_t here = count == loop.parts->to_claim() ? 1 : count / 2;
    quern::fork_join(
        fork_context(slot),
        [&loop, &run, count, here](fork_context c) {
            const under_signal running(&loop.stop);
            run_parts(c.slot(), count - here, loop, run);
        },
        [&loop, &run, here](fork_context c) { run_parts(c.slot(), here, loop, run); });
}

/// Runs a chunk. False: the rest of its part is not needed.
bool run_chunk(fork_slot* slot, stop_signal& stop, std::size_t first, std::size_t end,
               chunk_size& chunk, const loop_range& range) {
    bool is_rest_needed = true;
    this_worker(context::of(slot)).stats().chunks.add();
    chunk.run(
        [&] { is_rest_needed = detail::run_part(stop, [&] { return range(slot, first, end); }); });
    return is_rest_needed;
}

void split_loop(fork_slot* slot, std::size_t first, std::size_t last, chunk_size chunk,
                shared_loop& loop, const loop_range& range) {
    while (first < last && !loop.stop.asks()) {
        const std::size_t left = last - first;
        if (is_to_split(slot, loop) && left > chunk.get()) {
            const std::size_t middle = first + left / 2;
            quern::fork_join(
                fork_context(slot),
                [&loop, &range, middle, last, chunk](fork_context c) {
                    const under_signal running(&loop.stop);
                    split_loop(c.slot(), middle, last, chunk, loop, range);
                },
                [&loop, &range, first, middle, chunk](fork_context c) {
                    split_loop(c.slot(), first, middle, chunk, loop, range);
                });
            return;
        }
        const std::size_t end = first + std::min(left, chunk.get());
        if (!run_chunk(slot, loop.stop, first, end, chunk, range)) {
            return;
        }
        first = end;
    }
}

/// Drops a value of a reduction.
struct value_dropper {
    reduction* how = nullptr;
    void operator()(void* value) const noexcept { how->drop(value); }
};
using owned_value = std::unique_ptr<void, value_dropper>;

void split_reduction(fork_slot* slot, std::size_t first, std::size_t last, chunk_size chunk,
                     shared_loop& loop, reduction& how, void* value);

/// The value of a part, which its first chunk begins. Requires: first < last.
owned_value reduce_part(fork_slot* slot, std::size_t first, std::size_t last, chunk_size chunk,
                        shared_loop& loop, reduction& how) {
    const std::size_t end = first + std::min(last - first, chunk.get());
    owned_value value(detail::run_part(loop.stop, [&] { return how.begin(first, end); }),
                      value_dropper{&how});
    split_reduction(slot, end, last, chunk, loop, how, value.get());
    return value;
}

/// Adds a chunk to a value.
void add_chunk(fork_slot* slot, stop_signal& stop, std::size_t first, std::size_t end,
               chunk_size& chunk, reduction& how, void* value) {
    this_worker(context::of(slot)).stats().chunks.add();
    chunk.run([&] { detail::run_part(stop, [&] { how.add(value, first, end); }); });
}

/// The value of a part that stops early is not used: the loop throws.
void split_reduction(fork_slot* slot, std::size_t first, std::size_t last, chunk_size chunk,
                     shared_loop& loop, reduction& how, void* value) {
    while (first < last && !loop.stop.asks()) {
        const std::size_t left = last - first;
        if (is_to_split(slot, loop) && left > chunk.get()) {
            const std::size_t middle = first + left / 2;
            // The left part continues with `value`; the right one begins with its first chunk.
            const owned_value behind = quern::fork_join(
                fork_context(slot),
                [&loop, &how, middle, last, chunk](fork_context c) {
                    const under_signal running(&loop.stop);
                    return reduce_part(c.slot(), middle, last, chunk, loop, how);
                },
                [&loop, &how, first, middle, chunk, value](fork_context c) {
                    split_reduction(c.slot(), first, middle, chunk, loop, how, value);
                });
            how.join(value, behind.get());
            return;
        }
        const std::size_t end = first + std::min(left, chunk.get());
        add_chunk(slot, loop.stop, first, end, chunk, how, value);
        first = end;
    }
}

/// The rest of a reduction, dealt to the workers. The parts' values are joined in their order.
void deal_rest(fork_slot* slot, chunk_size chunk, shared_loop& loop, std::size_t parts,
               reduction& how, void* value) {
    std::vector<owned_value> values(parts);
    const auto run = [&, chunk](fork_slot* at, const loop_parts::part& part) {
        values[part.number] = reduce_part(at, part.first, part.last, chunk, loop, how);
    };
    run_parts(slot, loop.parts->to_claim(), loop, run);
    for (const owned_value& each : values) {
        if (each != nullptr) {  // null for a part done before, or omitted by a stop
            how.join(value, each.get());
        }
    }
}

}  // namespace

std::size_t parts_for(fork_slot* slot) noexcept {
    const pool& home = context::of(slot).host().home();
    const std::size_t workers = home.knobs().active_workers.load(std::memory_order_relaxed);
    return home.policy().steals ? std::min(workers, k_most_loop_parts) : 1;
}

void deal_loop(fork_slot* slot, stop_signal& stop, std::size_t n, chunk_size chunk,
               loop_range range) {
    const std::size_t parts = detail::parts_for(slot);
    shared_loop loop{stop};
    for (std::size_t next = 0; next < n && !stop.asks();) {
        const std::size_t left = n - next;
        if (is_to_be_dealt(slot, chunk, left, parts)) {
            loop.parts.emplace(n, next, parts);
            const auto run = [&loop, &range, chunk](fork_slot* at, const loop_parts::part& part) {
                split_loop(at, part.first, part.last, chunk, loop, range);
            };
            run_parts(slot, loop.parts->to_claim(), loop, run);
            return;
        }
        if (parts == 1 || chunk.settled() || context::of(slot).wanted()) {
            split_loop(slot, next, n, chunk, loop, range);
            return;
        }
        const std::size_t end = next + std::min(left, chunk.get());
        if (!run_chunk(slot, stop, next, end, chunk, range)) {
            return;
        }
        next = end;
    }
}

void deal_reduction(fork_slot* slot, stop_signal& stop, std::size_t first, std::size_t n,
                    chunk_size chunk, reduction& how, void* value) {
    const std::size_t parts = detail::parts_for(slot);
    shared_loop loop{stop};
    for (std::size_t next = first; next < n && !stop.asks();) {
        const std::size_t left = n - next;
        if (is_to_be_dealt(slot, chunk, left, parts)) {
            loop.parts.emplace(n, next, parts);
            deal_rest(slot, chunk, loop, parts, how, value);
            return;
        }
        if (parts == 1 || chunk.settled() || context::of(slot).wanted()) {
            split_reduction(slot, next, n, chunk, loop, how, value);
            return;
        }
        const std::size_t end = next + std::min(left, chunk.get());
        add_chunk(slot, stop, next, end, chunk, how, value);
        next = end;
    }
}

void run_runners(fork_slot* slot, std::size_t count, stop_signal& stop,
                 function_ref<void(fork_slot*)> body) {
    if (stop.asks()) {
        return;
    }
    if (count == 1) {
        detail::run_part(stop, [&] { body(slot); });
        return;
    }
    quern::fork_join(
        fork_context(slot),
        [&stop, &body, count](fork_context c) {
            const under_signal running(&stop);
            detail::run_runners(c.slot(), count / 2, stop, body);
        },
        [&stop, &body, count](fork_context c) {
            detail::run_runners(c.slot(), count - count / 2, stop, body);
        });
}

}  // namespace quern::detail
