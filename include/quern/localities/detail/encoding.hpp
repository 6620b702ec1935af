// SPDX-License-Identifier: BSL-1.0
// How types are written and read: the functions that cereal finds for the archives. For containers
// they take the place of cereal's own, which trust the sizes that they read. A container grows
// while its elements are read, so that a corrupted size allocates no memory.
#pragma once

#include <quern/localities/detail/kinds.hpp>

#include <cereal/types/chrono.hpp>
#include <cereal/types/complex.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/variant.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace quern::localities::detail {

/// One value inside of another, or an argument.
template <class T>
void put_item(writer& to, const T& item) {
    if constexpr (as_bytes<T>) {
        to.put(std::addressof(item), sizeof item);
    } else if constexpr (std::is_array_v<T>) {
        for (const auto& each : item) {
            detail::put_item(to, each);
        }
    } else {
        to(item);
    }
}

template <class T>
void take_item(reader& from, T& item) {
    if constexpr (as_bytes<T>) {
        // As void*: compilers warn of copying bytes into a class with a constructor.
        from.take(const_cast<void*>(static_cast<const volatile void*>(std::addressof(item))),
                  sizeof item, typeid(T));
    } else if constexpr (std::is_array_v<T>) {
        for (auto& each : item) {
            detail::take_item(from, each);
        }
    } else {
        from(item);
    }
}

/// One element of a container. It takes at least one byte, so that the number of elements cannot be
/// larger than the number of bytes.
template <class T>
void put_element(writer& to, const T& element) {
    const std::size_t before = to.size();
    detail::put_item(to, element);
    if (to.size() == before) {
        to.put("", 1);
    }
}

template <class T>
void take_element(reader& from, T& element) {
    const std::size_t before = from.left();
    detail::take_item(from, element);
    if (from.left() == before) {
        char nothing = 0;
        from.take(&nothing, 1, typeid(T));
    }
}

/// While items are open of which no part can be a chunk, such as keys: a container compares them at
/// once, and a chunk's contents come later.
template <class Archive>
class without_chunks {
public:
    explicit without_chunks(Archive& archive, bool is_so = true) noexcept
        : m_open(archive.open_items()), m_is_so(is_so) {
        if (m_is_so) {
            m_open.forbid_chunks();
        }
    }
    without_chunks(const without_chunks&) = delete;
    without_chunks& operator=(const without_chunks&) = delete;
    ~without_chunks() {
        if (m_is_so) {
            m_open.allow_chunks();
        }
    }

private:
    nesting& m_open;
    bool m_is_so;
};

/// Whether the container's elements lie in memory of its own that moves along with it.
template <class Container>
inline constexpr bool k_is_contiguous =
    std::is_same_v<typename Container::allocator_type,
                   std::allocator<typename Container::value_type>>;

/// A vector or string of values that are copied as bytes.
template <class Container>
void put_contiguous(writer& to, const Container& from) {
    const std::size_t size = from.size() * sizeof(typename Container::value_type);
    std::uint64_t count = from.size();
    const bool is_chunk = k_is_contiguous<Container> && to.makes_chunk(size);
    if (is_chunk) {
        count |= k_is_chunk;
    }
    to.put(&count, sizeof count);
    if (is_chunk) {
        to.put_chunk(from.data(), size);
    } else {
        to.put(from.data(), size);
    }
}

template <class Container>
void take_contiguous(reader& from, Container& into) {
    using value = typename Container::value_type;
    const std::uint64_t count = from.take_size();
    if ((count & k_is_chunk) != 0) {
        if (!k_is_contiguous<Container>) {
            from.fail("a chunk is announced for a container with an allocator of its own");
        }
        const std::size_t announced = from.checked_chunk(count, sizeof(value));
        if (announced > into.max_size()) {
            from.fail("a chunk of " + std::to_string(announced) + " elements is announced");
        }
        into.resize(announced);
        from.expect_chunk(into.data(), into.size() * sizeof(value));
    } else {
        into.resize(from.checked_count(count, sizeof(value)));
        from.take(static_cast<void*>(into.data()), into.size() * sizeof(value), typeid(Container));
    }
}

template <class Container>
concept has_reserve = requires(Container& container) {
    container.reserve(0);
};

/// Whether a growing container copies its elements, and with them the memory of a chunk.
template <class Container>
inline constexpr bool k_copies_elements =
    has_reserve<Container> && !std::is_nothrow_move_constructible_v<typename Container::value_type>;

template <class Container>
void put_sequence(writer& to, const Container& from) {
    using value = typename Container::value_type;
    const auto count = static_cast<std::uint64_t>(std::distance(from.begin(), from.end()));
    to.put(&count, sizeof count);
    const without_chunks<writer> copied(to, k_copies_elements<Container>);
    for (auto&& each : from) {
        detail::put_element<value>(to, each);
    }
}

template <class Container>
void take_sequence(reader& from, Container& into) {
    using value = typename Container::value_type;
    const std::size_t count = from.checked_count(from.take_size(), 1);
    into.clear();
    if constexpr (has_reserve<Container>) {
        into.reserve(std::min(count, from.left() / sizeof(value) + 1));
    }
    const without_chunks<reader> copied(from, k_copies_elements<Container>);
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<value, bool>) {
            bool bit = false;
            detail::take_element(from, bit);
            into.push_back(bit);
        } else {
            detail::take_element(from, into.emplace_back());
        }
    }
}

// Found by cereal through the archives' base class. The names are cereal's.
namespace encoding {

template <class T>
    requires std::is_arithmetic_v<T>
void save(writer& to, const T& number) { to.put(&number, sizeof number); }
template <class T>
    requires std::is_arithmetic_v<T>
void load(reader& from, T& number) {
    if constexpr (std::is_same_v<T, bool>) {
        unsigned char byte = 0;
        from.take(&byte, 1, typeid(bool));
        if (byte > 1) {
            from.fail("a bool is wanted, and the byte before is " + std::to_string(byte));
        }
        number = byte == 1;
    } else {
        from.take(&number, sizeof number, typeid(T));
    }
}

inline void save(writer& to, const std::stop_token& token) {
    detail::put_item(to, to.note_token(token));
}
inline void load(reader& from, std::stop_token& token) {
    std::uint32_t written = 0;
    detail::take_item(from, written);
    token = from.token_of(written);
}

/// Classes without functions for serialisation.
template <class Archive, class T>
    requires(std::same_as<Archive, writer>&& is_plain<T> && !std::is_empty_v<T>)
void save(Archive& to, const T& plain) {
    if constexpr (as_bytes<T>) {
        detail::put_item(to, plain);
    } else {
        detail::for_each_member(plain, [&](const auto& member) { detail::put_item(to, member); });
    }
}
template <class Archive, class T>
    requires(std::same_as<Archive, reader>&& is_plain<T> && !std::is_empty_v<T>)
void load(Archive& from, T& plain) {
    if constexpr (as_bytes<T>) {
        detail::take_item(from, plain);
    } else {
        detail::for_each_member(plain, [&](auto& member) { detail::take_item(from, member); });
    }
}

template <class T, class A>
void save(writer& to, const std::vector<T, A>& from) {
    if constexpr (as_bytes<T>) {
        detail::put_contiguous(to, from);
    } else {
        detail::put_sequence(to, from);
    }
}
template <class T, class A>
void load(reader& from, std::vector<T, A>& into) {
    if constexpr (as_bytes<T>) {
        detail::take_contiguous(from, into);
    } else {
        detail::take_sequence(from, into);
    }
}

template <class A>
void save(writer& to, const std::vector<bool, A>& from) {
    detail::put_sequence(to, from);
}
template <class A>
void load(reader& from, std::vector<bool, A>& into) {
    detail::take_sequence(from, into);
}

template <class C, class Traits, class A>
void save(writer& to, const std::basic_string<C, Traits, A>& from) {
    detail::put_contiguous(to, from);
}
template <class C, class Traits, class A>
void load(reader& from, std::basic_string<C, Traits, A>& into) {
    detail::take_contiguous(from, into);
}

template <class T, std::size_t N>
void save(writer& to, const std::array<T, N>& from) {
    if constexpr (as_bytes<std::array<T, N>>) {
        detail::put_item(to, from);
    } else {
        for (const T& each : from) {
            detail::put_item(to, each);
        }
    }
}
template <class T, std::size_t N>
void load(reader& from, std::array<T, N>& into) {
    if constexpr (as_bytes<std::array<T, N>>) {
        detail::take_item(from, into);
    } else {
        for (T& each : into) {
            detail::take_item(from, each);
        }
    }
}

template <std::size_t N>
void save(writer& to, const std::bitset<N>& from) {
    for (std::size_t at = 0; at < N; at += 8) {
        unsigned byte = 0;
        for (std::size_t bit = 0; bit < std::min<std::size_t>(8, N - at); ++bit) {
            byte |= (from[at + bit] ? 1U : 0U) << bit;
        }
        const auto whole = static_cast<unsigned char>(byte);
        to.put(&whole, 1);
    }
}
template <std::size_t N>
void load(reader& from, std::bitset<N>& into) {
    for (std::size_t at = 0; at < N; at += 8) {
        unsigned char byte = 0;
        from.take(&byte, 1, typeid(into));
        for (std::size_t bit = 0; bit < std::min<std::size_t>(8, N - at); ++bit) {
            into[at + bit] = ((unsigned{byte} >> bit) & 1U) != 0;
        }
    }
}

template <class T, class A>
void save(writer& to, const std::deque<T, A>& from) {
    detail::put_sequence(to, from);
}
template <class T, class A>
void load(reader& from, std::deque<T, A>& into) {
    detail::take_sequence(from, into);
}
template <class T, class A>
void save(writer& to, const std::list<T, A>& from) {
    detail::put_sequence(to, from);
}
template <class T, class A>
void load(reader& from, std::list<T, A>& into) {
    detail::take_sequence(from, into);
}
template <class T, class A>
void save(writer& to, const std::forward_list<T, A>& from) {
    detail::put_sequence(to, from);
}
template <class T, class A>
void load(reader& from, std::forward_list<T, A>& into) {
    const std::size_t count = from.checked_count(from.take_size(), 1);
    into.clear();
    auto last = into.before_begin();
    for (std::size_t i = 0; i < count; ++i) {
        last = into.emplace_after(last);
        detail::take_element(from, *last);
    }
}

}  // namespace encoding
}  // namespace quern::localities::detail
