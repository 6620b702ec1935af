// SPDX-License-Identifier: BSL-1.0
// The arrays of STREAM, and the check. Shared by the application and by bench/stream; must not
// include a runtime.
#pragma once

#include "kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace stream {

class arrays {
public:
    explicit arrays(std::size_t n)
        : m_n(n), m_a(new double[n]), m_b(new double[n]), m_c(new double[n]) {}

    std::size_t size() const { return m_n; }

    // At most `count` numbers from `first` on.
    numbers a(std::size_t first, std::size_t count) { return part(m_a, first, count); }
    numbers b(std::size_t first, std::size_t count) { return part(m_b, first, count); }
    numbers c(std::size_t first, std::size_t count) { return part(m_c, first, count); }

    void reset() {
        for (std::size_t i = 0; i < m_n; ++i) {
            m_a[i] = initial(i);
        }
        std::fill_n(m_b.get(), m_n, 0.0);
        std::fill_n(m_c.get(), m_n, 0.0);
    }

    /// The first place where the numbers are not those of the iterations, computed one by one; n if
    /// there is none.
    std::size_t first_wrong(int iterations) {
        constexpr std::size_t k_together = 256;  // numbers that are computed again at a time
        double a[k_together];
        double b[k_together];
        double c[k_together];
        for (std::size_t first = 0; first < m_n; first += k_together) {
            const std::size_t n = std::min(k_together, m_n - first);
            for (std::size_t i = 0; i < n; ++i) {
                a[i] = initial(first + i);
            }
            for (int k = 0; k < iterations; ++k) {
                copy({a, n}, {c, n});
                scale({c, n}, {b, n});
                add({a, n}, {b, n}, {c, n});
                triad({b, n}, {c, n}, {a, n});
            }
            for (std::size_t i = 0; i < n; ++i) {
                const std::size_t at = first + i;
                if (m_a[at] != a[i] || m_b[at] != b[i] || m_c[at] != c[i]) {
                    return at;
                }
            }
        }
        return m_n;
    }

private:
    using array = std::unique_ptr<double[]>;

    numbers part(const array& of, std::size_t first, std::size_t count) const {
        return {of.get() + first, std::min(count, m_n - first)};
    }
    static double initial(std::size_t i) { return 1 + static_cast<double>(i % 1021) / 1024; }

    std::size_t m_n;
    array m_a;
    array m_b;
    array m_c;
};

/// Each kernel over the whole arrays.
inline void run_serially(arrays& x, int iterations) {
    const std::size_t n = x.size();
    for (int i = 0; i < iterations; ++i) {
        copy(x.a(0, n), x.c(0, n));
        scale(x.c(0, n), x.b(0, n));
        add(x.a(0, n), x.b(0, n), x.c(0, n));
        triad(x.b(0, n), x.c(0, n), x.a(0, n));
    }
}

}  // namespace stream
