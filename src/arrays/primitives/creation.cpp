// SPDX-License-Identifier: BSL-1.0
// New arrays: filled ones, ranges, and matrices with a diagonal.
#include "primitives/arguments.hpp"
#include "primitives/copies.hpp"
#include "primitives/families.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/arrays/errors.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace quern::arrays::detail {

namespace {

array filled(const extents& shape, dtype type, array with) {
    array made(type, shape);
    while (with.dimensions() > shape.size() && with.shape()[0] == 1) {
        with = without_axis(with, 0);
    }
    copy_elements(made, broadcast_view(with, shape));
    return made;
}

array ones_of(const extents& shape, dtype type) {
    return filled(shape, type, array_from(std::int64_t{1}, "1"));
}

value run_zeros(std::span<const value> in) {
    return zeroed(dtype_from(in[1], dtype::float64), shape_from(in[0]));
}
value run_ones(std::span<const value> in) {
    return ones_of(shape_from(in[0]), dtype_from(in[1], dtype::float64));
}
value run_empty(std::span<const value> in) {
    return array(dtype_from(in[1], dtype::float64), shape_from(in[0]));
}
value run_full(std::span<const value> in) {
    const array with = array_from(in[1], "fill_value");
    return filled(shape_from(in[0]), dtype_from(in[2], with.type()), with);
}

/// The shape and type that x_like(a, dtype, shape) asks for.
struct likeness {
    extents shape;
    dtype type;
    likeness(const value& a, const value& wanted_type, const value& wanted_shape)
        : type(dtype_from(wanted_type, type_of(a))) {
        shape = wanted_shape.is_none() ? array_from(a, "a").shape() : shape_from(wanted_shape);
    }
};

value run_zeros_like(std::span<const value> in) {
    const likeness as(in[0], in[1], in[2]);
    return zeroed(as.type, as.shape);
}
value run_ones_like(std::span<const value> in) {
    const likeness as(in[0], in[1], in[2]);
    return ones_of(as.shape, as.type);
}
value run_empty_like(std::span<const value> in) {
    const likeness as(in[0], in[1], in[2]);
    return array(as.type, as.shape);
}
value run_full_like(std::span<const value> in) {
    const likeness as(in[0], in[2], in[3]);
    return filled(as.shape, as.type, array_from(in[1], "fill_value"));
}

value run_array(std::span<const value> in) {
    const array from = array_from(in[0], "object");
    const dtype type = dtype_from(in[1], from.type());
    array made = truth_of(in[2]) && in[0].is<array>() ? copied(from, type) : converted(from, type);
    const std::int64_t least = integer_from(in[3], "ndmin");
    while (static_cast<std::int64_t>(made.dimensions()) < least) {
        made = expanded(made, 0);
    }
    return made;
}
value run_asarray(std::span<const value> in) {
    const array from = array_from(in[0], "a");
    return converted(from, dtype_from(in[1], from.type()));
}

/// x[i] = start + i * step; integers in their own arithmetic, modulo 2^64 as NumPy's.
template <class T>
array progression(std::ptrdiff_t count, T start, T step) {
    array made(dtype_of<T>, {count});
    T* const x = made.data<T>();
    const auto fill = [=](std::ptrdiff_t i) {
        if constexpr (std::is_integral_v<T>) {
            const auto steps = static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(step);
            x[i] = static_cast<T>(static_cast<std::uint64_t>(start) + steps);
        } else {
            x[i] = start + static_cast<T>(i) * step;
        }
    };
    if (count * static_cast<std::ptrdiff_t>(sizeof(T)) < k_pass_bytes) {
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            fill(i);
        }
    } else {
        quern::parallel_for(std::ptrdiff_t{0}, count, fill);
    }
    return made;
}

std::ptrdiff_t range_length(double start, double stop, double step) {
    const double count = std::ceil((stop - start) / step);
    if (!(count < 0x1p62)) {
        throw std::invalid_argument(std::isnan(count) ? "arange: cannot compute length"
                                                      : "Maximum allowed size exceeded");
    }
    return count > 0 ? static_cast<std::ptrdiff_t>(count) : 0;
}

array integer_range(std::int64_t start, std::int64_t stop, std::int64_t step, dtype type) {
    const bool is_empty = step > 0 ? start >= stop : start <= stop;
    const auto low = static_cast<std::uint64_t>(step > 0 ? start : stop);
    const auto high = static_cast<std::uint64_t>(step > 0 ? stop : start);
    const auto size =
        step > 0 ? static_cast<std::uint64_t>(step) : 0u - static_cast<std::uint64_t>(step);
    const std::uint64_t count = is_empty ? 0 : (high - low - 1u) / size + 1u;
    return converted(progression(static_cast<std::ptrdiff_t>(count), start, step), type);
}

bool is_float32(const value& of) { return of.is<array>() && type_of(of) == dtype::float32; }

/// Whether arithmetic on both is in float32: Python's numbers are weak.
bool computes_in_float32(const value& a, const value& b) {
    const bool others = (is_float32(a) || !a.is<array>()) && (is_float32(b) || !b.is<array>());
    return others && (is_float32(a) || is_float32(b));
}

value run_arange(std::span<const value> in) {
    const bool one = in[1].is_none();
    const value start = one ? value(std::int64_t{0}) : in[0];
    const value& stop = one ? in[0] : in[1];
    const value step = in[2].is_none() ? value(std::int64_t{1}) : in[2];
    const dtype natural =
        promote(dtype::int64, promote(promote(type_of(start), type_of(stop)), type_of(step)));
    const dtype type = dtype_from(in[3], natural);
    if (number_from(step, "step") == 0) throw zero_division_error("division by zero");
    if (!is_float(natural)) {
        return integer_range(integer_from(start, "start"), integer_from(stop, "stop"),
                             integer_from(step, "step"), type);
    }
    const double first = number_from(start, "start");
    const double by = number_from(step, "step");
    const std::ptrdiff_t count = range_length(first, number_from(stop, "stop"), by);
    // NumPy takes the step from the first two elements.
    const double second = computes_in_float32(start, step)
                              ? double(static_cast<float>(first) + static_cast<float>(by))
                              : first + by;
    if (type == dtype::float32) {
        const auto origin = static_cast<float>(first);
        return progression(count, origin, static_cast<float>(second) - origin);
    }
    if (type == dtype::float64) return progression(count, first, second - first);
    const array ends = converted(progression(2, first, second - first), dtype::int64);
    const auto* two = ends.data<std::int64_t>();
    return converted(progression(count, two[0], two[1] - two[0]), type);
}

template <class T>
array even_steps(T start, T stop, std::ptrdiff_t count, bool endpoint, double& step) {
    const std::ptrdiff_t gaps = endpoint ? count - 1 : count;
    const T width = stop - start;
    const T by = gaps > 0 ? width / static_cast<T>(gaps) : std::numeric_limits<T>::quiet_NaN();
    array made = progression<T>(count, T(0), by);
    T* const x = made.data<T>();
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        if (gaps <= 0) {
            x[i] = start + T(0) * width;
        } else if (by == T(0)) {  // too small: divide first
            x[i] = static_cast<T>(i) / static_cast<T>(gaps) * width + start;
        } else {
            x[i] += start;
        }
    }
    if (endpoint && count > 1) x[count - 1] = stop;
    step = static_cast<double>(by);
    return made;
}

value run_linspace(std::span<const value> in) {
    const double start = number_from(in[0], "start");
    const double stop = number_from(in[1], "stop");
    const std::int64_t count = integer_from(in[2], "num");
    if (count < 0) {
        throw std::invalid_argument("Number of samples, " + std::to_string(count) +
                                    ", must be non-negative.");
    }
    const dtype natural = computes_in_float32(in[0], in[1]) ? dtype::float32 : dtype::float64;
    const dtype type = dtype_from(in[5], natural);
    const bool endpoint = truth_of(in[3]);
    double step = 0;
    array made =
        natural == dtype::float32
            ? even_steps(static_cast<float>(start), static_cast<float>(stop), count, endpoint, step)
            : even_steps(start, stop, count, endpoint, step);
    if (is_integer(type)) {
        with_element(natural, [&]<class T>(const T*) {
            std::transform(made.data<T>(), made.data<T>() + count, made.data<T>(),
                           [](T x) { return static_cast<T>(std::floor(static_cast<double>(x))); });
        });
    }
    made = converted(made, type);
    if (!truth_of(in[4])) return made;
    const bool has_step = step == step;
    return tuple_of(
        {made, converted(array_from(step, "step"), has_step ? natural : dtype::float64)});
}

/// A view of the diagonal of a matrix that begins k columns to the right, or -k rows below.
array diagonal_of(const array& matrix, std::int64_t k) {
    const extents& shape = matrix.shape();
    const extents& strides = matrix.strides();
    const std::ptrdiff_t row = k < 0 ? std::min<std::ptrdiff_t>(-k, shape[0]) : 0;
    const std::ptrdiff_t column = k > 0 ? std::min<std::ptrdiff_t>(k, shape[1]) : 0;
    const std::ptrdiff_t length = std::min(shape[0] - row, shape[1] - column);
    const std::ptrdiff_t offset = length > 0 ? row * strides[0] + column * strides[1] : 0;
    return matrix.view({length}, {strides[0] + strides[1]}, offset);
}

/// k as it is where it matters: more than a matrix has is as much as it has.
std::int64_t offset_from(const value& k) {
    constexpr std::int64_t k_most = std::int64_t{1} << 40;
    return std::clamp(integer_from(k, "k"), -k_most, k_most);
}

array unit_matrix(const value& rows, const value& columns, const value& k, dtype type) {
    const std::int64_t n = integer_from(rows, "N");
    array made = zeroed(type, {n, columns.is_none() ? n : integer_from(columns, "M")});
    const array diagonal = diagonal_of(made, offset_from(k));
    copy_elements(diagonal, broadcast_view(array_from(true, "1"), diagonal.shape()));
    return made;
}

value run_eye(std::span<const value> in) {
    return unit_matrix(in[0], in[1], in[2], dtype_from(in[3], dtype::float64));
}
value run_identity(std::span<const value> in) {
    return unit_matrix(in[0], none{}, std::int64_t{0}, dtype_from(in[1], dtype::float64));
}

value run_diag(std::span<const value> in) {
    const array v = array_from(in[0], "v");
    const std::int64_t k = offset_from(in[1]);
    if (v.dimensions() == 2) {
        const array view = diagonal_of(v, k);
        return array(view.bytes(), view.type(), view.shape(), view.strides(), view.owner(), false);
    }
    if (v.dimensions() != 1) throw std::invalid_argument("Input must be 1- or 2-d.");
    const std::int64_t n = v.size() + std::abs(k);
    array made = zeroed(v.type(), {n, n});
    copy_elements(diagonal_of(made, k), v);
    return made;
}

/// Sets to 0, in a new array in C order, what lies above (or below) the diagonal of each matrix.
void clear_beyond(const array& made, std::int64_t k, bool above) {
    const std::size_t last = made.dimensions() - 1u;
    const std::ptrdiff_t columns = made.shape()[last];
    const std::ptrdiff_t rows = made.shape()[last - 1u];
    const auto element = static_cast<std::ptrdiff_t>(size_of(made.type()));
    const std::ptrdiff_t lines = columns == 0 ? 0 : made.size() / columns;
    for (std::ptrdiff_t i = 0; i < lines; ++i) {
        const std::ptrdiff_t edge = i % rows + k;  // the diagonal's column
        const std::ptrdiff_t first = above ? std::clamp<std::ptrdiff_t>(edge + 1, 0, columns) : 0;
        const std::ptrdiff_t end = above ? columns : std::clamp<std::ptrdiff_t>(edge, 0, columns);
        std::fill(made.bytes() + (i * columns + first) * element,
                  made.bytes() + (i * columns + end) * element, std::byte{0});
    }
}

array triangle(const array& m, std::int64_t k, bool lower) {
    if (m.dimensions() == 0) {
        throw std::invalid_argument("an array of at least 1 dimension is needed, found 0");
    }
    const bool is_line = m.dimensions() == 1;
    const array whole = is_line ? broadcast_view(m, {m.size(), m.size()}) : m;
    array made = copied(whole, m.type());
    clear_beyond(made, k, lower);
    return made;
}

value run_tril(std::span<const value> in) {
    return triangle(array_from(in[0], "m"), offset_from(in[1]), true);
}
value run_triu(std::span<const value> in) {
    return triangle(array_from(in[0], "m"), offset_from(in[1]), false);
}
value run_tri(std::span<const value> in) {
    const std::int64_t n = integer_from(in[0], "N");
    const std::int64_t m = in[1].is_none() ? n : integer_from(in[1], "M");
    array made = ones_of({n, m}, dtype_from(in[3], dtype::float64));
    clear_beyond(made, offset_from(in[2]), true);
    return made;
}

constexpr primitive k_creation[] = {
    {"arange", "start, stop=None, step=None, dtype=None", run_arange},
    {"array", "object, dtype=None, copy=True, ndmin=0", run_array},
    {"asarray", "a, dtype=None", run_asarray},
    {"diag", "v, k=0", run_diag},
    {"empty", "shape, dtype=None", run_empty},
    {"empty_like", "a, dtype=None, shape=None", run_empty_like},
    {"eye", "N, M=None, k=0, dtype=None", run_eye},
    {"full", "shape, fill_value, dtype=None", run_full},
    {"full_like", "a, fill_value, dtype=None, shape=None", run_full_like},
    {"identity", "n, dtype=None", run_identity},
    {"linspace", "start, stop, num=50, endpoint=True, retstep=False, dtype=None", run_linspace},
    {"ones", "shape, dtype=None", run_ones},
    {"ones_like", "a, dtype=None, shape=None", run_ones_like},
    {"tri", "N, M=None, k=0, dtype=None", run_tri},
    {"tril", "m, k=0", run_tril},
    {"triu", "m, k=0", run_triu},
    {"zeros", "shape, dtype=None", run_zeros},
    {"zeros_like", "a, dtype=None, shape=None", run_zeros_like},
};

}  // namespace

std::span<const primitive> creation_primitives() noexcept { return k_creation; }

}  // namespace quern::arrays::detail
