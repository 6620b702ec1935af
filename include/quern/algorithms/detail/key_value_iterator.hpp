// SPDX-License-Identifier: BSL-1.0
// Two ranges as one of pairs, so that an algorithm that moves elements moves keys and values
// together. Used only by sort_by_key, with algorithms that access elements as sort_elements.hpp.
#pragma once

#include <quern/base/detail/config.hpp>

#include <compare>
#include <cstddef>
#include <iterator>
#include <utility>

namespace quern::detail {

template <class Keys, class Values>
class key_value_iterator {
public:
    using difference_type = std::ptrdiff_t;
    struct value_type {
        std::iter_value_t<Keys> key;
        std::iter_value_t<Values> value;
    };

    /// The elements of both ranges; assigning writes them.
    struct reference {
        std::iter_reference_t<Keys> key;
        std::iter_reference_t<Values> value;

        reference(const Keys& k, const Values& v) : key(*k), value(*v) {}
        reference(const reference&) = default;
        reference& operator=(const reference& other) = delete;
        ~reference() = default;

        operator value_type() const { return {key, value}; }  // NOLINT(google-explicit-constructor)
        void operator=(value_type&& from) {  // NOLINT(misc-unconventional-assign-operator)
            key = std::move(from.key);
            value = std::move(from.value);
        }
        void operator=(const value_type& from) {  // NOLINT(misc-unconventional-assign-operator)
            key = from.key;
            value = from.value;
        }
    };

    key_value_iterator() = default;
    key_value_iterator(Keys keys, Values values) : m_keys(keys), m_values(values) {}

    reference operator*() const { return {m_keys, m_values}; }
    friend value_type iter_move(const key_value_iterator& i) {
        return {std::ranges::iter_move(i.m_keys), std::ranges::iter_move(i.m_values)};
    }

    key_value_iterator& operator+=(difference_type n) {
        m_keys += static_cast<std::iter_difference_t<Keys>>(n);
        m_values += static_cast<std::iter_difference_t<Values>>(n);
        return *this;
    }
    key_value_iterator& operator-=(difference_type n) { return *this += -n; }
    key_value_iterator& operator++() { return *this += 1; }
    key_value_iterator& operator--() { return *this += -1; }
    friend key_value_iterator operator+(key_value_iterator i, difference_type n) { return i += n; }
    friend key_value_iterator operator-(key_value_iterator i, difference_type n) { return i -= n; }
    friend difference_type operator-(const key_value_iterator& a, const key_value_iterator& b) {
        return static_cast<difference_type>(a.m_keys - b.m_keys);
    }
    friend bool operator==(const key_value_iterator& a, const key_value_iterator& b) {
        return a.m_keys == b.m_keys;
    }

private:
    Keys m_keys{};
    Values m_values{};
};

/// Compares pairs by their keys.
template <class Less>
struct less_by_key {
    Less& less;

    bool operator()(const auto& a, const auto& b) const { return less(a.key, b.key); }
};

}  // namespace quern::detail
