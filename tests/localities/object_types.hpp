// SPDX-License-Identifier: BSL-1.0
// Types of global objects for tests.
#pragma once

#include <quern/localities/object.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern_test {

/// Of this process.
inline std::atomic<int> g_counted_living{0};

/// Counts those that live.
struct counted {
    counted() { ++g_counted_living; }
    counted(const counted&) { ++g_counted_living; }
    counted& operator=(const counted&) = default;
    ~counted() { --g_counted_living; }
};

/// Notes who called in which order.
class ledger {
public:
    ledger() = default;
    explicit ledger(std::size_t size) : m_filling(size, 0.5) {}

    void note(int caller, std::uint64_t number) {
        m_is_in_order = m_is_in_order && m_last[caller] + 1 == number;
        m_last[caller] = number;
    }
    std::uint64_t calls() const {
        std::uint64_t sum = 0;
        for (const auto& [caller, last] : m_last) {
            sum += last;
        }
        return m_is_in_order ? sum : 0;
    }
    bool is_in_order() const { return m_is_in_order; }
    int place() const { return quern::localities::here(); }
    double filling() const {
        double sum = 0;
        for (const double each : m_filling) {
            sum += each;
        }
        return sum;
    }
    virtual ~ledger() = default;
    virtual std::string words(int n) const { return std::to_string(n) + " words"; }
    void fail(const std::string& why) { throw std::range_error(why); }

    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_last, m_is_in_order, m_filling);
    }

private:
    counted m_counted{};
    std::map<int, std::uint64_t> m_last;
    bool m_is_in_order = true;
    std::vector<double> m_filling;
};

/// An aggregate; its references travel with it.
struct cell {
    int value = 0;
    quern::localities::object<cell> next{};
    int add(int n) { return value += n; }
    int get() const { return value; }
};

}  // namespace quern_test
