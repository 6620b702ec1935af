// SPDX-License-Identifier: BSL-1.0
#include "primitives/linear_algebra.hpp"

#include "primitives/families.hpp"

#include <quern/algorithms/parallel_for.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern::arrays::detail {

namespace {

/// From this many operations on, matrices are divided among tasks.
constexpr std::int64_t k_work_of_tasks = 100'000;

array stack_memory(const extents& outer, dtype type, std::int64_t columns, std::int64_t rows) {
    extents shape = outer;
    shape.push_back(columns);
    shape.push_back(rows);
    return {type, shape};
}

std::vector<primitive> joined_families() {
    std::vector<primitive> all;
    for (const auto family : {product_primitives(), solver_primitives(), decomposition_primitives(),
                              norm_primitives()}) {
        all.insert(all.end(), family.begin(), family.end());
    }
    return all;
}

}  // namespace

std::span<const primitive> linear_algebra_primitives() noexcept {
    static const std::vector<primitive> all = joined_families();
    return all;
}

extents outer_shape(const array& a) {
    return extents(std::span(a.shape().begin(), a.dimensions() - 2u));
}

dtype lapack_type(dtype type) { return type == dtype::float32 ? type : dtype::float64; }

matrix_stack::matrix_stack(const array& a, dtype type)
    : memory(copied(swapped_axes(a, a.dimensions() - 1u, a.dimensions() - 2u), type)),
      rows(a.shape()[a.dimensions() - 2u]),
      columns(a.shape().back()) {
    count = 1;
    for (const std::ptrdiff_t length : outer_shape(a)) {
        count *= length;
    }
}

matrix_stack::matrix_stack(const matrix_stack& like, dtype type, std::int64_t m, std::int64_t n)
    : memory(stack_memory(outer_shape(like.memory), type, n, m)),
      rows(m),
      columns(n),
      count(like.count) {}

array matrix_stack::result() const {
    return swapped_axes(memory, memory.dimensions() - 1u, memory.dimensions() - 2u);
}

array vectors_of(const matrix_stack& like, dtype type, std::int64_t length) {
    extents shape = outer_shape(like.memory);
    shape.push_back(length);
    return {type, shape};
}

array numbers_of(const matrix_stack& like, dtype type) { return {type, outer_shape(like.memory)}; }

array matrices_from(const value& of) {
    array a = array_from(of, "a");
    if (a.dimensions() < 2) {
        throw std::invalid_argument(std::to_string(a.dimensions()) +
                                    "-dimensional array given. Array must be at least "
                                    "two-dimensional");
    }
    return a;
}

array square_matrices_from(const value& of) {
    array a = matrices_from(of);
    if (a.shape().back() != a.shape()[a.dimensions() - 2u]) {
        throw std::invalid_argument("Last 2 dimensions of the array must be square");
    }
    return a;
}

void for_matrices(const matrix_stack& all, std::int64_t work,
                  const std::function<void(std::int64_t)>& run) {
    if (all.count < 2 || work * all.count < k_work_of_tasks) {
        for (std::int64_t i = 0; i < all.count; ++i) {
            run(i);
        }
    } else {
        quern::parallel_for(std::int64_t{0}, all.count, run);
    }
}

void refuse_matrix(const char* message) { throw std::domain_error(message); }

}  // namespace quern::arrays::detail
