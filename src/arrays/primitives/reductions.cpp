// SPDX-License-Identifier: BSL-1.0
// sum, mean, min and the others along axes.
#include "kernels/reduction.hpp"

#include "primitives/arguments.hpp"
#include "primitives/copies.hpp"
#include "primitives/families.hpp"
#include "primitives/running.hpp"

#include <quern/arrays/errors.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::arrays::detail {

namespace {

bool flag_from(const value& from, std::string_view what) {
    if (const auto* const flag = from.as<bool>()) return *flag;
    throw type_error(std::string(what) + ": " + describe(from) + " is not True or False");
}

/// None is all of them.
axis_set axes_from(const value& from, std::size_t dimensions) {
    axis_set axes{};
    if (from.is_none()) {
        axes.fill(true);
        return axes;
    }
    for (const std::int64_t axis : integers_from(from, "axis")) {
        if (dimensions == 0 && (axis == 0 || axis == -1)) continue;  // as NumPy for a number
        bool& chosen = axes[axis_in(axis, dimensions)];
        if (chosen) throw std::invalid_argument("duplicate value in 'axis'");
        chosen = true;
    }
    return axes;
}

/// The shape of the results, with length 1 for the axes that are gone if those are kept.
extents remaining(const extents& shape, const axis_set& axes, bool keeps) {
    extents result;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (!axes[d]) {
            result.push_back(shape[d]);
        } else if (keeps) {
            result.push_back(1);
        }
    }
    return result;
}

std::ptrdiff_t length_of(const extents& shape, const axis_set& axes) noexcept {
    std::ptrdiff_t length = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (axes[d]) length *= shape[d];
    }
    return length;
}

/// The arguments that all have.
struct job {
    array from;
    axis_set axes;
    bool keeps;

    job(const value& a, const value& axis, const value& keepdims)
        : from(array_from(a, "a")),
          axes(axes_from(axis, from.dimensions())),
          keeps(flag_from(keepdims, "keepdims")) {}

    std::ptrdiff_t length() const noexcept { return length_of(from.shape(), axes); }

    array run(reduction which) const {
        array to(reduced_type(which, from.type()), remaining(from.shape(), axes, keeps));
        reduce(which, from, axes, to);
        return to;
    }
};

value run_total(std::span<const value> v, reduction which) {
    job j(v[0], v[1], v[2]);
    if (v[3].is_none()) return j.run(which);
    const dtype type = dtype_from(v[3], dtype::float64);
    j.from = converted(j.from, type);
    return converted(j.run(which), type);
}

value run_extreme(std::span<const value> v, reduction which, std::string_view name) {
    const job j(v[0], v[1], v[2]);
    const extents left = remaining(j.from.shape(), j.axes, false);
    if (j.length() == 0 && std::ranges::count(left, 0) == 0) {
        throw std::invalid_argument("zero-size array to reduction operation " + std::string(name) +
                                    " which has no identity");
    }
    return j.run(which);
}

value run_logical(std::span<const value> v, reduction which) {
    return job(v[0], v[1], v[2]).run(which);
}

value sum(std::span<const value> v) { return run_total(v, reduction::sum); }
value prod(std::span<const value> v) { return run_total(v, reduction::product); }
value min(std::span<const value> v) { return run_extreme(v, reduction::minimum, "minimum"); }
value max(std::span<const value> v) { return run_extreme(v, reduction::maximum, "maximum"); }
value any(std::span<const value> v) { return run_logical(v, reduction::any); }
value all(std::span<const value> v) { return run_logical(v, reduction::all); }
value count_nonzero(std::span<const value> v) { return run_logical(v, reduction::count); }

value ptp(std::span<const value> v) { return call("subtract", {detail::max(v), detail::min(v)}); }

/// Numbers that can be divided: float64 for integers and booleans.
array as_real(const array& from) {
    return is_float(from.type()) ? from : converted(from, dtype::float64);
}

/// Divides by a number without making float32 wider.
value divided(const array& by_number, double number) { return call("divide", {by_number, number}); }

value mean(std::span<const value> v) {
    job j(v[0], v[1], v[2]);
    j.from = v[3].is_none() ? as_real(j.from) : converted(j.from, dtype_from(v[3], dtype::float64));
    return divided(j.run(reduction::sum), static_cast<double>(j.length()));
}

value var(std::span<const value> v) {
    job j(v[0], v[1], v[3]);
    j.from = as_real(j.from);
    const auto length = static_cast<double>(j.length());
    const bool keeps = std::exchange(j.keeps, true);
    const value center = divided(j.run(reduction::sum), length);
    j.keeps = keeps;
    const value distance = call("subtract", {j.from, center});
    j.from = *call("square", {distance}).as<array>();
    return divided(j.run(reduction::sum), std::max(0.0, length - number_from(v[2], "ddof")));
}

value stddev(std::span<const value> v) { return call("sqrt", {var(v)}); }

constexpr std::string_view k_usual = "a, axis=None, keepdims=False";
constexpr std::string_view k_with_type = "a, axis=None, keepdims=False, dtype=None";
constexpr std::string_view k_with_ddof = "a, axis=None, ddof=0, keepdims=False";

constexpr primitive k_reductions[] = {
    {"sum", k_with_type, sum},
    {"prod", k_with_type, prod},
    {"mean", k_with_type, mean},
    {"var", k_with_ddof, var},
    {"std", k_with_ddof, stddev},
    {"min", k_usual, min},
    {"max", k_usual, max},
    {"amin", k_usual, min},
    {"amax", k_usual, max},
    {"any", k_usual, any},
    {"all", k_usual, all},
    {"count_nonzero", k_usual, count_nonzero},
    {"ptp", k_usual, ptp},
    {"argmin", k_usual, run_argmin},
    {"argmax", k_usual, run_argmax},
    {"cumsum", "a, axis=None, dtype=None", run_cumsum},
    {"cumprod", "a, axis=None, dtype=None", run_cumprod},
};

}  // namespace

std::span<const primitive> reduction_primitives() noexcept { return k_reductions; }

}  // namespace quern::arrays::detail
