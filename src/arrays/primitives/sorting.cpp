// SPDX-License-Identifier: BSL-1.0
// Sorting, and what is found by order or by being true.
#include "primitives/arguments.hpp"
#include "primitives/copies.hpp"
#include "primitives/families.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/algorithms/sort.hpp>
#include <quern/arrays/errors.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace quern::arrays::detail {

namespace {

constexpr std::ptrdiff_t k_long_line = 1 << 13;

template <class T>
bool is_nan(T x) noexcept {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
    return false;
}

/// NumPy's order: NaN behind all numbers.
template <class T>
bool is_before(T a, T b) noexcept {
    return a < b || (is_nan(b) && !is_nan(a));
}

/// Floats are sorted stably, since zeros of both signs are equal: one result for any number of
/// workers.
template <class T>
void sort_line(T* first, std::ptrdiff_t count) {
    const auto less = [](T a, T b) { return is_before(a, b); };
    if (count < k_long_line) {
        std::stable_sort(first, first + count, less);
    } else if constexpr (std::is_floating_point_v<T>) {
        quern::stable_sort(quern::par, first, first + count, less);
    } else {
        quern::sort(quern::par, first, first + count, less);
    }
}

template <class T>
struct keyed {
    T key;
    std::int64_t index;
};

/// The keys of a line in order, with their places; equal keys in the order of their places.
template <class T>
std::vector<keyed<T>> ordered_keys(const T* line, std::ptrdiff_t count) {
    std::vector<keyed<T>> all(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = {line[i], static_cast<std::int64_t>(i)};
    }
    const auto less = [](const keyed<T>& a, const keyed<T>& b) {
        if (is_before(a.key, b.key)) return true;
        return !is_before(b.key, a.key) && a.index < b.index;
    };
    if (count < k_long_line) {
        std::sort(all.begin(), all.end(), less);
    } else {
        quern::sort(quern::par, all.begin(), all.end(), less);
    }
    return all;
}

/// Calls run(line) for the lines of an array in C order, by tasks where there is much to do.
template <class F>
void for_lines(std::ptrdiff_t lines, std::ptrdiff_t length, F&& run) {
    if (lines == 1 || lines * length < k_long_line) {
        for (std::ptrdiff_t i = 0; i < lines; ++i) {
            run(i);
        }
    } else {
        quern::parallel_for(std::ptrdiff_t{0}, lines, run);
    }
}

struct along_axis {
    array lines;  ///< in C order, the axis last
    std::size_t axis = 0;
    std::ptrdiff_t length = 0;
    std::ptrdiff_t count = 0;

    along_axis(const value& of, const value& wanted, bool always_copy) {
        const array a = array_from(of, "a");
        if (wanted.is_none()) {
            lines = flattened(a);
        } else {
            axis = axis_in(integer_from(wanted, "axis"), a.dimensions());
            lines = moved_axis(a, axis, a.dimensions() - 1u);
        }
        lines = always_copy ? copied(lines, lines.type()) : contiguous(lines);
        length = lines.shape().back();
        count = lines.size() == 0 ? 0 : lines.size() / length;
    }
    array back(const array& result) const {
        return moved_axis(result, result.dimensions() - 1u, axis);
    }
};

void check_kind(const value& kind) {
    if (kind.is_none()) return;
    const std::string word = word_from(kind, "kind");
    for (const char* const known : {"quicksort", "mergesort", "heapsort", "stable"}) {
        if (word == known) return;
    }
    throw std::invalid_argument("sort kind must be one of 'quick', 'heap', or 'stable' (got '" +
                                word + "')");
}

value run_sort(std::span<const value> in) {
    check_kind(in[2]);
    const along_axis all(in[0], in[1], true);
    with_element(all.lines.type(), [&]<class T>(const T*) {
        for_lines(all.count, all.length, [&](std::ptrdiff_t i) {
            sort_line(all.lines.data<T>() + i * all.length, all.length);
        });
    });
    return all.back(all.lines);
}

value run_argsort(std::span<const value> in) {
    check_kind(in[2]);
    const bool is_point = array_from(in[0], "a").dimensions() == 0;
    const along_axis all(in[0], is_point ? value(none{}) : in[1], false);
    if (is_point && !in[1].is_none()) axis_in(integer_from(in[1], "axis"), 1);
    array made(dtype::int64, all.lines.shape());
    with_element(all.lines.type(), [&]<class T>(const T*) {
        for_lines(all.count, all.length, [&](std::ptrdiff_t i) {
            const auto order = ordered_keys(all.lines.data<T>() + i * all.length, all.length);
            std::ranges::transform(order, made.data<std::int64_t>() + i * all.length,
                                   &keyed<T>::index);
        });
    });
    return all.back(made);
}

template <class T>
bool are_same(T a, T b, bool equal_nan) noexcept {
    return a == b || (equal_nan && is_nan(a) && is_nan(b));
}

template <class T>
value unique_values(const array& line, bool equal_nan) {
    const array sorted = copied(line, line.type());
    T* const first = sorted.data<T>();
    sort_line(first, line.size());
    T* const end = std::unique(first, first + line.size(),
                               [=](T a, T b) { return are_same(a, b, equal_nan); });
    return part_of(sorted, 0, 0, end - first);
}

/// All four results: values, first places, inverse, counts.
template <class T>
std::vector<array> unique_parts(const array& line, bool equal_nan) {
    const auto order = ordered_keys(line.data<T>(), line.size());
    std::vector<std::int64_t> firsts;
    array inverse(dtype::int64, line.shape());
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == 0 || !are_same(order[i - 1u].key, order[i].key, equal_nan)) {
            firsts.push_back(static_cast<std::int64_t>(i));
        }
        inverse.data<std::int64_t>()[order[i].index] = static_cast<std::int64_t>(firsts.size()) - 1;
    }
    const auto count = static_cast<std::ptrdiff_t>(firsts.size());
    array found(line.type(), {count});
    array places(dtype::int64, {count});
    array counts(dtype::int64, {count});
    firsts.push_back(line.size());
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const auto n = static_cast<std::size_t>(i);
        const auto& [key, index] = order[static_cast<std::size_t>(firsts[n])];
        found.data<T>()[i] = key;
        places.data<std::int64_t>()[i] = index;
        counts.data<std::int64_t>()[i] = firsts[n + 1u] - firsts[n];
    }
    return {found, places, inverse, counts};
}

value run_unique(std::span<const value> in) {
    const array a = array_from(in[0], "ar");
    if (!in[4].is_none()) {
        throw std::invalid_argument("unique: axis=" + describe(in[4]) + "; only None is accepted");
    }
    const bool equal_nan = truth_of(in[5]);
    const bool wanted[] = {true, truth_of(in[1]), truth_of(in[2]), truth_of(in[3])};
    const array line = flattened(a);
    return with_element(line.type(), [&]<class T>(const T*) -> value {
        if (std::count(wanted, wanted + 4, true) == 1) return unique_values<T>(line, equal_nan);
        std::vector<array> parts = unique_parts<T>(line, equal_nan);
        parts[2] = parts[2].view(a.shape(), c_strides(dtype::int64, a.shape()));
        values results;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (wanted[i]) results.emplace_back(parts[i]);
        }
        return tuple_of(std::move(results));
    });
}

constexpr std::ptrdiff_t k_block = 1 << 15;

/// The places of true elements in an array of booleans in C order; blocks count first, then write.
array places_of(const array& mask) {
    const bool* const is_true = mask.data<bool>();
    const std::ptrdiff_t blocks = (mask.size() + k_block - 1) / k_block;
    std::vector<std::int64_t> begin(static_cast<std::size_t>(blocks) + 1u, 0);
    const auto range = [&](std::ptrdiff_t b) {
        return std::pair(b * k_block, std::min((b + 1) * k_block, mask.size()));
    };
    for_lines(blocks, k_block, [&](std::ptrdiff_t b) {
        const auto [first, last] = range(b);
        begin[static_cast<std::size_t>(b) + 1u] = std::count(is_true + first, is_true + last, true);
    });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    array made(dtype::int64, {begin.back()});
    for_lines(blocks, k_block, [&](std::ptrdiff_t b) {
        std::int64_t* to = made.data<std::int64_t>() + begin[static_cast<std::size_t>(b)];
        const auto [first, last] = range(b);
        for (std::ptrdiff_t i = first; i < last; ++i) {
            if (is_true[i]) *to++ = i;
        }
    });
    return made;
}

value run_flatnonzero(std::span<const value> in) {
    return places_of(converted(flattened(array_from(in[0], "a")), dtype::boolean));
}

value run_nonzero(std::span<const value> in) {
    const array a = array_from(in[0], "a");
    if (a.dimensions() == 0) {
        throw std::invalid_argument(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() "
            "instead.");
    }
    const array places = places_of(contiguous(converted(a, dtype::boolean)));
    if (a.dimensions() == 1) return tuple_of({places});
    values found;
    std::int64_t below = a.size();
    for (const std::ptrdiff_t length : a.shape()) {
        array made(dtype::int64, places.shape());
        below = length == 0 ? 1 : below / length;
        std::transform(places.data<std::int64_t>(), places.data<std::int64_t>() + places.size(),
                       made.data<std::int64_t>(),
                       [=](std::int64_t at) { return at / below % length; });
        found.emplace_back(made);
    }
    return tuple_of(std::move(found));
}

/// The line in the order of `sorter`.
array taken_in_order(const array& line, const value& sorter) {
    if (sorter.is_none()) return line;
    const std::vector<std::int64_t> order = integers_from(sorter, "sorter");
    if (static_cast<std::ptrdiff_t>(order.size()) != line.size()) {
        throw std::invalid_argument("sorter.size must equal array size");
    }
    array made(line.type(), line.shape());
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (order[i] < 0 || order[i] >= line.size()) {
            throw std::invalid_argument("Sorter index out of range.");
        }
        const auto at = static_cast<std::ptrdiff_t>(i);
        copy_elements(part_of(made, 0, at, at + 1), part_of(line, 0, order[i], order[i] + 1));
    }
    return made;
}

value run_searchsorted(std::span<const value> in) {
    const array a = array_from(in[0], "a");
    const array v = array_from(in[1], "v");
    const std::string side = word_from(in[2], "side");
    if (side != "left" && side != "right") {
        throw std::invalid_argument("search side must be 'left' or 'right' (got '" + side + "')");
    }
    if (a.dimensions() != 1) {
        throw std::invalid_argument(a.dimensions() == 0
                                        ? "object of too small depth for desired array"
                                        : "object too deep for desired array");
    }
    const dtype type = promote(a.type(), v.type());
    const array line = contiguous(taken_in_order(converted(a, type), in[3]));
    const array wanted = contiguous(converted(v, type));
    array made(dtype::int64, v.shape());
    with_element(type, [&]<class T>(const T*) {
        const T* const first = line.data<T>();
        const T* const end = first + line.size();
        const auto less = [](T x, T y) { return is_before(x, y); };
        const auto find = [&](std::ptrdiff_t i) {
            const T x = wanted.data<T>()[i];
            const T* const at = side == "left" ? std::lower_bound(first, end, x, less)
                                               : std::upper_bound(first, end, x, less);
            made.data<std::int64_t>()[i] = at - first;
        };
        for_lines(wanted.size(), 16, find);
    });
    return made;
}

value run_bincount(std::span<const value> in) {
    const array x = array_from(in[0], "x");
    const std::int64_t least = integer_from(in[2], "minlength");
    if (least < 0) throw std::invalid_argument("'minlength' must not be negative");
    if (x.dimensions() != 1) {
        throw std::invalid_argument(x.dimensions() == 0
                                        ? "object of too small depth for desired array"
                                        : "object too deep for desired array");
    }
    if (is_float(x.type()) && !(in[0].is<tuple>() && x.size() == 0)) {
        throw type_error("Cannot cast array data from dtype('" + std::string(name_of(x.type())) +
                         "') to dtype('int64') according to the rule 'safe'");
    }
    const array places = contiguous(converted(x, dtype::int64));
    const auto* at = places.data<std::int64_t>();
    const auto bounds = std::minmax_element(at, at + x.size());
    if (x.size() > 0 && *bounds.first < 0) {
        throw std::invalid_argument("'list' argument must have no negative elements");
    }
    const std::int64_t size = std::max(least, x.size() > 0 ? *bounds.second + 1 : 0);
    if (in[1].is_none() || x.size() == 0) {
        array counts = zeroed(dtype::int64, {size});
        for (std::ptrdiff_t i = 0; i < x.size(); ++i) {
            ++counts.data<std::int64_t>()[at[i]];
        }
        return counts;
    }
    const array weights = contiguous(converted(array_from(in[1], "weights"), dtype::float64));
    if (!(weights.shape() == x.shape())) {
        throw std::invalid_argument("The weights and list don't have the same length.");
    }
    array sums = zeroed(dtype::float64, {size});
    for (std::ptrdiff_t i = 0; i < x.size(); ++i) {
        sums.data<double>()[at[i]] += weights.data<double>()[i];
    }
    return sums;
}

constexpr primitive k_sorting[] = {
    {"argsort", "a, axis=-1, kind=None, stable=None", run_argsort},
    {"bincount", "x, weights=None, minlength=0", run_bincount},
    {"flatnonzero", "a", run_flatnonzero},
    {"nonzero", "a", run_nonzero},
    {"searchsorted", "a, v, side='left', sorter=None", run_searchsorted},
    {"sort", "a, axis=-1, kind=None, stable=None", run_sort},
    {"unique",
     "ar, return_index=False, return_inverse=False, return_counts=False, axis=None, equal_nan=True",
     run_unique},
};

}  // namespace

std::span<const primitive> sorting_primitives() noexcept { return k_sorting; }

}  // namespace quern::arrays::detail
