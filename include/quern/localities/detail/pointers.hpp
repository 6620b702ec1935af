// SPDX-License-Identifier: BSL-1.0
// How pointers that own something are written and read, and cereal's own items: sizes, bytes,
// names. Of several shared_ptr to one object in a parcel the first writes the object, the others
// its number. A number is read as a pointer of the type under which the object was read, no other.
#pragma once

#include <quern/localities/detail/encoding.hpp>

#include <cereal/access.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace quern::localities::detail {

/// The pointee of a pointer that owns one object.
template <class T>
std::unique_ptr<std::remove_const_t<T>> take_pointee(reader& from) {
    using object = std::remove_const_t<T>;
    std::unique_ptr<object> made(cereal::access::construct<object>());
    detail::take_item(from, *made);
    return made;
}

inline bool take_flag(reader& from) {
    bool flag = false;
    detail::take_item(from, flag);
    return flag;
}

/// A shared object may change while the parcel waits to be sent, so its contents are copied.
template <class T>
void put_shared(writer& to, const std::shared_ptr<T>& pointer) {
    std::uint32_t number = 0;
    bool is_new = false;
    if (pointer != nullptr) {
        std::tie(number, is_new) = to.shared_objects().find_or_add(pointer, typeid(T));
    }
    detail::put_item(to, number);
    detail::put_item(to, is_new);
    if (is_new) {
        const without_chunks<writer> copied(to);
        detail::put_item<std::remove_const_t<T>>(to, *pointer);
    }
}

template <class T>
void take_shared(reader& from, std::shared_ptr<T>& pointer) {
    using object = std::remove_const_t<T>;
    std::uint32_t number = 0;
    detail::take_item(from, number);
    shared_read& known = from.shared_objects();
    if (detail::take_flag(from)) {
        if (number != known.count() + 1) {
            from.fail("a shared object has the number " + std::to_string(number) +
                      ", the next one is " + std::to_string(known.count() + 1));
        }
        const std::shared_ptr<object> made(cereal::access::construct<object>());
        known.add(made, typeid(object));
        const without_chunks<reader> copied(from);
        detail::take_item(from, *made);
        pointer = made;
    } else if (number == 0) {
        pointer = nullptr;
    } else {
        std::shared_ptr<void> found = known.find(number, typeid(object));
        if (!found) {
            from.fail("no shared object of this type has the number " + std::to_string(number));
        }
        pointer = std::static_pointer_cast<object>(std::move(found));
    }
}

template <class T, class Archive>
void enter(Archive& archive) {
    if constexpr (std::is_class_v<T> && !is_wrapper<T>) {
        archive.open_items().enter();
        if constexpr (!is_kept_in_place<T>) {
            archive.open_items().forbid_chunks();
        }
    }
}
template <class T, class Archive>
void leave(Archive& archive) noexcept {
    if constexpr (std::is_class_v<T> && !is_wrapper<T>) {
        archive.open_items().leave();
        if constexpr (!is_kept_in_place<T>) {
            archive.open_items().allow_chunks();
        }
    }
}

namespace encoding {

template <class T>
    requires(!std::is_array_v<T>)
void save(writer& to, const std::unique_ptr<T>& pointer) {
    detail::put_item(to, pointer != nullptr);
    if (pointer != nullptr) {
        detail::put_item<std::remove_const_t<T>>(to, *pointer);
    }
}
template <class T>
    requires(!std::is_array_v<T>)
void load(reader& from, std::unique_ptr<T>& pointer) {
    pointer = detail::take_flag(from) ? detail::take_pointee<T>(from) : nullptr;
}

template <class T>
    requires(!std::is_array_v<T>)
void save(writer& to, const std::shared_ptr<T>& pointer) { detail::put_shared(to, pointer); }
template <class T>
    requires(!std::is_array_v<T>)
void load(reader& from, std::shared_ptr<T>& pointer) { detail::take_shared(from, pointer); }

template <class T>
    requires(!std::is_array_v<T>)
void save(writer& to, const std::weak_ptr<T>& pointer) { detail::put_shared(to, pointer.lock()); }
template <class T>
    requires(!std::is_array_v<T>)
void load(reader& from, std::weak_ptr<T>& pointer) {
    std::shared_ptr<T> owner;
    detail::take_shared(from, owner);
    pointer = owner;
}

template <class T>
void save(writer& to, const cereal::NameValuePair<T>& pair) {
    to(pair.value);
}
template <class T>
void load(reader& from, cereal::NameValuePair<T>& pair) {
    from(pair.value);
}

template <class T>
void save(writer& to, const cereal::SizeTag<T>& tag) {
    const std::uint64_t size = tag.size;
    to.put(&size, sizeof size);
}
template <class T>
void load(reader& from, cereal::SizeTag<T>& tag) {
    tag.size = static_cast<std::remove_reference_t<T>>(from.checked_count(from.take_size(), 1));
}

/// The bytes that a function of the program names itself.
template <class T>
    requires std::is_pointer_v<std::remove_reference_t<T>>
void save(writer& to, const cereal::BinaryData<T>& bytes) {
    to.put(bytes.data, static_cast<std::size_t>(bytes.size));
}
template <class T>
    requires std::is_pointer_v<std::remove_reference_t<T>>
void load(reader& from, cereal::BinaryData<T>& bytes) {
    from.take(bytes.data, static_cast<std::size_t>(bytes.size), typeid(T));
}

// Called by cereal before and after each item.
template <class T>
void prologue(writer& to, const T&) {
    detail::enter<T>(to);
}
template <class T>
void epilogue(writer& to, const T&) {
    detail::leave<T>(to);
}
template <class T>
void prologue(reader& from, const T&) {
    detail::enter<T>(from);
}
template <class T>
void epilogue(reader& from, const T&) {
    detail::leave<T>(from);
}

}  // namespace encoding
}  // namespace quern::localities::detail
