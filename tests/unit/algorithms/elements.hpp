// SPDX-License-Identifier: BSL-1.0
// Ranges whose elements are not plain objects behind a pointer, for the tests that run every
// algorithm over each: temporaries, bits, zipped elements, elements that can only be moved or have
// a large alignment. All of them stand for numbers, so that the standard's algorithm over numbers
// says what is right.
#pragma once

#include <quern/algorithms/execution.hpp>

#include "unit/algorithms/policies.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace quern_test {

using ints = std::vector<int>;

/// An element with copies.
struct alignas(32) wide {
    wide() = default;
    explicit wide(int n) : number(n) {}

    int number;

    bool is_aligned() const { return reinterpret_cast<std::uintptr_t>(this) % alignof(wide) == 0; }
};

/// An element that is trivially copyable and has no copies.
struct alignas(32) single {
    single() = default;
    explicit single(int n) : number(n) {}
    single(const single&) = delete;
    single& operator=(const single&) = delete;
    single(single&&) = default;
    single& operator=(single&&) = default;

    int number;

    bool is_aligned() const {
        return reinterpret_cast<std::uintptr_t>(this) % alignof(single) == 0;
    }
    friend bool operator==(const single& a, const single& b) { return a.number == b.number; }
};
static_assert(std::is_trivially_copyable_v<single> && !std::is_copy_constructible_v<single>);
static_assert(std::is_trivially_default_constructible_v<single> &&
              std::is_trivially_default_constructible_v<wide>);

/// The text of a number, so long that it is not inside of the string.
inline std::string text_of(int number) {
    std::string text = std::to_string(number);
    text.insert(0, 24 - text.size(), '0');
    return text;
}

/// A pair of elements, and what a zip iterator gives for one: references to both.
struct zipped {
    int number = 0;
    std::string text = text_of(0);

    friend bool operator==(const zipped& a, const zipped& b) = default;
};
struct zipped_reference {
    int& number;
    std::string& text;

    zipped_reference(int& n, std::string& t) : number(n), text(t) {}
    zipped_reference(const zipped_reference&) = default;
    ~zipped_reference() = default;
    operator zipped() const { return {number, text}; }  // NOLINT(google-explicit-constructor)
    const zipped_reference& operator=(const zipped& from) const {
        number = from.number;
        text = from.text;
        return *this;
    }
    const zipped_reference& operator=(zipped&& from) const {
        number = from.number;
        text = std::move(from.text);
        return *this;
    }
    zipped_reference& operator=(const zipped_reference& from) {
        number = from.number;
        text = from.text;
        return *this;
    }
};

/// Random access by the concepts of C++20, which the algorithms of namespace std do not know.
class zip_iterator {
public:
    using iterator_concept = std::random_access_iterator_tag;
    using value_type = zipped;
    using difference_type = std::ptrdiff_t;

    zip_iterator() = default;
    zip_iterator(int* number, std::string* text) : m_number(number), m_text(text) {}

    zipped_reference operator*() const { return {*m_number, *m_text}; }
    zipped_reference operator[](difference_type n) const { return *(*this + n); }
    friend zipped iter_move(const zip_iterator& i) { return {*i.m_number, std::move(*i.m_text)}; }

    zip_iterator& operator+=(difference_type n) {
        m_number += n;
        m_text += n;
        return *this;
    }
    zip_iterator& operator-=(difference_type n) { return *this += -n; }
    zip_iterator& operator++() { return *this += 1; }
    zip_iterator& operator--() { return *this -= 1; }
    zip_iterator operator++(int) { return *this += 1, *this - 1; }
    zip_iterator operator--(int) { return *this -= 1, *this + 1; }
    friend zip_iterator operator+(zip_iterator i, difference_type n) { return i += n; }
    friend zip_iterator operator+(difference_type n, zip_iterator i) { return i += n; }
    friend zip_iterator operator-(zip_iterator i, difference_type n) { return i -= n; }
    friend difference_type operator-(zip_iterator a, zip_iterator b) {
        return a.m_number - b.m_number;
    }
    friend bool operator==(const zip_iterator&, const zip_iterator&) = default;
    friend auto operator<=>(const zip_iterator&, const zip_iterator&) = default;

private:
    int* m_number = nullptr;
    std::string* m_text = nullptr;
};
static_assert(std::random_access_iterator<zip_iterator>);

/// The number for which an element stands; -1 if it is not where it may be.
inline int number_of(int n) { return n; }
inline int number_of(const wide& e) { return e.is_aligned() ? e.number : -1; }
inline int number_of(const single& e) { return e.is_aligned() ? e.number : -1; }
inline int number_of(const std::string& text) { return std::stoi(text); }
inline int number_of(const zipped& e) { return e.number; }
inline int number_of(const zipped_reference& e) { return e.number; }

/// The same for an element that must be whole: -1 if its parts are not of one element.
template <class Element>
int whole_number_of(const Element& e) {
    if constexpr (requires { e.text; }) {
        return e.text == text_of(e.number) ? e.number : -1;
    } else {
        return number_of(e);
    }
}

/// Functions of elements of any kind. They cannot be copied, though by their bytes.
struct move_only {
    move_only() = default;
    move_only(const move_only&) = delete;
    move_only& operator=(const move_only&) = delete;
    move_only(move_only&&) = default;
    move_only& operator=(move_only&&) = default;
};
struct is_less : move_only {
    bool operator()(const auto& a, const auto& b) const { return number_of(a) < number_of(b); }
};
struct is_same : move_only {
    bool operator()(const auto& a, const auto& b) const { return number_of(a) == number_of(b); }
};
struct is_odd : move_only {
    bool operator()(const auto& e) const { return number_of(e) % 2 != 0; }
};

/// is_odd for the standard's algorithms over numbers.
inline bool odd(int n) { return n % 2 != 0; }

/// The numbers of a range.
template <class It>
ints numbers_of(It first, It last) {
    ints all;
    for (; first != last; ++first) {
        all.push_back(whole_number_of(*first));
    }
    return all;
}

/// Elements in a vector of their own. `k_values`: there are so many different ones.
template <class T, int Values>
struct in_vector {
    static constexpr int k_values = Values;

    explicit in_vector(const ints& from) : all(from.size()) {
        for (std::size_t i = 0; i < from.size(); ++i) {
            all[i] = T(from[i]);
        }
    }
    auto begin() { return all.begin(); }
    auto end() { return all.end(); }

    std::vector<T> all;
};
using wides = in_vector<wide, 5'000>;
using singles = in_vector<single, 5'000>;
using bits = in_vector<bool, 2>;

/// Numbers and texts, zipped.
struct zips {
    static constexpr int k_values = 5'000;

    explicit zips(const ints& from) : number(from), text(from.size()) {
        std::transform(from.begin(), from.end(), text.begin(), text_of);
    }
    zip_iterator begin() { return {number.data(), text.data()}; }
    zip_iterator end() { return begin() + static_cast<std::ptrdiff_t>(number.size()); }

    ints number;
    std::vector<std::string> text;
};

/// Texts that are made when they are read, with differences wider than any integer of the standard.
inline auto texts(const ints& from) {
    return std::views::iota(std::size_t{0}, from.size()) |
           std::views::transform([&from](std::size_t i) { return text_of(from[i]); });
}

/// A source, a destination for as many elements, and the numbers of what has been written.
template <class Elements>
struct elements_to_copy {
    static constexpr int k_values = Elements::k_values;

    explicit elements_to_copy(const ints& from) : source(from), out(ints(2 * from.size())) {}
    auto begin() { return source.begin(); }
    auto end() { return source.end(); }

    Elements source;
    Elements out;
};
/// The elements that can only be moved are read through move iterators.
struct singles_to_move : elements_to_copy<singles> {
    using elements_to_copy<singles>::elements_to_copy;
    auto begin() { return std::make_move_iterator(source.begin()); }
    auto end() { return std::make_move_iterator(source.end()); }
};
/// Texts that are made when they are read, into texts.
struct texts_to_copy {
    static constexpr int k_values = 5'000;

    explicit texts_to_copy(const ints& from) : source(texts(from)), out(2 * from.size()) {}
    auto begin() { return source.begin(); }
    auto end() { return source.end(); }

    decltype(texts(std::declval<const ints&>())) source;
    std::vector<std::string> out;
};

/// A case over elements runs with both policies, on 1, 2 and 8 workers.
class over_elements : public on_runtime {
protected:
    /// Calls check(policy, data) in a task, with numbers in [0, values).
    template <class Check>
    void compare(int values, Check check) {
        inside([&] {
            for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{100},
                                        scaled<std::size_t>(36'003, 3'003)}) {
                const ints data = numbers(n, values);
                check(quern::seq, data);
                check(quern::par, data);
            }
        });
    }

    /// ours(policy, first, last, out) writes what standard(first, last, out) writes over numbers.
    /// Both return the end of it.
    template <class ToCopy, class Ours, class Standard>
    void expect_same_copy(Ours ours, Standard standard) {
        compare(ToCopy::k_values, [&](auto policy, const ints& data) {
            ints expected(2 * data.size());
            expected.erase(standard(data.begin(), data.end(), expected.begin()), expected.end());
            ToCopy x(data);
            const auto end = ours(policy, x.begin(), x.end(), x.out.begin());
            EXPECT_TRUE(expected == numbers_of(x.out.begin(), end)) << data.size() << " elements";
        });
    }
    template <class Ours, class Standard>
    void expect_copies_as_standard(Ours ours, Standard standard) {
        expect_same_copy<texts_to_copy>(ours, standard);
        expect_same_copy<singles_to_move>(ours, standard);
        expect_same_copy<elements_to_copy<bits>>(ours, standard);
        expect_same_copy<elements_to_copy<zips>>(ours, standard);
    }
};

}  // namespace quern_test
