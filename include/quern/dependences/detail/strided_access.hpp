// SPDX-License-Identifier: BSL-1.0
// Accesses to regions of several rows.
#pragma once

#include <quern/dependences/detail/region.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tuple>

namespace quern {
template <class T, std::size_t N>
class strided;
}

namespace quern::detail {

/// Throws std::invalid_argument. `distances` has one element less than `counts`.
void check_strided(const volatile void* first, std::size_t element,
                   std::span<const std::ptrdiff_t> counts,
                   std::span<const std::ptrdiff_t> distances);

/// The same bytes with as few dimensions as possible, so that equal regions are described in one
/// way. `row`: begin and kind are given. Requires: checked.
void describe_rows(std::size_t element, std::span<const std::ptrdiff_t> counts,
                   std::span<const std::ptrdiff_t> distances, region& row, strides& shape) noexcept;

template <class T, std::size_t N>
struct strided_access : access_base {
    using view_type = strided<T, N>;
    struct kept {
        strides shape;
        std::optional<strided<T, N>> view;
    };

    strided_access(const strided<T, N>& of, access_kind how) noexcept : m_of(of) {
        this->begin = reinterpret_cast<std::uintptr_t>(of.data());
        this->kind = how;
        detail::describe_rows(sizeof(T), of.counts(), of.distances(), *this, m_shape);
    }

    strided_region resolve(kept& keeps, domain_core&) const noexcept { return named(keeps); }
    strided_region named(kept& keeps) const noexcept {
        keeps.shape = m_shape;
        keeps.view = m_of;
        return {*this, m_shape.is_used() ? &keeps.shape : nullptr};
    }
    static auto view(kept& keeps, const region&) noexcept {
        return std::tuple<strided<T, N>>(*keeps.view);
    }

private:
    strided<T, N> m_of;
    strides m_shape;
};

}  // namespace quern::detail
