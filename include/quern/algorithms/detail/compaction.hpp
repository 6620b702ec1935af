// SPDX-License-Identifier: BSL-1.0
// Copies of those elements of a range that satisfy a condition, in their order: copy_if,
// remove_copy_if, unique_copy. Built on ordered_blocks.hpp, where the value is the number of
// elements kept so far.
#pragma once

#include <quern/algorithms/detail/ordered_blocks.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>

namespace quern::detail {

/// is_kept(iterator) is called once for each element.
template <class It, class Out, class IsKept>
class compaction {
public:
    using value = std::size_t;

    /// Where the kept elements of a surveyed block are, counted from its first one.
    struct note {
        std::unique_ptr<std::uint32_t[]> places{};
        std::size_t count = 0;
    };

    compaction(It first, Out out, IsKept& is_kept) noexcept
        : m_first(first), m_out(out), m_is_kept(is_kept) {}

    value survey(note& found, std::size_t first, std::size_t last) {
        found.places = std::make_unique_for_overwrite<std::uint32_t[]>(last - first);
        found.count = places_in(first, last, found.places.get());
        return found.count;
    }

    value finish(note& found, value before, std::size_t first, std::size_t last) {
        if (found.places) {
            copy(first, found.places.get(), found.count, before);
            found.places.reset();
            return before + found.count;
        }
        std::array<std::uint32_t, k_piece> places;
        for (std::size_t end = first; first != last; first = end) {
            end = first + std::min(last - first, k_piece);
            const std::size_t count = places_in(first, end, places.data());
            copy(first, places.data(), count, before);
            before += count;
        }
        return before;
    }

    value combine(value before, value own) const noexcept { return before + own; }

private:
    static constexpr std::size_t k_piece = 512;  ///< 2 KiB of the stack

    /// Without a branch: whether an element is kept is often random.
    std::size_t places_in(std::size_t first, std::size_t last, std::uint32_t* places) {
        std::size_t count = 0;
        const It from = detail::at(m_first, first);
        const auto size = static_cast<std::uint32_t>(last - first);
        for (std::uint32_t i = 0; i < size; ++i) {
            places[count] = i;
            count += m_is_kept(detail::at(from, i)) ? 1U : 0U;
        }
        return count;
    }

    void copy(std::size_t first, const std::uint32_t* places, std::size_t count,
              std::size_t before) {
        const It from = detail::at(m_first, first);
        Out to = detail::at(m_out, before);
        for (std::size_t i = 0; i < count; ++i, ++to) {
            *to = *detail::at(from, places[i]);
        }
    }

    const It m_first;
    const Out m_out;
    IsKept& m_is_kept;
};

/// Returns the end of the copy.
template <class How, class It, class Out, class IsKept>
Out compact_into(const How& how, It first, std::size_t n, Out out, IsKept& is_kept) {
    if (n == 0) {
        return out;
    }
    compaction<It, Out, IsKept> work(first, out, is_kept);
    return detail::at(out, detail::run_in_order(how, n, work, std::size_t{0}, 1));
}

}  // namespace quern::detail
