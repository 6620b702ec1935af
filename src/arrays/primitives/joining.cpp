// SPDX-License-Identifier: BSL-1.0
// Arrays made of other arrays, and parts of one.
#include "core/text.hpp"
#include "primitives/arguments.hpp"
#include "primitives/copies.hpp"
#include "primitives/families.hpp"

#include <quern/arrays/errors.hpp>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace quern::arrays::detail {

namespace {

using arrays_of = std::vector<array>;

dtype common_type(std::span<const array> parts) {
    dtype type = parts[0].type();
    for (const array& part : parts) {
        type = promote(type, part.type());
    }
    return type;
}

std::string at_index(std::size_t i) { return "the array at index " + std::to_string(i); }

void check_joinable(std::span<const array> parts, std::size_t axis) {
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const extents& first = parts[0].shape();
        const extents& shape = parts[i].shape();
        if (shape.size() != first.size()) {
            throw std::invalid_argument(
                "all the input arrays must have same number of dimensions, but " + at_index(0) +
                " has " + std::to_string(first.size()) + " dimension(s) and " + at_index(i) +
                " has " + std::to_string(shape.size()) + " dimension(s)");
        }
        for (std::size_t d = 0; d < shape.size(); ++d) {
            if (d == axis || shape[d] == first[d]) continue;
            throw std::invalid_argument(
                "all the input array dimensions except for the concatenation axis must match "
                "exactly, but along dimension " +
                std::to_string(d) + ", " + at_index(0) + " has size " + std::to_string(first[d]) +
                " and " + at_index(i) + " has size " + std::to_string(shape[d]));
        }
    }
}

array concatenated(std::span<const array> parts, std::int64_t along, const value& wanted) {
    if (parts.empty()) throw std::invalid_argument("need at least one array to concatenate");
    if (parts[0].dimensions() == 0) {
        throw std::invalid_argument("zero-dimensional arrays cannot be concatenated");
    }
    const std::size_t axis = axis_in(along, parts[0].dimensions());
    check_joinable(parts, axis);
    extents shape = parts[0].shape();
    shape[axis] = 0;
    for (const array& part : parts) {
        shape[axis] += part.shape()[axis];
    }
    array made(dtype_from(wanted, detail::common_type(parts)), shape);
    std::ptrdiff_t at = 0;
    for (const array& part : parts) {
        const std::ptrdiff_t end = at + part.shape()[axis];
        copy_elements(part_of(made, axis, at, end), part);
        at = end;
    }
    return made;
}

array at_least_1d(const array& a) { return a.dimensions() == 0 ? expanded(a, 0) : a; }

value run_concatenate(std::span<const value> in) {
    arrays_of parts = arrays_from(in[0], "arrays");
    if (in[1].is_none()) {
        std::ranges::transform(parts, parts.begin(), flattened);
        return concatenated(parts, 0, in[2]);
    }
    return concatenated(parts, integer_from(in[1], "axis"), in[2]);
}

value run_stack(std::span<const value> in) {
    const arrays_of parts = arrays_from(in[0], "arrays");
    if (parts.empty()) throw std::invalid_argument("need at least one array to stack");
    for (const array& part : parts) {
        if (!(part.shape() == parts[0].shape())) {
            throw std::invalid_argument("all input arrays must have the same shape");
        }
    }
    const std::size_t axis = axis_in(integer_from(in[1], "axis"), parts[0].dimensions() + 1u);
    return stacked(parts, axis, dtype_from(in[2], detail::common_type(parts)));
}

value run_vstack(std::span<const value> in) {
    arrays_of parts = arrays_from(in[0], "tup");
    for (array& part : parts) {
        while (part.dimensions() < 2) {
            part = expanded(part, 0);
        }
    }
    return concatenated(parts, 0, in[1]);
}

value run_hstack(std::span<const value> in) {
    arrays_of parts = arrays_from(in[0], "tup");
    std::ranges::transform(parts, parts.begin(), at_least_1d);
    const bool is_line = !parts.empty() && parts[0].dimensions() == 1;
    return concatenated(parts, is_line ? 0 : 1, in[1]);
}

value run_column_stack(std::span<const value> in) {
    arrays_of parts = arrays_from(in[0], "tup");
    for (array& part : parts) {
        while (part.dimensions() < 2) {
            part = expanded(part, part.dimensions());
        }
    }
    return concatenated(parts, 1, none{});
}

value run_append(std::span<const value> in) {
    arrays_of parts = {array_from(in[0], "arr"), array_from(in[1], "values")};
    if (!in[2].is_none()) return concatenated(parts, integer_from(in[2], "axis"), none{});
    std::ranges::transform(parts, parts.begin(), flattened);
    return concatenated(parts, 0, none{});
}

/// Views that end at these positions, and at the end; positions as those of a slice.
value split_at(const array& a, std::size_t axis, std::span<const std::int64_t> ends) {
    const std::int64_t length = a.shape()[axis];
    const auto position = [length](std::int64_t at) {
        return std::clamp<std::int64_t>(at < 0 ? at + length : at, 0, length);
    };
    values parts;
    std::int64_t first = 0;
    for (const std::int64_t end : ends) {
        const std::int64_t last = position(end);
        parts.emplace_back(part_of(a, axis, first, std::max(first, last)));
        first = last;
    }
    parts.emplace_back(part_of(a, axis, first, length));
    return tuple_of(std::move(parts));
}

value split_into(const value& of, const value& how, const value& along, bool equally) {
    const array a = array_from(of, "ary");
    const std::size_t axis = axis_in(integer_from(along, "axis"), a.dimensions());
    const auto* sequence = how.as<array>();
    if (how.is<tuple>() || (sequence != nullptr && sequence->dimensions() > 0)) {
        return split_at(a, axis, integers_from(how, "indices_or_sections"));
    }
    const std::int64_t sections = integer_from(how, "indices_or_sections");
    if (sections <= 0) throw std::invalid_argument("number sections must be larger than 0.");
    const std::int64_t more = a.shape()[axis] % sections;
    if (equally && more != 0) {
        throw std::invalid_argument("array split does not result in an equal division");
    }
    std::vector<std::int64_t> ends;
    for (std::int64_t i = 1; i < sections; ++i) {
        ends.push_back(a.shape()[axis] / sections * i + std::min(i, more));
    }
    return split_at(a, axis, ends);
}

value run_split(std::span<const value> in) { return split_into(in[0], in[1], in[2], true); }
value run_array_split(std::span<const value> in) { return split_into(in[0], in[1], in[2], false); }

array repeated_each(const array& a, std::size_t axis, std::span<const std::int64_t> counts) {
    std::int64_t total = 0;
    for (const std::int64_t count : counts) {
        if (count < 0) throw std::invalid_argument("repeats may not contain negative values.");
        total += count;
    }
    extents shape = a.shape();
    shape[axis] = total;
    array made(a.type(), shape);
    std::ptrdiff_t at = 0;
    for (std::ptrdiff_t i = 0; i < a.shape()[axis]; ++i) {
        const array to = part_of(made, axis, at, at + counts[static_cast<std::size_t>(i)]);
        copy_elements(to, broadcast_view(part_of(a, axis, i, i + 1), to.shape()));
        at += to.shape()[axis];
    }
    return made;
}

value run_repeat(std::span<const value> in) {
    const array whole = array_from(in[0], "a");
    const array a = in[2].is_none() ? flattened(whole) : at_least_1d(whole);
    const std::size_t axis =
        in[2].is_none() ? 0 : axis_in(integer_from(in[2], "axis"), a.dimensions());
    std::vector<std::int64_t> counts = integers_from(in[1], "repeats");
    const auto length = static_cast<std::size_t>(a.shape()[axis]);
    if (counts.size() != 1 && counts.size() != length) {
        throw std::invalid_argument("operands could not be broadcast together with shape (" +
                                    std::to_string(length) + ",) (" +
                                    std::to_string(counts.size()) + ",)");
    }
    if (counts.size() != 1) return repeated_each(a, axis, counts);
    if (counts[0] < 0 && a.shape()[axis] > 0) {
        throw std::invalid_argument("negative dimensions are not allowed");
    }
    extents shape = a.shape();
    shape[axis] *= std::abs(counts[0]);
    array made(a.type(), shape);
    // The result with the copies of each element in a dimension of their own.
    if (made.size() == 0) return made;
    extents apart = expanded(a, axis + 1u).shape();
    apart[axis + 1u] = counts[0];
    copy_elements(made.view(apart, c_strides(made.type(), apart)),
                  broadcast_view(expanded(a, axis + 1u), apart));
    return made;
}

value run_tile(std::span<const value> in) {
    array a = array_from(in[0], "A");
    std::vector<std::int64_t> reps = integers_from(in[1], "reps");
    while (a.dimensions() < reps.size()) {
        a = expanded(a, 0);
    }
    reps.insert(reps.begin(), a.dimensions() - reps.size(), 1);
    if (a.dimensions() == 0) return copied(a, a.type());
    // One dimension after the other, the innermost first: each result is in C order.
    bool is_new = false;
    for (std::size_t i = reps.size(); i-- > 0;) {
        if (reps[i] < 0) throw std::invalid_argument("negative dimensions are not allowed");
        if (reps[i] == 1) continue;
        is_new = true;
        const arrays_of copies(static_cast<std::size_t>(reps[i]), a);
        a = copies.empty() ? part_of(a, i, 0, 0)
                           : concatenated(copies, static_cast<int>(i), none{});
    }
    return is_new ? a : copied(a, a.type());
}

/// The axes that an operand names; all for None.
std::vector<std::size_t> axes_from(const value& from, std::size_t dimensions) {
    std::vector<std::size_t> axes;
    if (from.is_none()) {
        for (std::size_t i = 0; i < dimensions; ++i) {
            axes.push_back(i);
        }
        return axes;
    }
    for (const std::int64_t axis : integers_from(from, "axis")) {
        axes.push_back(axis_in(axis, dimensions));
    }
    return axes;
}

array flipped(const array& a, std::size_t axis) {
    extents strides = a.strides();
    const std::ptrdiff_t last = std::max<std::ptrdiff_t>(a.shape()[axis] - 1, 0) * strides[axis];
    strides[axis] = -strides[axis];
    return a.view(a.shape(), strides, a.size() == 0 ? 0 : last);
}

value run_flip(std::span<const value> in) {
    array a = array_from(in[0], "m");
    for (const std::size_t axis : axes_from(in[1], a.dimensions())) {
        a = flipped(a, axis);
    }
    return a;
}

array rolled(const array& a, std::size_t axis, std::int64_t shift) {
    const std::int64_t length = a.shape()[axis];
    array made(a.type(), a.shape());
    if (a.size() == 0) return made;
    const std::int64_t by = (shift % length + length) % length;
    copy_elements(part_of(made, axis, by, length), part_of(a, axis, 0, length - by));
    copy_elements(part_of(made, axis, 0, by), part_of(a, axis, length - by, length));
    return made;
}

value run_roll(std::span<const value> in) {
    array a = array_from(in[0], "a");
    std::vector<std::int64_t> shifts = integers_from(in[1], "shift");
    if (in[2].is_none()) {
        array line = flattened(a);
        for (const std::int64_t shift : shifts) {
            line = rolled(line, 0, shift);
        }
        return line.view(a.shape(), c_strides(a.type(), a.shape()));
    }
    std::vector<std::size_t> axes = axes_from(in[2], a.dimensions());
    if (shifts.size() == 1) shifts.resize(axes.size(), shifts[0]);
    if (axes.size() == 1) axes.resize(shifts.size(), axes[0]);
    if (axes.size() != shifts.size()) {
        throw std::invalid_argument(
            "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between "
            "arg 0 with shape (" +
            std::to_string(shifts.size()) + ",) and arg 1 with shape (" +
            std::to_string(axes.size()) + ",).");
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
        a = rolled(a, axes[i], shifts[i]);
    }
    return a;
}

constexpr primitive k_joining[] = {
    {"append", "arr, values, axis=None", run_append},
    {"array_split", "ary, indices_or_sections, axis=0", run_array_split},
    {"column_stack", "tup", run_column_stack},
    {"concatenate", "arrays, axis=0, dtype=None", run_concatenate},
    {"flip", "m, axis=None", run_flip},
    {"hstack", "tup, dtype=None", run_hstack},
    {"repeat", "a, repeats, axis=None", run_repeat},
    {"roll", "a, shift, axis=None", run_roll},
    {"split", "ary, indices_or_sections, axis=0", run_split},
    {"stack", "arrays, axis=0, dtype=None", run_stack},
    {"tile", "A, reps", run_tile},
    {"vstack", "tup, dtype=None", run_vstack},
};

}  // namespace

std::span<const primitive> joining_primitives() noexcept { return k_joining; }

}  // namespace quern::arrays::detail
