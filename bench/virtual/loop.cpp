// SPDX-License-Identifier: BSL-1.0
// The rows "fork" and "loop". The loop repeats src/algorithms/loop.cpp, loop_parts.hpp and
// chunk_size.hpp by hand.
#include "row.hpp"

#include <algorithm>
#include <bit>

namespace virtual_time {
namespace {

/// fork_join by halves.
struct halves {
    std::uint64_t count;
    picoseconds leaf;

    std::uint64_t operator()(fork_place place) const {
        if (count == 1) {
            simulation::compute(leaf);
            return 1;
        }
        return fork_join(place, halves{count - count / 2, leaf}, halves{count / 2, leaf});
    }
};

/// As chunk_size.
struct chunk {
    static constexpr picoseconds k_enough = 2'000'000;
    static constexpr picoseconds k_apart = 4;

    std::uint64_t size = 1;
    bool settled = false;
    bool is_timed = false;

    void run(std::uint64_t iterations, picoseconds each) {
        is_timed = !is_timed || !settled;
        if (!is_timed) {
            simulation::compute(iterations * each);
            return;
        }
        const picoseconds start = atomics::ticks();
        simulation::compute(iterations * each);
        const picoseconds took = atomics::ticks() - start;
        if (took < k_enough && (!settled || took * k_apart < k_enough)) {
            size *= 2;
        } else if (!settled) {
            settled = true;
        } else if (took > k_enough * k_apart) {
            size = std::max<std::uint64_t>(1, size * k_enough / took);
        }
    }
};

/// As loop_parts, and what all parts share.
class shared_loop {
public:
    struct part {
        std::uint64_t first;
        std::uint64_t last;
    };

    shared_loop(std::uint64_t n, picoseconds of_one) : each(of_one), m_n(n) {}

    void deal(std::uint64_t begin, std::uint64_t count) {
        m_begin = begin;
        m_count = count;
        std::uint64_t done = 0;
        while (offset(done + 1) <= begin) {
            ++done;
        }
        to_claim = count - done;
        m_free.store(~std::uint64_t{0} >> (64 - to_claim) << done, std::memory_order_relaxed);
    }
    bool has_free() const { return m_free.load(std::memory_order_relaxed) != 0; }
    part claim(std::size_t rank) {
        const std::uint64_t own = rank % m_count;
        std::uint64_t free = m_free.load(std::memory_order_relaxed);
        for (;;) {
            const bool is_own_free = (free >> own & 1) != 0;
            const auto number =
                is_own_free ? own : static_cast<std::uint64_t>(std::countr_zero(free));
            if (m_free.compare_exchange_weak(free, free & ~(std::uint64_t{1} << number),
                                             std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
                return {std::max(offset(number), m_begin), offset(number + 1)};
            }
        }
    }

    const picoseconds each;
    std::uint64_t to_claim = 0;

private:
    std::uint64_t offset(std::uint64_t number) const {
        return number * (m_n / m_count) + std::min(number, m_n % m_count);
    }

    const std::uint64_t m_n;
    std::uint64_t m_begin = 0;
    std::uint64_t m_count = 1;
    atomic<std::uint64_t> m_free{0};
};

bool is_to_split(context& here, const shared_loop& loop) {
    if (!here.wanted()) {
        return false;
    }
    if (loop.to_claim != 0 && loop.has_free()) {
        here.offer_if_wanted();
        return false;
    }
    return true;
}

struct range {
    shared_loop* loop;
    std::uint64_t first;
    std::uint64_t last;
    chunk size;

    /// split_loop
    std::uint64_t operator()(fork_place place) const {
        chunk now = size;
        std::uint64_t at = first;
        while (at < last) {
            const std::uint64_t left = last - at;
            if (is_to_split(*place.here, *loop) && left > now.size) {
                const std::uint64_t middle = at + left / 2;
                return at - first +
                       fork_join(place, range{loop, middle, last, now},
                                 range{loop, at, middle, now});
            }
            const std::uint64_t end = at + std::min(left, now.size);
            now.run(end - at, loop->each);
            at = end;
        }
        return last - first;
    }
};

struct parts {
    shared_loop* loop;
    std::uint64_t count;
    chunk size;

    /// run_parts
    std::uint64_t operator()(fork_place place) const {
        if (count == 1) {
            const auto part = loop->claim(place.here->host().rank());
            return range{loop, part.first, part.last, size}(place);
        }
        const std::uint64_t mine = count == loop->to_claim ? 1 : count / 2;
        return fork_join(place, parts{loop, count - mine, size}, parts{loop, mine, size});
    }
};

std::uint64_t deal_loop(fork_place place, std::uint64_t n, picoseconds each) {
    context& here = *place.here;
    const std::uint64_t workers = std::min<std::uint64_t>(here.host().home().workers.size(), 64);
    shared_loop loop(n, each);
    chunk size;
    for (std::uint64_t next = 0; next < n;) {
        const std::uint64_t left = n - next;
        const bool is_dealt =
            workers > 1 && (size.settled || here.wanted()) && left / workers >= size.size;
        if (is_dealt) {
            loop.deal(next, workers);
            return next + parts{&loop, loop.to_claim, size}(place);
        }
        if (workers == 1 || size.settled || here.wanted()) {
            return next + range{&loop, next, n, size}(place);
        }
        const std::uint64_t end = next + std::min(left, size.size);
        size.run(end - next, each);
        next = end;
    }
    return n;
}

}  // namespace

row_result simulate_fork(const setup& s) {
    const auto count = static_cast<std::uint64_t>(s.size);
    return run_rounds(s, count, [&](fork_place place) { return halves{count, s.work}(place); });
}

row_result simulate_loop(const setup& s) {
    const auto count = static_cast<std::uint64_t>(s.size);
    return run_rounds(s, count, [&](fork_place place) { return deal_loop(place, count, s.work); });
}

}  // namespace virtual_time
