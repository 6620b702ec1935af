// SPDX-License-Identifier: BSL-1.0
#include "primitives/copies.hpp"

#include "core/memory.hpp"
#include "core/text.hpp"

#include <quern/algorithms/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace quern::arrays::detail {

namespace {

/// C's conversion where it is defined; what processors give elsewhere.
template <class To, class From>
To element_as(From x) noexcept {
    if constexpr (std::is_same_v<To, bool>) {
        return x != From{};
    } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
        constexpr auto k_least = static_cast<From>(std::numeric_limits<To>::min());
        return x >= k_least && x < -k_least ? static_cast<To>(x) : std::numeric_limits<To>::min();
    } else {
        return static_cast<To>(x);
    }
}

using line_copy = void (*)(std::byte*, std::ptrdiff_t, const std::byte*, std::ptrdiff_t,
                           std::ptrdiff_t);

template <class To, class From>
void copy_line(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from,
               std::ptrdiff_t from_stride, std::ptrdiff_t count) {
    if (to_stride == sizeof(To) && from_stride == sizeof(From)) {
        if constexpr (std::is_same_v<To, From>) {
            std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(To));
        } else {
            auto* t = reinterpret_cast<To*>(to);
            const auto* f = reinterpret_cast<const From*>(from);
            for (std::ptrdiff_t i = 0; i < count; ++i) {
                t[i] = element_as<To>(f[i]);
            }
        }
        return;
    }
    for (std::ptrdiff_t i = 0; i < count; ++i, to += to_stride, from += from_stride) {
        *reinterpret_cast<To*>(to) = element_as<To>(*reinterpret_cast<const From*>(from));
    }
}

line_copy line_copy_of(dtype to, dtype from) {
    return with_element(to, [from](auto* t) {
        using to_type = std::remove_cvref_t<decltype(*t)>;
        return with_element(from, [](auto* f) -> line_copy {
            return copy_line<to_type, std::remove_cvref_t<decltype(*f)>>;
        });
    });
}

/// The dimensions of a copy: those of length 1 are left out, those that lie behind one another in
/// both arrays are one.
struct copy_plan {
    std::size_t dimensions = 0;
    std::ptrdiff_t shape[k_max_dimensions] = {};
    std::ptrdiff_t to[k_max_dimensions] = {};
    std::ptrdiff_t from[k_max_dimensions] = {};

    copy_plan(const array& target, const array& source) {
        for (std::size_t i = 0; i < target.dimensions(); ++i) {
            if (target.shape()[i] != 1) {
                add(target.shape()[i], target.strides()[i], source.strides()[i]);
            }
        }
        if (dimensions == 0) add(1, 0, 0);
    }

    void add(std::ptrdiff_t length, std::ptrdiff_t to_stride, std::ptrdiff_t from_stride) {
        if (dimensions > 0) {
            const std::size_t last = dimensions - 1u;
            if (to[last] == length * to_stride && from[last] == length * from_stride) {
                shape[last] *= length;
                to[last] = to_stride;
                from[last] = from_stride;
                return;
            }
        }
        shape[dimensions] = length;
        to[dimensions] = to_stride;
        from[dimensions++] = from_stride;
    }
};

/// Copies part of one line of the innermost dimension.
void copy_piece(const copy_plan& plan, line_copy copy, std::byte* to, const std::byte* from,
                std::ptrdiff_t row, std::ptrdiff_t first, std::ptrdiff_t count) {
    const std::size_t inner = plan.dimensions - 1u;
    to += first * plan.to[inner];
    from += first * plan.from[inner];
    for (std::size_t i = inner; i-- > 0;) {
        const std::ptrdiff_t at = row % plan.shape[i];
        row /= plan.shape[i];
        to += at * plan.to[i];
        from += at * plan.from[i];
    }
    copy(to, plan.to[inner], from, plan.from[inner], count);
}

constexpr std::ptrdiff_t k_piece = 1 << 14;

/// calloc's memory is not touched before it is used.
std::shared_ptr<void> zero_memory(std::size_t bytes) {
    void* memory = std::calloc(bytes, 1);
    if (memory == nullptr) throw_no_memory(bytes);
    return {memory, [](void* m) { std::free(m); }};
}

}  // namespace

void copy_elements(const array& to, const array& from) {
    if (to.size() == 0) return;
    const copy_plan plan(to, from);
    const line_copy copy = line_copy_of(to.type(), from.type());
    const std::ptrdiff_t length = plan.shape[plan.dimensions - 1u];
    const std::ptrdiff_t rows = to.size() / length;
    const std::ptrdiff_t pieces = (length + k_piece - 1) / k_piece;
    const auto run = [&](std::ptrdiff_t i) {
        const std::ptrdiff_t first = i % pieces * k_piece;
        copy_piece(plan, copy, to.bytes(), from.bytes(), i / pieces, first,
                   std::min(k_piece, length - first));
    };
    if (to.size() * static_cast<std::ptrdiff_t>(size_of(to.type())) < k_pass_bytes) {
        for (std::ptrdiff_t i = 0; i < rows * pieces; ++i) {
            run(i);
        }
    } else {
        quern::parallel_for(std::ptrdiff_t{0}, rows * pieces, run);
    }
}

array copied(const array& from, dtype type) {
    array made(type, from.shape());
    copy_elements(made, from);
    return made;
}

array converted(const array& from, dtype type) {
    return from.type() == type ? from : copied(from, type);
}

array contiguous(const array& from) {
    return from.is_contiguous() ? from : copied(from, from.type());
}

array zeroed(dtype type, const extents& shape) {
    std::ptrdiff_t count = 1;
    for (const std::ptrdiff_t length : shape) {
        if (length < 0 || __builtin_mul_overflow(count, length, &count)) {
            return {type, shape};  // which says what is wrong
        }
    }
    const std::size_t bytes = static_cast<std::size_t>(count) * size_of(type);
    if (bytes >= std::size_t(k_pass_bytes)) {
        auto memory = zero_memory(bytes);
        void* const first = memory.get();
        return {first, type, shape, c_strides(type, shape), std::move(memory), true};
    }
    array made(type, shape);
    std::memset(made.bytes(), 0, bytes);
    return made;
}

array broadcast_view(const array& from, const extents& shape) {
    const auto refuse = [&] {
        throw std::invalid_argument("could not broadcast input array from shape " +
                                    text_of(from.shape()) + " into shape " + text_of(shape));
    };
    if (shape.size() < from.dimensions()) refuse();
    const std::size_t more = shape.size() - from.dimensions();
    extents strides;
    for (std::size_t i = 0; i < shape.size(); ++i) {
        const bool repeats = i < more || from.shape()[i - more] != shape[i];
        if (i >= more && repeats && from.shape()[i - more] != 1) refuse();
        strides.push_back(repeats ? 0 : from.strides()[i - more]);
    }
    return from.view(shape, strides);
}

array swapped_axes(const array& from, std::size_t a, std::size_t b) {
    extents shape = from.shape();
    extents strides = from.strides();
    std::swap(shape[a], shape[b]);
    std::swap(strides[a], strides[b]);
    return from.view(shape, strides);
}

array moved_axis(const array& of, std::size_t from, std::size_t to) {
    extents shape = of.shape();
    extents strides = of.strides();
    for (std::size_t i = from; i != to; i += from < to ? 1u : ~std::size_t{0}) {
        const std::size_t next = from < to ? i + 1u : i - 1u;
        std::swap(shape[i], shape[next]);
        std::swap(strides[i], strides[next]);
    }
    return of.view(shape, strides);
}

array flattened(const array& from) {
    const array whole = contiguous(from);
    return whole.view({whole.size()}, {static_cast<std::ptrdiff_t>(size_of(whole.type()))});
}

array expanded(const array& from, std::size_t axis) {
    extents shape;
    extents strides;
    for (std::size_t i = 0; i <= from.dimensions(); ++i) {
        if (i == axis) {
            shape.push_back(1);
            strides.push_back(0);
        }
        if (i == from.dimensions()) break;
        shape.push_back(from.shape()[i]);
        strides.push_back(from.strides()[i]);
    }
    return from.view(shape, strides);
}

array without_axis(const array& a, std::size_t axis) {
    extents shape;
    extents strides;
    for (std::size_t i = 0; i < a.dimensions(); ++i) {
        if (i == axis) continue;
        shape.push_back(a.shape()[i]);
        strides.push_back(a.strides()[i]);
    }
    return a.view(shape, strides);
}

array part_of(const array& from, std::size_t axis, std::ptrdiff_t first, std::ptrdiff_t last) {
    extents shape = from.shape();
    shape[axis] = last - first;
    return from.view(shape, from.strides(), shape[axis] == 0 ? 0 : first * from.strides()[axis]);
}

array stacked(std::span<const array> parts, std::size_t axis, dtype type) {
    extents shape = expanded(parts[0], axis).shape();
    shape[axis] = static_cast<std::ptrdiff_t>(parts.size());
    array made(type, shape);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto at = static_cast<std::ptrdiff_t>(i);
        copy_elements(part_of(made, axis, at, at + 1), expanded(parts[i], axis));
    }
    return made;
}

}  // namespace quern::arrays::detail
