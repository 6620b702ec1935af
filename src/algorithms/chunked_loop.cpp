// SPDX-License-Identifier: BSL-1.0
// Loops in chunks, for every algorithm.
#include <quern/algorithms/detail/chunked_loop.hpp>

namespace quern::detail {

bool is_shared(pool* where) {
    const pool* const home = where != nullptr ? where : &current_pool().get();
    return home->policy().steals &&
           home->knobs().active_workers.load(std::memory_order_relaxed) > 1;
}

void run_lazy_loop(pool* where, const void* site, std::size_t n, chunk_size chunk,
                   loop_range range) {
    detail::run_loop(where, site, std::stop_token(), [&](fork_slot* slot, stop_signal& stop) {
        if (n == 1 || detail::parts_for(slot) == 1) {
            this_worker(context::of(slot)).stats().chunks.add();
            range(slot, 0, n);
        } else {
            detail::deal_loop(slot, stop, n, chunk, range);
        }
    });
}

void run_divided_loop(pool* where, const void* site, std::size_t n,
                      function_ref<division(std::size_t cores)> divide, loop_range range) {
    detail::run_loop(where, site, std::stop_token(), [&](fork_slot* slot, stop_signal& stop) {
        const std::size_t cores = detail::parts_for(slot);
        if (n == 1 || cores == 1) {
            this_worker(context::of(slot)).stats().chunks.add();
            range(slot, 0, n);
            return;
        }
        detail::run_division(
            slot, stop, divide(cores),
            [&](std::size_t, std::size_t first, std::size_t last) { range(slot, first, last); });
    });
}

void run_division(fork_slot* slot, stop_signal& stop, const division& chunks,
                  function_ref<void(std::size_t number, std::size_t first, std::size_t last)> f) {
    const std::size_t count = chunks.count();
    if (chunks.is_dynamic) {
        std::atomic<std::size_t> next{0};
        detail::run_runners(
            slot, std::min(detail::parts_for(slot), count), stop, [&](fork_slot* at) {
                while (!stop.asks()) {
                    // relaxed: the chunks' results are published by the joins of the runners.
                    const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
                    if (i >= count) {
                        return;
                    }
                    context::of(at).offer_if_wanted();
                    this_worker(context::of(at)).stats().chunks.add();
                    f(i, chunks.first_of(i), chunks.last_of(i));
                }
            });
        return;
    }
    detail::deal_loop(slot, stop, count, chunk_size(grain::fixed(1)),
                      [&](fork_slot*, std::size_t i, std::size_t end) {
                          for (; i < end; ++i) {
                              f(i, chunks.first_of(i), chunks.last_of(i));
                          }
                          return true;
                      });
}

}  // namespace quern::detail
