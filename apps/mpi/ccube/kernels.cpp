// SPDX-License-Identifier: BSL-1.0
#include "kernels.hpp"

#include "../../common/blas.hpp"
#include "../../common/element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ccube {

namespace {

bool has_no_divisor(std::uint64_t number) {
    if (number < 4) {
        return number > 1;
    }
    if (number % 2 == 0) {
        return false;
    }
    for (std::uint64_t d = 3; d * d <= number; d += 2) {
        if (number % d == 0) {
            return false;
        }
    }
    return true;
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent, std::uint64_t modulus) {
    __extension__ using wide = unsigned __int128;
    wide result = 1;
    wide factor = base % modulus;
    for (; exponent != 0; exponent >>= 1U) {
        if ((exponent & 1U) != 0) {
            result = result * factor % modulus;
        }
        factor = factor * factor % modulus;
    }
    return static_cast<std::uint64_t>(result);
}

/// By the test of Miller and Rabin with the bases that decide for all numbers of 64 bits.
bool is_prime(std::uint64_t number) {
    constexpr std::uint64_t k_bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    for (const std::uint64_t base : k_bases) {
        if (number % base == 0) {
            return number == base;
        }
    }
    const auto passes = [number](std::uint64_t base) {
        std::uint64_t exponent = number - 1;
        while (exponent % 2 == 0) {
            exponent /= 2;
        }
        std::uint64_t x = power(base, exponent, number);
        for (; exponent != number - 1 && x != 1 && x != number - 1; exponent *= 2) {
            x = power(x, 2, number);
        }
        return x == number - 1 || exponent % 2 != 0;
    };
    return number > 1 && std::all_of(std::begin(k_bases), std::end(k_bases), passes);
}

class primes final : public kernel {
public:
    explicit primes(std::uint64_t number) : m_number(number) {}
    std::string_view name() const override { return "primes"; }
    void reset() override { m_found = 0; }
    void step(std::size_t) override { m_found += has_no_divisor(m_number) ? 1 : 0; }
    std::string mistake() const override {
        const std::size_t right = is_prime(m_number) ? k_steps : 0;
        return m_found == right
                   ? ""
                   : fmt::format("{} steps found {} prime, and not {}", m_found, m_number, right);
    }

private:
    std::uint64_t m_number;
    std::size_t m_found = 0;
};

class copies final : public kernel {
public:
    explicit copies(std::size_t bytes) : m_from(bytes), m_to(bytes) {
        for (std::size_t i = 0; i < bytes; ++i) {
            m_from[i] = static_cast<unsigned char>(i * 7);
        }
    }
    std::string_view name() const override { return "memcpy"; }
    void reset() override { std::fill(m_to.begin(), m_to.end(), static_cast<unsigned char>(0)); }
    /// Each step's copy differs from the one before.
    void step(std::size_t which) override {
        m_from.front() = m_from.back() = static_cast<unsigned char>(which);
        std::memcpy(m_to.data(), m_from.data(), m_from.size());
    }
    std::string mistake() const override {
        return m_to == m_from && m_to.back() == k_steps - 1 ? "" : "the copy differs";
    }

private:
    std::vector<unsigned char> m_from;
    std::vector<unsigned char> m_to;
};

class product final : public kernel {
public:
    explicit product(std::size_t n)
        : m_n(n), m_a(random(n, k_depth, 0)), m_b(random(k_depth, n, n)), m_c(n * n) {
        blas::use_calling_thread();
    }
    std::string_view name() const override { return "dgemm"; }
    void reset() override { std::fill(m_c.begin(), m_c.end(), 0.0); }
    void step(std::size_t which) override {
        const std::size_t first = m_n * which / k_steps;
        const std::size_t count = m_n * (which + 1) / k_steps - first;
        if (count > 0) {
            blas::gemm('N', 'N', 1, of(m_a, m_n, 0, k_depth), of(m_b, k_depth, first, count), 1,
                       of(m_c, m_n, first, count));
        }
    }
    /// C x against A (B x).
    std::string mistake() const override {
        std::vector<double> x(m_n);
        for (std::size_t i = 0; i < m_n; ++i) {
            x[i] = 2 * apps::dense::element(i, 3 * m_n, 0);
        }
        const std::vector<double> c = times(m_c, m_n, x);
        const std::vector<double> ab = times(m_a, m_n, times(m_b, k_depth, x));
        double worst = 0;
        for (std::size_t i = 0; i < m_n; ++i) {
            const double difference = std::abs(c[i] - ab[i]);
            worst = difference <= worst ? worst : difference;  // also if it is no number
        }
        const double limit =
            30 * static_cast<double>(m_n * k_depth) * std::numeric_limits<double>::epsilon();
        return worst <= limit ? "" : fmt::format("C x differs from A (B x) by {:.3g}", worst);
    }

private:
    static constexpr std::size_t k_depth = 128;

    static std::vector<double> random(std::size_t rows, std::size_t columns, std::size_t below) {
        std::vector<double> all(rows * columns);
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = apps::dense::element(below + i % rows, i / rows, 0);
        }
        return all;
    }
    /// Columns of a matrix by columns; BLAS reads A and B only.
    static blas::matrix of(const std::vector<double>& all, std::size_t rows, std::size_t first,
                           std::size_t columns) {
        return {const_cast<double*>(all.data()) + first * rows, static_cast<int>(rows),
                static_cast<int>(columns), static_cast<int>(rows)};
    }
    static std::vector<double> times(const std::vector<double>& matrix, std::size_t rows,
                                     const std::vector<double>& x) {
        std::vector<double> y(rows);
        for (std::size_t i = 0; i < matrix.size(); ++i) {
            y[i % rows] += matrix[i] * x[i / rows];
        }
        return y;
    }

    std::size_t m_n;
    std::vector<double> m_a;
    std::vector<double> m_b;
    std::vector<double> m_c;
};

}  // namespace

std::unique_ptr<kernel> make_primes(const sizes& of) { return std::make_unique<primes>(of.number); }
std::unique_ptr<kernel> make_copies(const sizes& of) { return std::make_unique<copies>(of.copied); }
std::unique_ptr<kernel> make_product(const sizes& of) { return std::make_unique<product>(of.n); }

}  // namespace ccube
