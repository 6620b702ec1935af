// SPDX-License-Identifier: BSL-1.0
// Copies of those elements of a range that satisfy a condition, in their order: copy_if,
// remove_copy_if, unique_copy, partition_copy. Built on ordered_blocks.hpp, where the value is the
// number of elements kept so far. What a survey finds is a bit for each element of a window.
#pragma once

#include <quern/algorithms/detail/ordered_blocks.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace quern::detail {

/// is_kept(iterator) is called once for each element. `Writer` copies elements: see kept_elements.
/// It says with k_is_in_place whether it writes to the range itself.
template <class It, class IsKept, class Writer>
class compaction {
public:
    using value = std::size_t;
    struct note {};
    static constexpr std::size_t k_window = 65'536;  ///< per worker; their bits are 8 KiB
    static constexpr bool k_is_in_place = Writer::k_is_in_place;
    static constexpr bool k_combines_by_program = false;
    static constexpr std::size_t k_front_part = 0;

    compaction(It first, IsKept& is_kept, Writer write) noexcept
        : m_first(first), m_is_kept(is_kept), m_write(write) {}

    void begin_window(std::size_t first, std::size_t last) {
        m_begin = first;
        m_kept.assign(detail::divide_up(last - first, k_bits), 0);
    }

    value survey(note&, std::size_t first, std::size_t last) {
        std::size_t count = 0;
        for_words(first, last, [&](std::size_t i, std::size_t size, std::size_t bit) {
            const std::uint64_t kept = kept_of(i, size);
            count += count_of(kept);
            store(bit, size, kept);
        });
        return count;
    }

    void finish(note&, value before, std::size_t first, std::size_t last) {
        for_words(first, last, [&](std::size_t i, std::size_t size, std::size_t bit) {
            const std::uint64_t kept = m_kept[bit / k_bits] >> bit % k_bits & low_bits(size);
            before += write(i, size, kept, before);
        });
    }

    value run(value before, std::size_t first, std::size_t last) {
        for (std::size_t size = 0; first != last; first += size) {
            size = std::min(last - first, k_bits);
            before += write(first, size, kept_of(first, size), before);
        }
        return before;
    }

    value combine(value before, value own) const noexcept { return before + own; }

private:
    static constexpr std::size_t k_bits = 64;

    static constexpr std::uint64_t low_bits(std::size_t n) noexcept {
        return ~std::uint64_t{0} >> (k_bits - n);
    }

    /// Calls f(first, size, number of the first bit) for the parts of a block that lie in one word.
    template <class F>
    void for_words(std::size_t first, std::size_t last, F f) {
        for (std::size_t size = 0; first != last; first += size) {
            const std::size_t bit = first - m_begin;
            size = std::min(last - first, k_bits - bit % k_bits);
            f(first, size, bit);
        }
    }

    /// A bit for each of up to 64 elements. Without a branch: whether an element is kept is often
    /// random. By way of bytes, which depend on nothing but their element.
    std::uint64_t kept_of(std::size_t first, std::size_t size) {
        alignas(k_bits) std::array<std::uint8_t, k_bits> bytes{};
        const It from = detail::at(m_first, first);
        for (std::size_t i = 0; i < size; ++i) {
            bytes[i] = m_is_kept(detail::at(from, i)) ? 1 : 0;
        }
        std::uint64_t kept = 0;
        for (std::size_t i = 0; i < k_bits; i += 8) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, bytes.data() + i, sizeof eight);
            // The product has byte k (little-endian) in bit 56 + k; no two terms share a bit.
            kept |= eight * 0x0102'0408'1020'4080 >> 56U << i;
        }
        return kept;
    }

    /// Blocks may share a word. relaxed: the join of the runners publishes the bits.
    void store(std::size_t bit, std::size_t size, std::uint64_t kept) {
        std::uint64_t& word = m_kept[bit / k_bits];
        if (size == k_bits) {
            word = kept;
        } else {
            std::atomic_ref(word).fetch_or(kept << bit % k_bits, std::memory_order_relaxed);
        }
    }

    std::size_t write(std::size_t first, std::size_t size, std::uint64_t kept, std::size_t before) {
        m_write(detail::at(m_first, first), first, size, kept, before);
        return count_of(kept);
    }

    static std::size_t count_of(std::uint64_t kept) noexcept {
        return static_cast<std::size_t>(std::popcount(kept));
    }

    const It m_first;
    IsKept& m_is_kept;
    const Writer m_write;
    std::size_t m_begin = 0;              ///< of the window
    std::vector<std::uint64_t> m_kept{};  ///< a bit for each element of the window
};

/// Copies the elements of the bits that are set, from the lowest on. Returns the end of the copy.
template <class It, class Out>
Out copy_by_bits(It from, std::uint64_t bits, Out to) {
    if (bits == ~std::uint64_t{0}) {
        for (std::size_t i = 0; i < 64; ++i, ++to) {
            *to = *detail::at(from, i);
        }
        return to;
    }
    for (; bits != 0; bits &= bits - 1, ++to) {
        *to = *detail::at(from, static_cast<std::size_t>(std::countr_zero(bits)));
    }
    return to;
}

/// Writes the kept elements behind those that were kept before.
template <class Out>
struct kept_elements {
    static constexpr bool k_is_in_place = false;
    Out out;

    template <class It>
    void operator()(It from, std::size_t, std::size_t, std::uint64_t kept,
                    std::size_t before) const {
        detail::copy_by_bits(from, kept, detail::at(out, before));
    }
};

/// Moves the kept elements, which are plain data, to the front of their range. An element that
/// stays is not written: another worker may be reading it to compare it with the next one.
template <class It>
struct kept_in_place {
    static constexpr bool k_is_in_place = true;
    It begin;

    void operator()(It from, std::size_t first, std::size_t, std::uint64_t kept,
                    std::size_t before) const {
        if (before == first) {
            const auto staying = static_cast<std::size_t>(std::countr_one(kept));
            kept = staying == 64 ? 0 : kept >> staying << staying;
            before += staying;
        }
        detail::copy_by_bits(from, kept, detail::at(begin, before));
    }
};

/// Returns the new end.
template <class How, class It, class IsKept>
It compact_in_place(const How& how, It first, std::size_t n, IsKept& is_kept) {
    if (n == 0) {
        return first;
    }
    compaction<It, IsKept, kept_in_place<It>> work(first, is_kept, {first});
    return detail::at(first, detail::run_in_order(how, n, work, std::size_t{0}, 1));
}

/// Returns the end of the copy.
template <class How, class It, class Out, class IsKept>
Out compact_into(const How& how, It first, std::size_t n, Out out, IsKept& is_kept) {
    if (n == 0) {
        return out;
    }
    compaction<It, IsKept, kept_elements<Out>> work(first, is_kept, {out});
    return detail::at(out, detail::run_in_order(how, n, work, std::size_t{0}, 1));
}

/// Writes the kept elements as kept_elements, and the others to a second range.
template <class Out, class Out2>
struct both_kinds {
    static constexpr bool k_is_in_place = false;
    Out out;
    Out2 out2;

    template <class It>
    void operator()(It from, std::size_t first, std::size_t size, std::uint64_t kept,
                    std::size_t before) const {
        const std::uint64_t all = ~std::uint64_t{0} >> (64 - size);
        detail::copy_by_bits(from, kept, detail::at(out, before));
        detail::copy_by_bits(from, ~kept & all, detail::at(out2, first - before));
    }
};

}  // namespace quern::detail
