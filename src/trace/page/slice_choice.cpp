// SPDX-License-Identifier: BSL-1.0
// How much fits is known only after it was encoded: a choice is made from an estimate, and made
// smaller until it fits.
#include "page/slice_choice.hpp"

#include "analyse/sites.hpp"
#include "page/packed_bytes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace quern::trace::detail {

namespace {

/// Counts of slices by length, in steps of a sixteenth of a power of two: exact enough to find the
/// length above which so many slices lie, without sorting them.
class length_counts {
public:
    explicit length_counts(const recording& run) {
        for (const lane& one : run.lanes) {
            for (const slice& piece : one.slices) {
                ++m_counts[step(piece.end_ns - piece.begin_ns)];
                ++m_total;
            }
        }
    }

    std::uint64_t total() const noexcept { return m_total; }

    /// The smallest length such that at most so many slices are as long.
    std::uint64_t length_of_longest(double count) const {
        std::uint64_t above = 0;
        for (std::size_t i = m_counts.size(); i-- > 0;) {
            above += m_counts[i];
            if (static_cast<double>(above) > count) {
                return smallest(i + 1);
            }
        }
        return 0;
    }

private:
    static constexpr unsigned k_bits = 4;
    static constexpr std::uint64_t k_per_power = std::uint64_t{1} << k_bits;

    static std::size_t step(std::uint64_t length) {
        if (length < k_per_power) {
            return length;
        }
        const auto shift = static_cast<unsigned>(std::bit_width(length)) - k_bits - 1;
        return (shift + 1) * k_per_power + ((length >> shift) - k_per_power);
    }
    static std::uint64_t smallest(std::size_t i) {
        const std::uint64_t power = i / k_per_power;
        return power == 0 ? i : (k_per_power + i % k_per_power) << (power - 1);
    }

    std::array<std::uint64_t, 62 * k_per_power> m_counts{};
    std::uint64_t m_total = 0;
};

packed_bytes encode(const lane& one, const page_sites& sites, const slice_choice& choice,
                    std::uint64_t& kept) {
    packed_bytes out;
    std::uint64_t at = 0;
    std::uint64_t task = 0;
    for (const slice& piece : one.slices) {
        if (piece.end_ns >= piece.begin_ns && choice.wants(piece)) {
            out.difference(at, piece.begin_ns);
            out.number(piece.end_ns - piece.begin_ns);
            out.number(2u * sites.place(piece.site) + (piece.suspended ? 1u : 0u));
            if (piece.suspended) {  // for what, as far as the page has it
                out.number(piece.wait <= k_waits_shown ? piece.wait : 0);
            }
            out.difference(task, piece.task);
            at = piece.end_ns;
            task = piece.task;
            ++kept;
        }
    }
    return out;
}

/// Half of the wanted share goes to the longest, half to the stretches.
slice_choice plan(const length_counts& lengths, std::uint64_t duration_ns, double share) {
    constexpr std::uint64_t k_stretches = 8;
    slice_choice choice;
    choice.total = lengths.total();
    if (share < 1.0) {
        const double half = share / 2.0;
        choice.shortest_ns = lengths.length_of_longest(half * static_cast<double>(choice.total));
        choice.every_ns = std::max<std::uint64_t>(duration_ns / k_stretches, 1);
        choice.stretch_ns = static_cast<std::uint64_t>(half * static_cast<double>(choice.every_ns));
    }
    return choice;
}

}  // namespace

slice_choice choose_slices(const recording& run, const page_sites& sites, std::size_t characters) {
    constexpr double k_least = 6.0;  // characters of a slice: four bytes and the base64 of them
    const length_counts lengths(run);
    double share = static_cast<double>(characters) /
                   (k_least * static_cast<double>(std::max<std::uint64_t>(lengths.total(), 1)));
    for (;;) {
        slice_choice choice = plan(lengths, run.duration_ns, share);
        std::size_t size = 0;
        for (const lane& one : run.lanes) {
            const packed_bytes slices = encode(one, sites, choice, choice.kept);
            size += slices.base64_size();
            choice.lanes.push_back(slices.base64());
        }
        if (size <= characters || choice.kept == 0) {
            return choice;
        }
        constexpr double k_margin = 0.97;
        share = std::min(share, 1.0) * k_margin * static_cast<double>(characters) /
                static_cast<double>(size);
    }
}

}  // namespace quern::trace::detail
