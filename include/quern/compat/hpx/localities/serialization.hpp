// SPDX-License-Identifier: BSL-1.0
// hpx::serialization: functions for serialisation as HPX has them, serialize(archive, version) with
// `archive & a & b`, are functions of cereal, with a version; so what HPX needs are its names.
#pragma once

#include <quern/localities/archive.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace hpx::serialization {

/// For `friend class hpx::serialization::access`.
using cereal::access;
using input_archive = quern::localities::reader;
using output_archive = quern::localities::writer;

/// The base class's part of an object.
template <class Base, class Derived>
auto base_object(Derived& of) {
    return cereal::base_class<Base>(&of);
}

/// An array whose copies share their elements. Travels by value.
template <class T>
class serialize_buffer {
public:
    enum init_mode { copy, reference, take };
    using value_type = T;

    serialize_buffer() = default;
    explicit serialize_buffer(std::size_t size) : m_data(new T[size]()), m_size(size) {}
    /// `reference`: the elements must outlive it; `take`: they are deleted by it.
    serialize_buffer(T* data, std::size_t size, init_mode how = copy) : m_size(size) {
        if (how == copy) {
            m_data.reset(new T[size]());
            std::copy(data, data + size, m_data.get());
        } else if (how == take) {
            m_data.reset(data);
        } else {
            m_data = std::shared_ptr<T[]>(data, [](T*) {});
        }
    }
    template <class Deleter>
    serialize_buffer(T* data, std::size_t size, init_mode, Deleter end)
        : m_data(data, std::move(end)), m_size(size) {}

    T* data() noexcept { return m_data.get(); }
    const T* data() const noexcept { return m_data.get(); }
    std::size_t size() const noexcept { return m_size; }
    T* begin() noexcept { return data(); }
    T* end() noexcept { return data() + m_size; }
    const T* begin() const noexcept { return data(); }
    const T* end() const noexcept { return data() + m_size; }
    T& operator[](std::size_t i) { return m_data[static_cast<std::ptrdiff_t>(i)]; }
    const T& operator[](std::size_t i) const { return m_data[static_cast<std::ptrdiff_t>(i)]; }
    std::shared_ptr<T[]> data_array() const { return m_data; }

    template <class Archive>
    void save(Archive& into) const {
        into(std::vector<T>(begin(), end()));
    }
    template <class Archive>
    void load(Archive& from) {
        std::vector<T> values;
        from(values);
        *this = serialize_buffer(values.data(), values.size());
    }

private:
    std::shared_ptr<T[]> m_data;
    std::size_t m_size = 0;
};

}  // namespace hpx::serialization

#define HPX_SERIALIZATION_SPLIT_MEMBER()
#define HPX_SERIALIZATION_SPLIT_FREE(...)
#define HPX_IS_BITWISE_SERIALIZABLE(...)
