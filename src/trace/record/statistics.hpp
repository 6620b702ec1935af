// SPDX-License-Identifier: BSL-1.0
// Statistics of durations, collected on each worker and merged at the end. Adding costs a few ns.
// Sums are relative to the first value, so that a large mean does not cancel the variance. Sets are
// merged as by Chan, Golub and LeVeque ("Updating formulae and a pairwise algorithm for computing
// sample variances", 1979).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace quern::trace::detail {

class statistics {
public:
    static constexpr std::size_t k_buckets = 48;

    /// `weight`: the number of values that it represents.
    void add(double ns, std::uint64_t weight = 1) noexcept {
        if (m_count == 0) {
            m_origin = m_min = m_max = ns;
        }
        const double off = ns - m_origin;
        const auto times = static_cast<double>(weight);
        m_count += weight;
        m_sum += times * off;
        m_squares += times * off * off;
        m_min = std::min(m_min, ns);
        m_max = std::max(m_max, ns);
        m_histogram[bucket(ns)] += weight;
    }

    void merge(const statistics& other) noexcept {
        if (other.m_count == 0) {
            return;
        }
        if (m_count == 0) {
            *this = other;
            return;
        }
        const double squares = deviations() + other.deviations();
        const double apart = other.mean() - mean();
        const auto a = static_cast<double>(m_count);
        const auto b = static_cast<double>(other.m_count);
        const double together = total() + other.total();
        m_count += other.m_count;
        m_sum = together - static_cast<double>(m_count) * m_origin;
        // Compensates the term that deviations() subtracts.
        m_squares = squares + apart * apart * a * b / (a + b) +
                    m_sum * m_sum / static_cast<double>(m_count);
        m_min = std::min(m_min, other.m_min);
        m_max = std::max(m_max, other.m_max);
        for (std::size_t i = 0; i < k_buckets; ++i) {
            m_histogram[i] += other.m_histogram[i];
        }
    }

    std::uint64_t count() const noexcept { return m_count; }
    double total() const noexcept { return m_sum + static_cast<double>(m_count) * m_origin; }
    double mean() const noexcept {
        return m_count == 0 ? 0.0 : total() / static_cast<double>(m_count);
    }
    double min() const noexcept { return m_min; }
    double max() const noexcept { return m_max; }
    /// Population standard deviation.
    double stddev() const noexcept {
        return m_count == 0 ? 0.0 : std::sqrt(deviations() / static_cast<double>(m_count));
    }
    const std::array<std::uint64_t, k_buckets>& histogram() const noexcept { return m_histogram; }

private:
    static std::size_t bucket(double ns) noexcept {
        const auto whole = static_cast<std::uint64_t>(std::max(ns, 1.0));
        return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(whole)) - 1,
                                     k_buckets - 1);
    }

    /// The sum of squared deviations from the mean.
    double deviations() const noexcept {
        return m_count == 0
                   ? 0.0
                   : std::max(0.0, m_squares - m_sum * m_sum / static_cast<double>(m_count));
    }

    std::uint64_t m_count = 0;
    double m_origin = 0.0;   ///< the first value
    double m_sum = 0.0;      ///< of the differences from m_origin
    double m_squares = 0.0;  ///< of the squared differences
    double m_min = 0.0;
    double m_max = 0.0;
    std::array<std::uint64_t, k_buckets> m_histogram{};
};

}  // namespace quern::trace::detail
