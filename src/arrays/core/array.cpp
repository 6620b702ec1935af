// SPDX-License-Identifier: BSL-1.0
#include <quern/arrays/array.hpp>

#include "core/memory.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::arrays {

namespace {

std::ptrdiff_t product(const extents& shape) noexcept {
    std::ptrdiff_t count = 1;
    for (const std::ptrdiff_t length : shape) {
        count *= length;
    }
    return count;
}

/// Throws if the shape cannot be one, or has more bytes than fit into an address.
std::size_t bytes_of(dtype type, const extents& shape) {
    const bool empty = std::ranges::count(shape, 0) > 0;
    std::size_t bytes = size_of(type);
    for (const std::ptrdiff_t length : shape) {
        if (length < 0) throw std::invalid_argument("negative dimensions are not allowed");
        std::size_t next = 0;
        if (!empty && (__builtin_mul_overflow(bytes, static_cast<std::size_t>(length), &next) ||
                       next > std::size_t(std::numeric_limits<std::ptrdiff_t>::max()))) {
            throw std::invalid_argument("array is too big: shape " + detail::text_of(shape) +
                                        " has more bytes than fit into an address");
        }
        bytes = next;
    }
    return bytes;
}

[[noreturn]] void refuse_dimensions(std::size_t count) {
    throw std::invalid_argument("maximum supported dimension for an array is " +
                                std::to_string(k_max_dimensions) + ", found " +
                                std::to_string(count));
}

}  // namespace

extents::extents(std::initializer_list<std::ptrdiff_t> values)
    : extents(std::span<const std::ptrdiff_t>(values.begin(), values.size())) {}

extents::extents(std::span<const std::ptrdiff_t> values) {
    if (values.size() > k_max_dimensions) refuse_dimensions(values.size());
    std::ranges::copy(values, m_values.begin());
    m_size = static_cast<std::uint8_t>(values.size());
}

void extents::push_back(std::ptrdiff_t value) {
    if (m_size == k_max_dimensions) refuse_dimensions(k_max_dimensions + 1);
    m_values[m_size++] = value;
}

bool extents::operator==(const extents& other) const noexcept {
    return std::ranges::equal(*this, other);
}

array::array(dtype type, const extents& shape)
    : m_owner(detail::make_memory(bytes_of(type, shape))),
      m_shape(shape),
      m_strides(c_strides(type, shape)),
      m_count(product(shape)),
      m_type(type) {
    m_data = static_cast<std::byte*>(m_owner.get());
}

array::array(void* data, dtype type, const extents& shape, const extents& strides,
             std::shared_ptr<void> owner, bool writable)
    : m_data(static_cast<std::byte*>(data)),
      m_owner(std::move(owner)),
      m_shape(shape),
      m_strides(strides),
      m_count(product(shape)),
      m_type(type),
      m_writable(writable) {
    if (shape.size() != strides.size()) {
        throw std::invalid_argument("array: shape " + detail::text_of(shape) + " and strides " +
                                    detail::text_of(strides) + " differ in length");
    }
    if (std::ranges::any_of(shape, [](std::ptrdiff_t n) { return n < 0; })) {
        throw std::invalid_argument("negative dimensions are not allowed");
    }
}

bool array::is_contiguous() const noexcept {
    if (m_count == 0) return true;
    auto expected = static_cast<std::ptrdiff_t>(size_of(m_type));
    for (std::size_t i = m_shape.size(); i-- > 0;) {
        if (m_shape[i] == 1) continue;
        if (m_strides[i] != expected) return false;
        expected *= m_shape[i];
    }
    return true;
}

array array::view(const extents& shape, const extents& strides, std::ptrdiff_t offset) const {
    return {m_data + offset, m_type, shape, strides, m_owner, m_writable};
}

extents c_strides(dtype type, const extents& shape) noexcept {
    extents strides = shape;
    auto stride = static_cast<std::ptrdiff_t>(size_of(type));
    for (std::size_t i = shape.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= std::max<std::ptrdiff_t>(shape[i], 1);
    }
    return strides;
}

extents broadcast(const extents& a, const extents& b) {
    const extents& longer = a.size() >= b.size() ? a : b;
    const extents& shorter = a.size() >= b.size() ? b : a;
    extents result = longer;
    const std::size_t skipped = longer.size() - shorter.size();
    for (std::size_t i = 0; i < shorter.size(); ++i) {
        std::ptrdiff_t& length = result[i + skipped];
        if (shorter[i] == length || shorter[i] == 1) continue;
        if (length != 1) {
            throw std::invalid_argument("operands could not be broadcast together with shapes " +
                                        detail::text_of(a) + " " + detail::text_of(b));
        }
        length = shorter[i];
    }
    return result;
}

}  // namespace quern::arrays
