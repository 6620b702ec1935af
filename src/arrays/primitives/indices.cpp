// SPDX-License-Identifier: BSL-1.0
#include "primitives/indices.hpp"

#include "core/text.hpp"
#include "primitives/arguments.hpp"
#include "primitives/copies.hpp"

#include <quern/arrays/primitive.hpp>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

namespace quern::arrays::detail {

namespace {

/// One part of an index.
struct piece {
    enum class kind { integer, range, ellipsis, new_axis, chosen, mask } is;
    std::int64_t integer = 0;
    slice range{};
    array chosen{};

    std::size_t dimensions() const noexcept {
        if (is == kind::mask) return chosen.dimensions();
        return is == kind::ellipsis || is == kind::new_axis ? 0 : 1;
    }
    bool is_array() const noexcept { return is == kind::chosen || is == kind::mask; }
};
using kind = piece::kind;

[[noreturn]] void refuse_index() {
    throw std::out_of_range(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
        "boolean arrays are valid indices");
}

piece piece_of_array(const array& a) {
    if (a.type() == dtype::boolean) return {kind::mask, 0, {}, a};
    if (a.size() == 0 && a.type() == dtype::float64) {  // an empty list
        return {kind::chosen, 0, {}, converted(a, dtype::int64)};
    }
    if (is_float(a.type())) {
        if (a.dimensions() == 0) refuse_index();
        throw std::out_of_range("arrays used as indices must be of integer (or boolean) type");
    }
    const array whole = converted(a, dtype::int64);
    if (a.dimensions() == 0) return {kind::integer, *whole.data<std::int64_t>()};
    return {kind::chosen, 0, {}, whole};
}

piece piece_of(const value& v) {
    if (const auto* const whole = v.as<std::int64_t>()) return {kind::integer, *whole};
    if (const auto* const range = v.as<slice>()) return {kind::range, 0, *range};
    if (v.is<ellipsis>()) return {kind::ellipsis};
    if (v.is_none()) return {kind::new_axis};
    if (v.is<array>() || v.is<bool>() || v.is<tuple>())
        return piece_of_array(array_from(v, "index"));
    refuse_index();
}

/// All parts, with an ellipsis at the end if there is none.
std::vector<piece> pieces_of(const array& from, const value& index) {
    std::vector<piece> all;
    if (const auto* const parts = index.as<tuple>()) {
        for (const value& part : **parts) {
            all.push_back(piece_of(part));
        }
    } else {
        all.push_back(piece_of(index));
    }
    const auto ellipses = std::ranges::count(all, kind::ellipsis, &piece::is);
    if (ellipses > 1) throw std::out_of_range("an index can only have a single ellipsis ('...')");
    std::size_t used = 0;
    for (const piece& each : all) {
        used += each.dimensions();
    }
    if (used > from.dimensions()) {
        throw std::out_of_range("too many indices for array: array is " +
                                std::to_string(from.dimensions()) + "-dimensional, but " +
                                std::to_string(used) + " were indexed");
    }
    if (ellipses == 0 && used < from.dimensions()) all.push_back({kind::ellipsis});
    return all;
}

void check_mask(const array& mask, const array& from, std::size_t axis) {
    for (std::size_t d = 0; d < mask.dimensions(); ++d) {
        const std::ptrdiff_t size = from.shape()[axis + d];
        if (mask.shape()[d] == size) continue;
        throw std::out_of_range(
            "boolean index did not match indexed array along axis " + std::to_string(axis + d) +
            "; size of axis is " + std::to_string(size) +
            " but size of corresponding boolean axis is " + std::to_string(mask.shape()[d]));
    }
}

/// Indices from 0 on.
array checked(const array& indices, std::ptrdiff_t size, std::size_t axis) {
    array result = copied(indices, dtype::int64);
    auto* const all = result.data<std::int64_t>();
    for (std::ptrdiff_t i = 0; i < result.size(); ++i) {
        all[i] = index_in(all[i], size, axis);
    }
    return result;
}

class builder {
public:
    builder(const array& from, std::vector<piece> pieces)
        : m_from(from), m_pieces(std::move(pieces)) {
        m_has_arrays = std::ranges::any_of(m_pieces, &piece::is_array);
    }

    selection build() {
        for (const piece& each : m_pieces) {
            add(each);
        }
        m_result.view = m_from.view(m_shape, m_strides, m_offset);
        m_result.is_element = !m_has_arrays && m_shape.empty() && !m_has_ellipsis;
        if (m_has_arrays) join_indices();
        return std::move(m_result);
    }

private:
    void add(const piece& each) {
        const std::size_t axis = m_axis;
        m_axis += each.dimensions();
        switch (each.is) {
            case kind::integer:
                return add_integer(each.integer, axis);
            case kind::range:
                return add_range(each.range, axis);
            case kind::ellipsis:
                return add_rest();
            case kind::new_axis:
                return add_dimension(1, 0);
            case kind::chosen:
                return add_chosen(checked(each.chosen, m_from.shape()[axis], axis), axis);
            case kind::mask:
                return add_mask(each.chosen, axis);
        }
    }

    void add_dimension(std::ptrdiff_t length, std::ptrdiff_t stride) {
        m_shape.push_back(length);
        m_strides.push_back(stride);
        ++m_others;
        if (m_began) m_interrupted = true;
    }

    /// Beside arrays of indices an integer is one of them; it chooses at once all the same.
    void add_integer(std::int64_t index, std::size_t axis) {
        m_offset += index_in(index, m_from.shape()[axis], axis) * m_from.strides()[axis];
        if (m_has_arrays) begin_indices();
    }

    void add_range(const slice& range, std::size_t axis) {
        const span_of_slice of = resolved(range, m_from.shape()[axis]);
        m_offset += of.count == 0 ? 0 : of.start * m_from.strides()[axis];
        add_dimension(of.count, m_from.strides()[axis] * of.step);
    }

    void add_rest() {
        std::size_t used = 0;
        for (const piece& each : m_pieces) {
            used += each.dimensions();
        }
        m_has_ellipsis = true;
        for (std::size_t left = m_from.dimensions() - used; left > 0; --left, ++m_axis) {
            add_dimension(m_from.shape()[m_axis], m_from.strides()[m_axis]);
        }
    }

    void begin_indices() {
        if (m_began && m_interrupted) m_apart = true;
        if (!m_began) m_result.place = m_others;
        m_began = true;
    }

    void add_chosen(array indices, std::size_t axis) {
        begin_indices();
        m_result.dimensions.push_back(m_shape.size());
        m_shape.push_back(m_from.shape()[axis]);
        m_strides.push_back(m_from.strides()[axis]);
        m_result.indices.push_back(std::move(indices));
    }

    void add_mask(const array& mask, std::size_t axis) {
        check_mask(mask, m_from, axis);
        if (mask.dimensions() == 0) {  // True or False: a new dimension of length 1 or 0
            begin_indices();
            array one(dtype::int64, {*mask.data<bool>() ? 1 : 0});
            std::fill_n(one.data<std::int64_t>(), one.size(), 0);
            m_result.dimensions.push_back(m_shape.size());
            m_shape.push_back(1);
            m_strides.push_back(0);
            m_result.indices.push_back(std::move(one));
            return;
        }
        const value places = call("nonzero", {mask});
        for (const value& each : **places.as<tuple>()) {
            add_chosen(*each.as<array>(), axis++);
        }
    }

    void join_indices() {
        if (m_apart) m_result.place = 0;
        try {
            for (const array& each : m_result.indices) {
                m_result.shape = broadcast(m_result.shape, each.shape());
            }
        } catch (const std::invalid_argument&) {
            std::string text =
                "shape mismatch: indexing arrays could not be broadcast together "
                "with shapes";
            for (const array& each : m_result.indices) {
                text += " " + text_of(each.shape());
            }
            throw std::out_of_range(text);
        }
        for (array& each : m_result.indices) {
            each = broadcast_view(each, m_result.shape);
        }
    }

    const array& m_from;
    std::vector<piece> m_pieces;
    selection m_result;
    extents m_shape;
    extents m_strides;
    std::ptrdiff_t m_offset = 0;
    std::size_t m_axis = 0;    ///< of m_from
    std::size_t m_others = 0;  ///< dimensions so far that no array of indices is for
    bool m_has_arrays = false;
    bool m_has_ellipsis = false;
    bool m_began = false;
    bool m_interrupted = false;  ///< by a dimension after the first array of indices
    bool m_apart = false;        ///< arrays of indices with other dimensions between them
};

std::ptrdiff_t clamped(std::int64_t bound, std::ptrdiff_t size, bool backwards) noexcept {
    if (bound < 0) bound += size;
    const std::ptrdiff_t least = backwards ? -1 : 0;
    return std::clamp<std::ptrdiff_t>(bound, least, backwards ? size - 1 : size);
}

}  // namespace

std::ptrdiff_t index_in(std::int64_t index, std::ptrdiff_t size, std::size_t axis) {
    if (index < -size || index >= size) {
        throw std::out_of_range("index " + std::to_string(index) + " is out of bounds for axis " +
                                std::to_string(axis) + " with size " + std::to_string(size));
    }
    return index < 0 ? index + size : index;
}

span_of_slice resolved(const slice& of, std::ptrdiff_t size) {
    const std::int64_t step = of.step.value_or(1);
    if (step == 0) throw std::invalid_argument("slice step cannot be zero");
    const bool backwards = step < 0;
    const std::ptrdiff_t start = of.start    ? clamped(*of.start, size, backwards)
                                 : backwards ? size - 1
                                             : 0;
    const std::ptrdiff_t stop = of.stop     ? clamped(*of.stop, size, backwards)
                                : backwards ? -1
                                            : size;
    const std::ptrdiff_t distance = backwards ? start - stop : stop - start;
    // A step beyond the end is as good as one to the end.
    const std::ptrdiff_t most = std::max<std::ptrdiff_t>(size, 1);
    const std::ptrdiff_t stride = std::clamp<std::ptrdiff_t>(step, -most, most);
    const std::ptrdiff_t length = backwards ? -stride : stride;
    return {start, stride, distance <= 0 ? 0 : (distance + length - 1) / length};
}

namespace {

/// a[i] and a[i:j], as the builder would make them.
std::optional<selection> selected_first(const array& from, const value& index) {
    const auto* const at = index.as<std::int64_t>();
    const auto* const range = index.as<slice>();
    if (from.dimensions() == 0 || (at == nullptr && range == nullptr)) return std::nullopt;
    const std::ptrdiff_t size = from.shape()[0];
    const std::ptrdiff_t stride = from.strides()[0];
    selection found;
    if (at != nullptr) {
        const std::size_t others = from.dimensions() - 1u;
        found.view = from.view(extents(std::span(from.shape().begin() + 1, others)),
                               extents(std::span(from.strides().begin() + 1, others)),
                               index_in(*at, size, 0) * stride);
        found.is_element = others == 0;
        return found;
    }
    const span_of_slice of = resolved(*range, size);
    extents shape = from.shape();
    extents strides = from.strides();
    shape[0] = of.count;
    strides[0] = stride * of.step;
    found.view = from.view(shape, strides, of.count == 0 ? 0 : of.start * stride);
    return found;
}

}  // namespace

selection select(const array& from, const value& index) {
    if (auto found = selected_first(from, index)) return std::move(*found);
    return builder(from, pieces_of(from, index)).build();
}

}  // namespace quern::arrays::detail
