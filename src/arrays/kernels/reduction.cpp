// SPDX-License-Identifier: BSL-1.0
#include "kernels/reduction.hpp"

#include "kernels/reduction_loops.hpp"
#include "kernels/tiles.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

namespace quern::arrays::detail {

namespace {

/// Integers wrap.
template <class A>
using wrapping = std::conditional_t<std::is_integral_v<A>, std::uint64_t, A>;

struct plain_first {
    template <class A, class T>
    static A first(T element) noexcept {
        return static_cast<A>(element);
    }
};

struct sum : plain_first {
    static constexpr int k_of_none = 0;
    template <class A>
    static A join(A a, A b) noexcept {
        return static_cast<A>(wrapping<A>(a) + wrapping<A>(b));
    }
};

struct product : plain_first {
    static constexpr int k_of_none = 1;
    template <class A>
    static A join(A a, A b) noexcept {
        return static_cast<A>(wrapping<A>(a) * wrapping<A>(b));
    }
};

/// A number that is none wins.
struct minimum : plain_first {
    static constexpr int k_of_none = 0;
    template <class A>
    static A join(A a, A b) noexcept {
        return a <= b || detail::is_nan(a) ? a : b;
    }
};

struct maximum : plain_first {
    static constexpr int k_of_none = 0;
    template <class A>
    static A join(A a, A b) noexcept {
        return a >= b || detail::is_nan(a) ? a : b;
    }
};

struct truth_first {
    template <class A, class T>
    static A first(T element) noexcept {
        return static_cast<A>(element != T{});
    }
};

struct any : truth_first {
    static constexpr int k_of_none = 0;
    template <class A>
    static A join(A a, A b) noexcept {
        return a | b;
    }
};

struct all : truth_first {
    static constexpr int k_of_none = 1;
    template <class A>
    static A join(A a, A b) noexcept {
        return a & b;
    }
};

struct count : truth_first {
    static constexpr int k_of_none = 0;
    template <class A>
    static A join(A a, A b) noexcept {
        return a + b;
    }
};

/// Some dimensions, the outermost first; those that lie behind one another are one.
struct dimensions {
    std::size_t size = 0;
    std::array<std::ptrdiff_t, k_max_dimensions> lengths{};
    std::array<std::ptrdiff_t, k_max_dimensions> strides{};

    void add(std::ptrdiff_t length, std::ptrdiff_t stride) noexcept {
        if (length == 1) return;
        if (size > 0 && strides[size - 1] == stride * length) {
            lengths[size - 1] *= length;
            strides[size - 1] = stride;
            return;
        }
        lengths[size] = length;
        strides[size++] = stride;
    }

    std::ptrdiff_t count() const noexcept {
        std::ptrdiff_t all_of = 1;
        for (std::size_t d = 0; d < size; ++d) {
            all_of *= lengths[d];
        }
        return all_of;
    }

    std::ptrdiff_t offset_of(std::ptrdiff_t index) const noexcept {
        std::ptrdiff_t offset = 0;
        for (std::size_t d = size; d-- > 0;) {
            offset += index % lengths[d] * strides[d];
            index /= lengths[d];
        }
        return offset;
    }

    std::ptrdiff_t least_stride() const noexcept {
        return size == 0 ? 0 : std::abs(strides[size - 1]);
    }
};

struct plan {
    const std::byte* data;
    dimensions kept;
    dimensions reduced;
};

/// A part of the reduced dimensions: `count` steps of dimension `level`, and all of those within.
struct part {
    const std::byte* at;
    std::size_t level;
    std::ptrdiff_t count;
};

template <class R, class T, class A>
class reducer {
public:
    reducer(const plan& p, A* results) : m_plan(p), m_results(results) {}

    void run() const {
        const dimensions& kept = m_plan.kept;
        if (m_plan.reduced.size == 0 && kept.size == 0) {
            m_results[0] = leaf_line<R, T, A>(m_plan.data, 1, 0);
        } else if (kept.size > 0 && (m_plan.reduced.size == 0 ||
                                     kept.least_stride() < m_plan.reduced.least_stride())) {
            run_columns();
        } else {
            run_lines();
        }
    }

private:
    /// One result after the other.
    void run_lines() const {
        const std::ptrdiff_t tile = std::max<std::ptrdiff_t>(
            1, k_tile / std::max<std::ptrdiff_t>(1, m_plan.reduced.count()));
        for_tiles(m_plan.kept.count(), tile, 1, [this](std::ptrdiff_t begin, std::ptrdiff_t end) {
            for (std::ptrdiff_t i = begin; i < end; ++i) {
                m_results[i] = line(whole(m_plan.data + m_plan.kept.offset_of(i)));
            }
        });
    }

    /// Many results at once, which lie along the innermost dimension that is kept.
    void run_columns() const {
        constexpr std::ptrdiff_t k_block = 512;
        const dimensions& kept = m_plan.kept;
        const std::ptrdiff_t length = kept.lengths[kept.size - 1];
        const std::ptrdiff_t stride = kept.strides[kept.size - 1];
        const std::ptrdiff_t blocks = (length + k_block - 1) / k_block;
        const std::ptrdiff_t elements =
            std::min(length, k_block) * std::max<std::ptrdiff_t>(1, m_plan.reduced.count());
        const std::ptrdiff_t tile = std::max<std::ptrdiff_t>(1, k_tile / elements);
        for_tiles(
            kept.count() / length * blocks, tile, 1, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
                for (std::ptrdiff_t i = begin; i < end; ++i) {
                    const std::ptrdiff_t first = i / blocks * length + i % blocks * k_block;
                    const std::ptrdiff_t columns = std::min(k_block, length - i % blocks * k_block);
                    rows(whole(m_plan.data + kept.offset_of(first)), m_results + first, columns,
                         stride);
                }
            });
    }

    part whole(const std::byte* at) const noexcept {
        return {at, 0, m_plan.reduced.size == 0 ? 1 : m_plan.reduced.lengths[0]};
    }
    bool is_innermost(const part& of) const noexcept { return of.level + 1 >= m_plan.reduced.size; }
    std::ptrdiff_t stride_of(const part& of) const noexcept {
        return m_plan.reduced.size == 0 ? 0 : m_plan.reduced.strides[of.level];
    }
    part inner(const part& of) const noexcept {
        return {of.at, of.level + 1, m_plan.reduced.lengths[of.level + 1]};
    }
    std::ptrdiff_t elements_of(const part& of) const noexcept {
        std::ptrdiff_t all_of = of.count;
        for (std::size_t d = of.level + 1; d < m_plan.reduced.size; ++d) {
            all_of *= m_plan.reduced.lengths[d];
        }
        return all_of;
    }
    std::pair<part, part> halves(const part& of) const noexcept {
        const std::ptrdiff_t half = is_innermost(of) ? middle_of(of.count) : of.count / 2;
        return {{of.at, of.level, half}, {of.at + half * stride_of(of), of.level, of.count - half}};
    }

    A line(const part& of) const {
        if (is_innermost(of) && of.count <= k_leaf) {
            return leaf_line<R, T, A>(of.at, of.count, stride_of(of));
        }
        if (!is_innermost(of) && of.count == 1) return line(inner(of));
        const auto [a, b] = halves(of);
        if (elements_of(of) <= k_tile) return R::join(line(a), line(b));
        A first{};
        A second{};
        fork_join([&, part_of = b] { second = line(part_of); },
                  [&, part_of = a] { first = line(part_of); });
        return R::join(first, second);
    }

    void rows(const part& of, A* results, std::ptrdiff_t columns, std::ptrdiff_t stride) const {
        if (is_innermost(of) && of.count <= k_leaf) {
            leaf_rows<R, T, A>(of.at, of.count, stride_of(of), results, columns, stride);
            return;
        }
        if (!is_innermost(of) && of.count == 1) return rows(inner(of), results, columns, stride);
        const auto [a, b] = halves(of);
        const auto others = std::make_unique<A[]>(static_cast<std::size_t>(columns));
        A* const second = others.get();
        if (elements_of(of) * columns <= k_tile) {
            rows(a, results, columns, stride);
            rows(b, second, columns, stride);
        } else {
            fork_join([&, part_of = b] { rows(part_of, second, columns, stride); },
                      [&, part_of = a] { rows(part_of, results, columns, stride); });
        }
        for (std::ptrdiff_t c = 0; c < columns; ++c) {
            results[c] = R::join(results[c], second[c]);
        }
    }

    const plan& m_plan;
    A* m_results;
};

template <class R, class T, class A>
void run_reducer(const plan& p, const array& to) {
    reducer<R, T, A>(p, to.data<A>()).run();
}

template <class R, class A>
void fill_with_none(const array& to) {
    std::fill_n(to.data<A>(), to.size(), static_cast<A>(R::k_of_none));
}

/// With the type of the results.
template <class R, class T>
using result_of =
    std::conditional_t<std::is_same_v<R, any> || std::is_same_v<R, all>, bool,
                       std::conditional_t<std::is_same_v<R, count> ||
                                              ((std::is_same_v<R, sum> ||
                                                std::is_same_v<R, product>)&&std::is_integral_v<T>),
                                          std::int64_t, T>>;

template <class R, class T>
void run_on_elements(const plan& p, std::ptrdiff_t elements, const array& to) {
    using A = result_of<R, T>;
    if (to.size() == 0) return;
    if (elements == 0) return fill_with_none<R, A>(to);
    run_reducer<R, T, A>(p, to);
}

template <class R>
void run_for_type(const plan& p, dtype type, std::ptrdiff_t elements, const array& to) {
    switch (type) {
        case dtype::boolean:
            return run_on_elements<R, bool>(p, elements, to);
        case dtype::int32:
            return run_on_elements<R, std::int32_t>(p, elements, to);
        case dtype::int64:
            return run_on_elements<R, std::int64_t>(p, elements, to);
        case dtype::float32:
            return run_on_elements<R, float>(p, elements, to);
        case dtype::float64:
            return run_on_elements<R, double>(p, elements, to);
    }
}

plan plan_of(const array& from, const axis_set& axes) {
    plan p{from.bytes(), {}, {}};
    std::array<std::pair<std::ptrdiff_t, std::ptrdiff_t>, k_max_dimensions> reduced;
    std::size_t count_of_reduced = 0;
    for (std::size_t d = 0; d < from.dimensions(); ++d) {
        if (axes[d]) {
            reduced[count_of_reduced++] = {from.strides()[d], from.shape()[d]};
        } else {
            p.kept.add(from.shape()[d], from.strides()[d]);
        }
    }
    // In the order of memory, whatever the order of the dimensions.
    std::stable_sort(
        reduced.begin(), reduced.begin() + count_of_reduced,
        [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
    for (std::size_t i = 0; i < count_of_reduced; ++i) {
        p.reduced.add(reduced[i].second, reduced[i].first);
    }
    return p;
}

}  // namespace

dtype reduced_type(reduction which, dtype type) noexcept {
    switch (which) {
        case reduction::any:
        case reduction::all:
            return dtype::boolean;
        case reduction::count:
            return dtype::int64;
        case reduction::sum:
        case reduction::product:
            return is_float(type) ? type : dtype::int64;
        default:
            return type;
    }
}

void reduce(reduction which, const array& from, const axis_set& axes, const array& to) {
    const plan p = plan_of(from, axes);
    const dtype type = from.type();
    const std::ptrdiff_t elements = from.size();
    switch (which) {
        case reduction::sum:
            return run_for_type<sum>(p, type, elements, to);
        case reduction::product:
            return run_for_type<product>(p, type, elements, to);
        case reduction::minimum:
            return run_for_type<minimum>(p, type, elements, to);
        case reduction::maximum:
            return run_for_type<maximum>(p, type, elements, to);
        case reduction::any:
            return run_for_type<any>(p, type, elements, to);
        case reduction::all:
            return run_for_type<all>(p, type, elements, to);
        case reduction::count:
            return run_for_type<count>(p, type, elements, to);
    }
}

}  // namespace quern::arrays::detail
