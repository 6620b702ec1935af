// SPDX-License-Identifier: BSL-1.0
// A table to which layers and programs add rows with unique names; rows are never removed.
// Constant-initialised, so static objects may add rows in any order.
#pragma once

#include <quern/base/detail/spin_lock.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace quern::detail {

/// Users may write '_' in the place of '-'.
inline bool is_same_name(std::string_view a, std::string_view b) noexcept {
    const auto dashed = [](char c) { return c == '_' ? '-' : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [dashed](char x, char y) { return dashed(x) == dashed(y); });
}

/// `Row` has a `name`. Readers take no lock and see complete rows.
template <class Row, std::size_t Most>
class growing_table {
public:
    template <std::size_t First>
    explicit constexpr growing_table(const Row (&first)[First]) noexcept : m_count(First) {
        static_assert(First <= Most);
        std::copy(first, first + First, m_rows.begin());
    }

    std::span<const Row> rows() const noexcept {
        return {m_rows.data(), m_count.load(std::memory_order_acquire)};  // pairs with add
    }

    /// The row with that name (is_same_name), or null.
    const Row* find(std::string_view name) const noexcept {
        const std::span<const Row> all = rows();
        const auto at = std::find_if(all.begin(), all.end(), [name](const Row& each) {
            return detail::is_same_name(each.name, name);
        });
        return at == all.end() ? nullptr : &*at;
    }

    /// All of them or none. Throws std::invalid_argument if a name is taken, std::length_error if
    /// there is no room. `what` names a row in messages: "setting".
    void add(std::span<const Row> more, const char* what) {
        const std::scoped_lock lock(m_lock);
        std::size_t count = m_count.load(std::memory_order_relaxed);
        if (more.size() > Most - count) {
            throw std::length_error("quern: no room for another " + std::string(what) +
                                    ": there are " + std::to_string(Most) + " at most");
        }
        for (const Row& row : more) {
            if (find(row.name) != nullptr) {
                throw std::invalid_argument("quern: there is a " + std::string(what) + " '" +
                                            std::string(row.name) + "' already");
            }
        }
        for (const Row& row : more) {
            m_rows[count++] = row;
        }
        m_count.store(count, std::memory_order_release);  // pairs with rows
    }

private:
    spin_lock m_lock;
    std::array<Row, Most> m_rows{};
    std::atomic<std::size_t> m_count;
};

}  // namespace quern::detail
