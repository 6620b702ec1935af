// SPDX-License-Identifier: BSL-1.0
// norm and trace, made of other primitives.
#include "primitives/linear_algebra.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace quern::arrays::detail {

namespace {

value integer(std::size_t of) { return static_cast<std::int64_t>(of); }

value sum_over(const value& of, const value& axis) { return call("sum", {of, axis}); }

value root_of_squares(const array& x, const value& axis) {
    return call("sqrt", {sum_over(call("multiply", {x, x}), axis)});
}

array as_array(const value& of) { return array_from(of, "x"); }

/// The order of a norm: None, a word, or a number.
struct norm_order {
    bool is_default = true;
    std::string word;
    double number = 0;
    explicit norm_order(const value& of) : is_default(of.is_none()) {
        if (of.is<std::string>()) {
            word = *of.as<std::string>();
        } else if (!is_default) {
            number = number_from(of, "ord");
        }
    }
    bool is(double wanted) const { return !is_default && word.empty() && number == wanted; }
};

value vector_norm(const array& x, const norm_order& order, std::size_t along) {
    const value axis = integer(along);
    constexpr double k_infinity = HUGE_VAL;
    if (order.is_default || order.is(2)) return root_of_squares(x, axis);
    if (!order.word.empty()) {
        throw std::invalid_argument("Invalid norm order '" + order.word + "' for vectors");
    }
    const value size = call("absolute", {x});
    if (order.is(k_infinity)) return call("max", {size, axis});
    if (order.is(-k_infinity)) return call("min", {size, axis});
    if (order.is(1)) return sum_over(size, axis);
    if (order.is(0)) {
        const array counts = as_array(sum_over(call("not_equal", {x, 0.0}), axis));
        return converted(counts, x.type());
    }
    const value powers = sum_over(call("power", {size, order.number}), axis);
    return call("power", {powers, 1 / order.number});
}

/// The norm of order 2, -2 or "nuc", from the singular values.
value singular_norm(const array& x, std::size_t row, std::size_t column, const norm_order& order) {
    const std::size_t last = x.dimensions() - 1u;
    array matrices = moved_axis(x, row, last);
    matrices = moved_axis(matrices, column > row ? column - 1u : column, last);
    const value found = call("svdvals", {matrices});
    const value axis = std::int64_t{-1};
    if (order.word == "nuc") return sum_over(found, axis);
    return call(order.number > 0 ? "max" : "min", {found, axis});
}

value matrix_norm(const array& x, const norm_order& order, std::size_t row, std::size_t column) {
    constexpr double k_infinity = HUGE_VAL;
    if (row == column) throw std::invalid_argument("Duplicate axes given.");
    if (order.is_default || order.word == "fro" || order.word == "f") {
        const std::size_t later = std::max(row, column);
        const value sums = sum_over(call("multiply", {x, x}), integer(later));
        return call("sqrt", {sum_over(sums, integer(std::min(row, column)))});
    }
    if (order.word == "nuc" || order.is(2) || order.is(-2)) {
        return singular_norm(x, row, column, order);
    }
    const bool by_columns = order.is(1) || order.is(-1);
    if (!by_columns && !order.is(k_infinity) && !order.is(-k_infinity)) {
        throw std::invalid_argument("Invalid norm order for matrices.");
    }
    std::size_t summed = by_columns ? row : column;
    std::size_t rest = by_columns ? column : row;
    if (rest > summed) --rest;
    const value sums = sum_over(call("absolute", {x}), integer(summed));
    return call(order.number > 0 ? "max" : "min", {sums, integer(rest)});
}

/// Puts dimensions of length 1 back where the norm was taken.
value with_kept(const value& norm, std::vector<std::size_t> axes) {
    array made = as_array(norm);
    std::ranges::sort(axes);
    for (const std::size_t axis : axes) {
        made = expanded(made, axis);
    }
    return made;
}

value run_norm(std::span<const value> in) {
    const array from = array_from(in[0], "x");
    const array x = converted(from, lapack_type(from.type()));
    const norm_order order(in[1]);
    const bool keep = truth_of(in[3]);
    std::vector<std::size_t> axes;
    if (!in[2].is_none()) {
        for (const std::int64_t axis : integers_from(in[2], "axis")) {
            axes.push_back(axis_in(axis, x.dimensions()));
        }
    } else {
        for (std::size_t i = 0; i < x.dimensions(); ++i) {
            axes.push_back(i);
        }
        if (order.is_default || (axes.size() == 1 && order.is(2)) ||
            (axes.size() == 2 && order.word == "fro")) {
            const array line = flattened(x);
            const value norm = call("sqrt", {product(line, line)});
            return keep ? with_kept(norm, axes) : norm;
        }
    }
    if (axes.empty() || axes.size() > 2) {
        throw std::invalid_argument("Improper number of dimensions to norm.");
    }
    const value norm =
        axes.size() == 1 ? vector_norm(x, order, axes[0]) : matrix_norm(x, order, axes[0], axes[1]);
    return keep ? with_kept(norm, axes) : norm;
}

value run_trace(std::span<const value> in) {
    const array a = array_from(in[0], "a");
    if (a.dimensions() < 2) {
        throw std::invalid_argument("diag requires an array of at least two dimensions");
    }
    const std::int64_t offset = integer_from(in[1], "offset");
    const std::size_t first = axis_in(integer_from(in[2], "axis1"), a.dimensions());
    const std::size_t second = axis_in(integer_from(in[3], "axis2"), a.dimensions());
    if (first == second) throw std::invalid_argument("axis1 and axis2 cannot be the same");
    const std::size_t last = a.dimensions() - 1u;
    array m = moved_axis(a, first, last);
    m = moved_axis(m, second > first ? second - 1u : second, last);
    const std::int64_t row = std::clamp<std::int64_t>(-offset, 0, m.shape()[last - 1u]);
    const std::int64_t column = std::clamp<std::int64_t>(offset, 0, m.shape()[last]);
    m = part_of(part_of(m, last - 1u, row, m.shape()[last - 1u]), last, column, m.shape()[last]);
    extents shape = outer_shape(m);
    shape.push_back(std::min(m.shape()[last - 1u], m.shape()[last]));
    extents strides(std::span(m.strides().begin(), last - 1u));
    strides.push_back(m.strides()[last - 1u] + m.strides()[last]);
    return sum_over(m.view(shape, strides), std::int64_t{-1});
}

constexpr primitive k_norms[] = {
    {"norm", "x, ord=None, axis=None, keepdims=False", run_norm},
    {"trace", "a, offset=0, axis1=0, axis2=1", run_trace},
};

}  // namespace

std::span<const primitive> norm_primitives() noexcept { return k_norms; }

}  // namespace quern::arrays::detail
