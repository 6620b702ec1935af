// SPDX-License-Identifier: BSL-1.0
// dot, matmul and their relatives.
#include "core/text.hpp"
#include "primitives/linear_algebra.hpp"

#include <quern/algorithms/parallel_for.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quern::arrays::detail {

namespace {

/// Whether a matrix's rows can be given to BLAS as they lie.
bool has_rows(const extents& shape, const extents& strides, std::size_t row, std::size_t column,
              std::ptrdiff_t element) {
    if (shape[column] > 1 && strides[column] != element) return false;
    return shape[row] < 2 || (strides[row] % element == 0 &&
                              strides[row] >= element * std::max<std::ptrdiff_t>(1, shape[column]));
}

/// The array, or a copy, whose matrices BLAS can read: rows or columns lie behind one another.
array readable(const array& a) {
    const std::size_t last = a.dimensions() - 1u;
    const auto element = static_cast<std::ptrdiff_t>(size_of(a.type()));
    const bool is_readable = has_rows(a.shape(), a.strides(), last - 1u, last, element) ||
                             has_rows(a.shape(), a.strides(), last, last - 1u, element);
    return is_readable ? a : copied(a, a.type());
}

/// The matrix at `first` with the last two dimensions of a readable array.
template <class T>
matrix_view<T> matrix_at(const array& a, const std::byte* first) {
    const std::size_t column = a.dimensions() - 1u;
    const std::size_t row = column - 1u;
    const std::int64_t rows = a.shape()[row];
    const std::int64_t columns = a.shape()[column];
    const bool by_rows = has_rows(a.shape(), a.strides(), row, column, sizeof(T));
    const std::size_t outer = by_rows ? row : column;
    const std::int64_t least = std::max<std::int64_t>(1, by_rows ? columns : rows);
    const std::int64_t leading =
        a.shape()[outer] < 2 ? least : a.strides()[outer] / static_cast<std::ptrdiff_t>(sizeof(T));
    return {reinterpret_cast<const T*>(first), rows, columns, leading, !by_rows};
}

/// The vector, copied if its step is not a positive number of elements.
array readable_vector(const array& a) {
    const auto element = static_cast<std::ptrdiff_t>(size_of(a.type()));
    const std::ptrdiff_t step = a.strides()[0];
    return step > 0 && step % element == 0 ? a : copied(a, a.type());
}

template <class T>
vector_view<T> vector_at(const array& a) {
    const auto element = static_cast<std::ptrdiff_t>(sizeof(T));
    return {a.data<T>(), a.shape()[0], std::max<std::ptrdiff_t>(1, a.strides()[0] / element)};
}

array times_vector(const array& matrix, const array& vector) {
    const array a = readable(matrix);
    const array x = readable_vector(vector);
    array made(a.type(), {a.shape()[0]});
    with_element(a.type(), [&]<class T>(const T*) {
        multiply(matrix_at<T>(a, a.bytes()), vector_at<T>(x), made.data<T>());
    });
    return made;
}

array inner_of(const array& first, const array& second) {
    const array a = readable_vector(first);
    const array b = readable_vector(second);
    array made(a.type(), {});
    with_element(a.type(), [&]<class T>(const T*) {
        *made.data<T>() = detail::inner_product(vector_at<T>(a), vector_at<T>(b));
    });
    return made;
}

/// The address of the i-th matrix of a stack with these outer dimensions.
const std::byte* matrix_address(const array& a, const extents& outer, std::int64_t i) {
    const std::byte* at = a.bytes();
    for (std::size_t d = outer.size(); d-- > 0;) {
        at += i % outer[d] * a.strides()[d];
        i /= outer[d];
    }
    return at;
}

array stack_product(const array& first, const array& second, const extents& outer) {
    const array a = readable(first);
    const array b = readable(second);
    const auto with_matrix = [&](const array& m) {
        extents shape = outer;
        shape.push_back(m.shape()[m.dimensions() - 2u]);
        shape.push_back(m.shape().back());
        return broadcast_view(m, shape);
    };
    const array left = with_matrix(a);
    const array right = with_matrix(b);
    extents shape = left.shape();
    shape[shape.size() - 1u] = right.shape().back();
    array made(a.type(), shape);
    if (made.size() == 0) return made;
    const std::int64_t size = shape.back() * shape[shape.size() - 2u];
    const std::int64_t inner = left.shape().back();
    const std::int64_t count = made.size() / size;
    with_element(a.type(), [&]<class T>(const T*) {
        const auto run = [&](std::int64_t i) {
            multiply(matrix_at<T>(left, matrix_address(left, outer, i)),
                     matrix_at<T>(right, matrix_address(right, outer, i)),
                     made.data<T>() + i * size);
        };
        if (count == 1 || !is_large_product(size, count, inner)) {
            for (std::int64_t i = 0; i < count; ++i) {
                run(i);
            }
        } else {
            quern::parallel_for(std::int64_t{0}, count, run);
        }
    });
    return made;
}

[[noreturn]] void refuse_operand(int which) {
    throw std::invalid_argument("matmul: Input operand " + std::to_string(which) +
                                " does not have enough dimensions (has 0, gufunc core with "
                                "signature (n?,k),(k,m?)->(n?,m?) requires 1)");
}

}  // namespace

array product(const array& first, const array& second) {
    if (first.dimensions() == 0) refuse_operand(0);
    if (second.dimensions() == 0) refuse_operand(1);
    const dtype type = promote(first.type(), second.type());
    const array a = converted(first, type);
    const array b = converted(second, type);
    const bool is_row = a.dimensions() == 1;
    const bool is_column = b.dimensions() == 1;
    const std::size_t inner = is_column ? 0 : b.dimensions() - 2u;
    if (a.shape().back() != b.shape()[inner]) {
        throw std::invalid_argument(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            "(n?,k),(k,m?)->(n?,m?) (size " +
            std::to_string(b.shape()[inner]) + " is different from " +
            std::to_string(a.shape().back()) + ")");
    }
    if (is_row && is_column) return inner_of(a, b);
    if (a.dimensions() == 2 && is_column) return times_vector(a, b);
    if (is_row && b.dimensions() == 2) return times_vector(swapped_axes(b, 0, 1), a);
    const array left = is_row ? expanded(a, 0) : a;
    const array right = is_column ? expanded(b, 1) : b;
    const extents outer = broadcast(outer_shape(left), outer_shape(right));
    const array made = stack_product(left, right, outer);
    if (is_row) return without_axis(made, made.dimensions() - 2u);
    return is_column ? without_axis(made, made.dimensions() - 1u) : made;
}

namespace {

value run_matmul(std::span<const value> in) {
    return product(array_from(in[0], "x1"), array_from(in[1], "x2"));
}

[[noreturn]] void refuse_shapes(const array& a, const array& b, std::size_t i, std::size_t j) {
    const auto dimension = [](const array& of, std::size_t at) {
        return std::to_string(of.shape()[at]) + " (dim " + std::to_string(at) + ")";
    };
    throw std::invalid_argument("shapes " + text_of(a.shape()) + " and " + text_of(b.shape()) +
                                " not aligned: " + dimension(a, i) + " != " + dimension(b, j));
}

/// All dimensions but the last as one.
array as_matrix(const array& a) {
    const array whole = contiguous(a);
    const std::ptrdiff_t columns = a.shape().back();
    std::ptrdiff_t rows = 1;
    for (std::size_t i = 0; i + 1u < a.dimensions(); ++i) {
        rows *= a.shape()[i];
    }
    const extents shape = {rows, columns};
    return whole.view(shape, c_strides(a.type(), shape));
}

/// Sums over the last dimension of a and dimension `along` of b.
array summed_product(const array& a, const array& b, std::size_t along) {
    if (a.shape().back() != b.shape()[along]) {
        refuse_shapes(a, b, a.dimensions() - 1u, along);
    }
    const array right = moved_axis(b, along, b.dimensions() - 1u);
    if (a.dimensions() <= 2 && b.dimensions() <= 2) {
        return product(a, b.dimensions() == 1 ? right : swapped_axes(right, 0, 1));
    }
    const array made = product(as_matrix(a), swapped_axes(as_matrix(right), 0, 1));
    extents shape;
    for (std::size_t i = 0; i + 1u < a.dimensions(); ++i) {
        shape.push_back(a.shape()[i]);
    }
    for (std::size_t i = 0; i + 1u < right.dimensions(); ++i) {
        shape.push_back(right.shape()[i]);
    }
    return made.view(shape, c_strides(made.type(), shape));
}

value times(const array& a, const array& b) { return call("multiply", {a, b}); }

value run_dot(std::span<const value> in) {
    const array a = array_from(in[0], "a");
    const array b = array_from(in[1], "b");
    if (a.dimensions() == 0 || b.dimensions() == 0) return times(a, b);
    return summed_product(a, b, b.dimensions() == 1 ? 0 : b.dimensions() - 2u);
}

value run_inner(std::span<const value> in) {
    const array a = array_from(in[0], "a");
    const array b = array_from(in[1], "b");
    if (a.dimensions() == 0 || b.dimensions() == 0) return times(a, b);
    const std::size_t last = b.dimensions() - 1u;
    if (last == 0) return summed_product(a, b, 0);
    return summed_product(a, swapped_axes(b, last - 1u, last), last - 1u);
}

value run_vdot(std::span<const value> in) {
    const array a = flattened(array_from(in[0], "a"));
    const array b = flattened(array_from(in[1], "b"));
    if (a.size() != b.size()) {
        throw std::invalid_argument("cannot reshape array of size " + std::to_string(b.size()) +
                                    " into shape " + text_of(a.shape()));
    }
    return product(a, b);
}

value run_outer(std::span<const value> in) {
    const array a = flattened(array_from(in[0], "a"));
    const array b = flattened(array_from(in[1], "b"));
    return times(expanded(a, 1), expanded(b, 0));
}

constexpr primitive k_products[] = {
    {"dot", "a, b", run_dot},     {"inner", "a, b", run_inner}, {"matmul", "x1, x2", run_matmul},
    {"outer", "a, b", run_outer}, {"vdot", "a, b", run_vdot},
};

}  // namespace

std::span<const primitive> product_primitives() noexcept { return k_products; }

}  // namespace quern::arrays::detail
