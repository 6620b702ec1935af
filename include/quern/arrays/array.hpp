// SPDX-License-Identifier: BSL-1.0
// An n-dimensional view of numbers in memory, as NumPy's ndarray: data, element type, shape and
// strides, and what keeps the memory alive.
#pragma once

#include <quern/arrays/dtype.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

namespace quern::arrays {

/// Most dimensions of an array.
inline constexpr std::size_t k_max_dimensions = 8;

/// The lengths or strides of the dimensions, outermost first. A value; never allocates.
class extents {
public:
    constexpr extents() noexcept = default;
    /// Throws std::invalid_argument for more than k_max_dimensions.
    extents(std::initializer_list<std::ptrdiff_t> values);
    explicit extents(std::span<const std::ptrdiff_t> values);

    std::size_t size() const noexcept { return m_size; }
    bool empty() const noexcept { return m_size == 0; }
    std::ptrdiff_t operator[](std::size_t i) const noexcept { return m_values[i]; }
    std::ptrdiff_t& operator[](std::size_t i) noexcept { return m_values[i]; }
    const std::ptrdiff_t* begin() const noexcept { return m_values.data(); }
    const std::ptrdiff_t* end() const noexcept { return m_values.data() + m_size; }
    std::ptrdiff_t back() const noexcept { return m_values[m_size - 1u]; }
    /// Throws std::invalid_argument beyond k_max_dimensions.
    void push_back(std::ptrdiff_t value);
    bool operator==(const extents& other) const noexcept;

private:
    std::array<std::ptrdiff_t, k_max_dimensions> m_values{};
    std::uint8_t m_size = 0;
};

/// A view: copies share the memory. Strides are in bytes and may be 0 or negative. Thread safety:
/// as a pointer; functions that only read may run at the same time.
///
///     quern::arrays::array a(quern::arrays::dtype::float64, {2, 3});   // C order, not initialised
///     a.data<double>()[0] = 1;
class array {
public:
    /// Without dimensions and data; dtype float64. Only to be assigned to.
    array() noexcept = default;
    /// New memory in C order, aligned to a cache line, not initialised. Throws std::bad_alloc;
    /// std::invalid_argument for a negative length or more bytes than fit into an address.
    array(dtype type, const extents& shape);
    /// A view of memory that `owner` keeps alive. Requires: every element that shape and strides
    /// reach lies in that memory, and elements are aligned.
    array(void* data, dtype type, const extents& shape, const extents& strides,
          std::shared_ptr<void> owner, bool writable);

    dtype type() const noexcept { return m_type; }
    std::size_t dimensions() const noexcept { return m_shape.size(); }
    const extents& shape() const noexcept { return m_shape; }
    const extents& strides() const noexcept { return m_strides; }
    /// The number of elements; 1 without dimensions.
    std::ptrdiff_t size() const noexcept { return m_count; }
    std::byte* bytes() const noexcept { return m_data; }
    template <class T>
    T* data() const noexcept {
        return reinterpret_cast<T*>(m_data);
    }
    bool is_writable() const noexcept { return m_writable; }
    /// Whether the elements lie one after the other in C order.
    bool is_contiguous() const noexcept;
    const std::shared_ptr<void>& owner() const noexcept { return m_owner; }

    /// The same data with other shape and strides, beginning `offset` bytes after this one's.
    array view(const extents& shape, const extents& strides, std::ptrdiff_t offset = 0) const;

private:
    std::byte* m_data = nullptr;
    std::shared_ptr<void> m_owner;
    extents m_shape;
    extents m_strides;
    std::ptrdiff_t m_count = 1;
    dtype m_type = dtype::float64;
    bool m_writable = true;
};

/// The strides of an array in C order.
extents c_strides(dtype type, const extents& shape) noexcept;

/// NumPy's broadcasting of two shapes. Throws std::invalid_argument with NumPy's own message:
/// "operands could not be broadcast together with shapes (2,3) (4,)".
extents broadcast(const extents& a, const extents& b);

}  // namespace quern::arrays
