// SPDX-License-Identifier: BSL-1.0
// How sets and maps are written and read. A key is complete when it is inserted: its contents are
// never a chunk. A mapped value is read in its final place.
#pragma once

#include <quern/localities/detail/encoding.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace quern::localities::detail {

template <class Container>
void put_associative(writer& to, const Container& from) {
    const std::uint64_t count = from.size();
    to.put(&count, sizeof count);
    const auto put_key = [&to](const typename Container::key_type& key) {
        const without_chunks<writer> keys(to);
        detail::put_element(to, key);
    };
    for (const auto& each : from) {
        if constexpr (requires { typename Container::mapped_type; }) {
            put_key(each.first);
            detail::put_item(to, each.second);
        } else {
            put_key(each);
        }
    }
}

inline void refuse_twice(const reader& from, bool is_there_already) {
    if (is_there_already) [[unlikely]] {
        from.fail("a key of a container whose keys are unique occurs twice");
    }
}

template <class Container>
void take_associative(reader& from, Container& into) {
    const std::size_t count = from.checked_count(from.take_size(), 1);
    into.clear();
    for (std::size_t i = 0; i < count; ++i) {
        typename Container::key_type key{};
        {
            const without_chunks<reader> keys(from);
            detail::take_element(from, key);
        }
        if constexpr (requires { typename Container::mapped_type; }) {
            const auto at =
                into.emplace_hint(into.end(), std::piecewise_construct,
                                  std::forward_as_tuple(std::move(key)), std::forward_as_tuple());
            detail::refuse_twice(from, into.size() == i);
            detail::take_item(from, at->second);  // a chunk needs its final place
        } else {
            into.emplace_hint(into.end(), std::move(key));
            detail::refuse_twice(from, into.size() == i);
        }
    }
}

namespace encoding {

// As many parameters as the containers have, or cereal's functions fit as well.
#define QUERN_CLASSES_3 class A, class B, class C
#define QUERN_CLASSES_4 QUERN_CLASSES_3, class D
#define QUERN_CLASSES_5 QUERN_CLASSES_4, class E
#define QUERN_NAMES_3 A, B, C
#define QUERN_NAMES_4 QUERN_NAMES_3, D
#define QUERN_NAMES_5 QUERN_NAMES_4, E
#define QUERN_ASSOCIATIVE(container, count)                                  \
    template <QUERN_CLASSES_##count>                                         \
    void save(writer& to, const std::container<QUERN_NAMES_##count>& from) { \
        detail::put_associative(to, from);                                   \
    }                                                                        \
    template <QUERN_CLASSES_##count>                                         \
    void load(reader& from, std::container<QUERN_NAMES_##count>& into) {     \
        detail::take_associative(from, into);                                \
    }
QUERN_ASSOCIATIVE(set, 3)
QUERN_ASSOCIATIVE(multiset, 3)
QUERN_ASSOCIATIVE(unordered_set, 4)
QUERN_ASSOCIATIVE(unordered_multiset, 4)
QUERN_ASSOCIATIVE(map, 4)
QUERN_ASSOCIATIVE(multimap, 4)
QUERN_ASSOCIATIVE(unordered_map, 5)
QUERN_ASSOCIATIVE(unordered_multimap, 5)
#undef QUERN_ASSOCIATIVE
#undef QUERN_CLASSES_3
#undef QUERN_CLASSES_4
#undef QUERN_CLASSES_5
#undef QUERN_NAMES_3
#undef QUERN_NAMES_4
#undef QUERN_NAMES_5

}  // namespace encoding
}  // namespace quern::localities::detail
