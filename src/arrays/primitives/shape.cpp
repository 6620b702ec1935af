// SPDX-License-Identifier: BSL-1.0
// Views with another shape, and what an array is: shape, size, type, its one number.
#include "core/text.hpp"
#include "primitives/arguments.hpp"
#include "primitives/copies.hpp"
#include "primitives/families.hpp"
#include "primitives/scalars.hpp"

#include <quern/arrays/errors.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

namespace quern::arrays::detail {

namespace {

/// The shape with a length for -1.
extents completed(const value& wanted, std::ptrdiff_t size) {
    std::vector<std::int64_t> lengths = integers_from(wanted, "shape");
    std::ptrdiff_t known = 1;
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (lengths[i] >= 0) {
            known *= lengths[i];
        } else if (lengths[i] < -1) {
            throw std::invalid_argument("negative dimensions not allowed");
        } else if (open) {
            throw std::invalid_argument("can only specify one unknown dimension");
        } else {
            open = i;
        }
    }
    const bool fits = open ? known != 0 && size % known == 0 : known == size;
    if (fits && open) lengths[*open] = size / known;
    const extents shape(std::vector<std::ptrdiff_t>(lengths.begin(), lengths.end()));
    if (!fits) {
        std::string text = text_of(shape);
        if (const std::size_t at = text.find("-1"); at != std::string::npos) {
            text.replace(at, 2, "newaxis");
        }
        throw std::invalid_argument("cannot reshape array of size " + std::to_string(size) +
                                    " into shape " + text);
    }
    return shape;
}

/// The strides with which the same memory has another shape; empty if there are none. Groups of
/// dimensions with the same number of elements before and after are looked at one by one.
std::optional<extents> strides_of_view(const array& from, const extents& shape) {
    extents old_shape;
    extents old_strides;
    for (std::size_t d = 0; d < from.dimensions(); ++d) {
        if (from.shape()[d] == 1) continue;
        old_shape.push_back(from.shape()[d]);
        old_strides.push_back(from.strides()[d]);
    }
    extents strides = c_strides(from.type(), shape);
    std::size_t old_first = 0;
    std::size_t first = 0;
    while (old_first < old_shape.size() && first < shape.size()) {
        std::size_t old_last = old_first;
        std::size_t last = first;
        std::ptrdiff_t old_count = old_shape[old_first];
        std::ptrdiff_t count = shape[first];
        while (old_count != count) {
            if (count < old_count) {
                count *= shape[++last];
            } else {
                old_count *= old_shape[++old_last];
            }
        }
        for (std::size_t d = old_first; d < old_last; ++d) {
            if (old_strides[d] != old_strides[d + 1] * old_shape[d + 1]) return std::nullopt;
        }
        std::ptrdiff_t stride = old_strides[old_last];
        for (std::size_t d = last + 1; d-- > first;) {
            strides[d] = stride;
            stride *= shape[d];
        }
        old_first = old_last + 1;
        first = last + 1;
    }
    return strides;
}

array reshaped(const array& from, const extents& shape) {
    if (from.size() == 0 || from.is_contiguous()) {
        return from.view(shape, c_strides(from.type(), shape));
    }
    if (const auto strides = strides_of_view(from, shape)) return from.view(shape, *strides);
    const array copy = copied(from, from.type());
    return copy.view(shape, c_strides(copy.type(), shape));
}

value reshape(std::span<const value> v) {
    const array from = array_from(v[0], "a");
    return reshaped(from, completed(v[1], from.size()));
}

value ravel(std::span<const value> v) { return flattened(array_from(v[0], "a")); }

value flatten(std::span<const value> v) {
    const array from = array_from(v[0], "a");
    const array copy = copied(from, from.type());
    return copy.view({copy.size()}, c_strides(copy.type(), {copy.size()}));
}

value transposed(const array& from, const std::vector<std::size_t>& axes) {
    extents shape;
    extents strides;
    for (const std::size_t axis : axes) {
        shape.push_back(from.shape()[axis]);
        strides.push_back(from.strides()[axis]);
    }
    return from.view(shape, strides);
}

value transpose(std::span<const value> v) {
    const array from = array_from(v[0], "a");
    std::vector<std::size_t> axes;
    if (v.size() < 2 || v[1].is_none()) {
        for (std::size_t d = from.dimensions(); d-- > 0;) {
            axes.push_back(d);
        }
        return transposed(from, axes);
    }
    const std::vector<std::int64_t> wanted = integers_from(v[1], "axes");
    if (wanted.size() != from.dimensions()) throw std::invalid_argument("axes don't match array");
    for (const std::int64_t axis : wanted) {
        axes.push_back(axis_in(axis, from.dimensions()));
        if (std::ranges::count(axes, axes.back()) > 1) {
            throw std::invalid_argument("repeated axis in transpose");
        }
    }
    return transposed(from, axes);
}

value squeeze(std::span<const value> v) {
    const array from = array_from(v[0], "a");
    std::array<bool, k_max_dimensions> gone{};
    if (v[1].is_none()) {
        for (std::size_t d = 0; d < from.dimensions(); ++d) {
            gone[d] = from.shape()[d] == 1;
        }
    } else {
        for (const std::int64_t axis : integers_from(v[1], "axis")) {
            if (from.dimensions() == 0 && (axis == 0 || axis == -1)) continue;
            const std::size_t d = axis_in(axis, from.dimensions());
            if (from.shape()[d] != 1) {
                throw std::invalid_argument(
                    "cannot select an axis to squeeze out which has size not equal to one");
            }
            gone[d] = true;
        }
    }
    std::vector<std::size_t> left;
    for (std::size_t d = 0; d < from.dimensions(); ++d) {
        if (!gone[d]) left.push_back(d);
    }
    return transposed(from, left);
}

value expand_dims(std::span<const value> v) {
    const array from = array_from(v[0], "a");
    std::vector<std::int64_t> axes = integers_from(v[1], "axis");
    const std::size_t dimensions = from.dimensions() + axes.size();
    std::vector<std::size_t> places;
    for (const std::int64_t axis : axes) {
        places.push_back(axis_in(axis, dimensions));
        if (std::ranges::count(places, places.back()) > 1) {
            throw std::invalid_argument("repeated axis");
        }
    }
    std::ranges::sort(places);
    array result = from;
    for (const std::size_t place : places) {
        result = expanded(result, place);
    }
    return result;
}

value broadcast_to(std::span<const value> v) {
    const array from = array_from(v[0], "array");
    const extents shape = shape_from(v[1]);
    if (shape.size() < from.dimensions()) {
        throw std::invalid_argument(
            "input operand has more dimensions than allowed by the axis remapping");
    }
    try {
        const array view = broadcast_view(from, shape);
        return array(view.bytes(), view.type(), view.shape(), view.strides(), view.owner(), false);
    } catch (const std::invalid_argument&) {
        throw std::invalid_argument(
            "operands could not be broadcast together with remapped shapes [original->remapped]: " +
            text_of(from.shape()) + "  and requested shape " + text_of(shape));
    }
}

/// NumPy's message has the parameter's name in front.
std::size_t axis_named(std::string_view name, const value& axis, const array& of) {
    const std::int64_t which = integer_from(axis, name);
    try {
        return axis_in(which, of.dimensions());
    } catch (const std::invalid_argument& e) {
        throw std::invalid_argument(std::string(name) + ": " + e.what());
    }
}

value swapaxes(std::span<const value> v) {
    const array from = array_from(v[0], "a");
    const std::size_t first = axis_named("axis1", v[1], from);
    return swapped_axes(from, first, axis_named("axis2", v[2], from));
}

value moveaxis(std::span<const value> v) {
    const array from = array_from(v[0], "a");
    const std::size_t source = axis_named("source", v[1], from);
    return moved_axis(from, source, axis_named("destination", v[2], from));
}

value ndim(std::span<const value> v) {
    return static_cast<std::int64_t>(array_from(v[0], "a").dimensions());
}

value shape(std::span<const value> v) {
    const array from = array_from(v[0], "a");
    values lengths;
    for (const std::ptrdiff_t length : from.shape()) {
        lengths.emplace_back(static_cast<std::int64_t>(length));
    }
    return tuple_of(std::move(lengths));
}

value size(std::span<const value> v) {
    const array from = array_from(v[0], "a");
    if (v[1].is_none()) return static_cast<std::int64_t>(from.size());
    return static_cast<std::int64_t>(
        from.shape()[axis_in(integer_from(v[1], "axis"), from.dimensions())]);
}

value len(std::span<const value> v) {
    if (const auto* const parts = v[0].as<tuple>()) {
        return static_cast<std::int64_t>((*parts)->size());
    }
    if (const auto* const text = v[0].as<std::string>()) {
        return static_cast<std::int64_t>(text->size());
    }
    const auto* const from = v[0].as<array>();
    if (from == nullptr) throw type_error(describe(v[0]) + " has no len()");
    if (from->dimensions() == 0) throw type_error("len() of unsized object");
    return static_cast<std::int64_t>(from->shape()[0]);
}

value type(std::span<const value> v) { return array_from(v[0], "a").type(); }

value itemsize(std::span<const value> v) {
    return static_cast<std::int64_t>(size_of(array_from(v[0], "a").type()));
}

value nbytes(std::span<const value> v) {
    const array from = array_from(v[0], "a");
    return static_cast<std::int64_t>(from.size()) * static_cast<std::int64_t>(size_of(from.type()));
}

/// Python's scalar of a scalar or an array of one element.
value item(std::span<const value> v) {
    if (is_scalar(v[0])) return v[0];
    const array from = array_from(v[0], "a");
    if (from.size() != 1) {
        throw std::invalid_argument("can only convert an array of size 1 to a Python scalar");
    }
    if (from.type() == dtype::boolean) return *from.data<bool>();
    if (is_float(from.type())) return *converted(from, dtype::float64).data<double>();
    return *converted(from, dtype::int64).data<std::int64_t>();
}

value to_float(std::span<const value> v) {
    value one = item(v);
    if (const auto* const flag = one.as<bool>()) return *flag ? 1.0 : 0.0;
    if (const auto* const whole = one.as<std::int64_t>()) return static_cast<double>(*whole);
    return one;
}

value to_int(std::span<const value> v) {
    value one = item(v);
    if (const auto* const flag = one.as<bool>()) return std::int64_t{*flag};
    const auto* const real = one.as<double>();
    if (real == nullptr) return one;
    if (std::isnan(*real)) throw std::invalid_argument("cannot convert float NaN to integer");
    if (!(std::fabs(*real) < 9223372036854775808.0)) {
        throw std::overflow_error("float " + describe(one) + " does not fit into int64");
    }
    return static_cast<std::int64_t>(*real);
}

value to_bool(std::span<const value> v) { return truth_of(v[0]); }

constexpr primitive k_shapes[] = {
    {"reshape", "a, shape", reshape},
    {"ravel", "a", ravel},
    {"flatten", "a", flatten},
    {"transpose", "a, axes=None", transpose},
    {"T", "a", transpose},
    {"squeeze", "a, axis=None", squeeze},
    {"expand_dims", "a, axis", expand_dims},
    {"broadcast_to", "array, shape", broadcast_to},
    {"swapaxes", "a, axis1, axis2", swapaxes},
    {"moveaxis", "a, source, destination", moveaxis},
    {"ndim", "a", ndim},
    {"shape", "a", shape},
    {"size", "a, axis=None", size},
    {"len", "a", len},
    {"dtype", "a", type},
    {"itemsize", "a", itemsize},
    {"nbytes", "a", nbytes},
    {"item", "a", item},
    {"to_float", "a", to_float},
    {"to_int", "a", to_int},
    {"to_bool", "a", to_bool},
};

}  // namespace

std::span<const primitive> shape_primitives() noexcept { return k_shapes; }

}  // namespace quern::arrays::detail
