// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of the algorithms that sort: data in the orders that they treat differently,
// comparisons that throw, and what must be left of a range after that.
#pragma once

#include "unit/algorithms/policies.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace quern_test {

/// Long enough to be divided among workers, partitioned by several, and merged in parts.
inline constexpr std::size_t k_long = 40'001;

/// Calls check(run) as for_every_policy; for long data, only for those that run in parallel.
template <class Check>
void for_policies_with(std::size_t n, Check&& check) {
    if (n < k_long) {
        for_every_policy(check);
    } else {
        check([](auto&& call) -> decltype(auto) { return call(quern::par); });
    }
}

/// n numbers in every order: random, few distinct ones, all equal, sorted, reversed, rising and
/// falling, sorted but for the ends.
inline std::vector<std::vector<int>> orders(std::size_t n) {
    std::vector<int> rising(n);
    std::iota(rising.begin(), rising.end(), -5);
    const std::vector<int> falling(rising.rbegin(), rising.rend());
    std::vector<int> both = rising;
    std::reverse(both.begin() + static_cast<std::ptrdiff_t>(n / 2), both.end());
    std::vector<int> nearly = rising;
    if (n != 0) {
        std::swap(nearly.front(), nearly.back());
    }
    return {numbers(n), numbers(n, 3), std::vector<int>(n, 7), rising, falling, both, nearly};
}

/// Throws in call number `calls`, counted over all threads.
class failing_less {
public:
    explicit failing_less(long calls) : m_left(std::make_shared<std::atomic<long>>(calls)) {}

    template <class T>
    bool operator()(const T& a, const T& b) const {
        if (m_left->fetch_sub(1, std::memory_order_relaxed) == 1) {
            throw std::runtime_error("call");
        }
        return a < b;
    }

private:
    std::shared_ptr<std::atomic<long>> m_left;  // a type that is not plain data
};

/// A number that cannot be copied; not plain data, and null when it has been moved from.
class owned {
public:
    explicit owned(int value) : m_value(std::make_unique<int>(value)) {}
    int value() const { return m_value == nullptr ? -1'000'000 : *m_value; }
    friend bool operator<(const owned& a, const owned& b) { return a.value() < b.value(); }
    friend bool operator==(const owned& a, const owned& b) { return a.value() == b.value(); }

private:
    std::unique_ptr<int> m_value;
};

/// As `owned`, but moving it may throw as far as the compiler knows.
struct unsafe_to_move : owned {
    explicit unsafe_to_move(int value) : owned(value) {}
    unsafe_to_move(unsafe_to_move&& other) noexcept(false) : owned(std::move(other)) {}
    unsafe_to_move& operator=(unsafe_to_move&& other) noexcept(false) {
        owned::operator=(std::move(other));
        return *this;
    }
    unsafe_to_move(const unsafe_to_move&) = delete;
    unsafe_to_move& operator=(const unsafe_to_move&) = delete;
    ~unsafe_to_move() = default;
};

template <class T>
std::vector<T> made_of(const std::vector<int>& values) {
    std::vector<T> all;
    all.reserve(values.size());
    for (const int each : values) {
        all.emplace_back(each);
    }
    return all;
}

template <class T>
std::vector<int> values_of(const std::vector<T>& all) {
    std::vector<int> values;
    values.reserve(all.size());
    for (const T& each : all) {
        if constexpr (std::is_same_v<T, int>) {
            values.push_back(each);
        } else {
            values.push_back(each.value());
        }
    }
    return values;
}

std::vector<int> sorted(std::vector<int> x);

/// Calls algorithm(x, less) with comparisons that throw sooner and later; x must keep its elements.
template <class T, class Algorithm>
void expect_to_keep_elements(const std::vector<int>& data, Algorithm algorithm) {
    const std::vector<int> expected = sorted(data);
    for (const long calls : {1L, 50L, 1'500L, 20'000L}) {
        std::vector<T> x = made_of<T>(data);
        try {
            algorithm(x, failing_less(calls));
        } catch (const std::runtime_error&) {
        }
        EXPECT_EQ(sorted(values_of(x)), expected) << "call " << calls;
    }
}

}  // namespace quern_test
