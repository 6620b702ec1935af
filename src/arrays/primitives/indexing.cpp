// SPDX-License-Identifier: BSL-1.0
// getitem and setitem.
#include "core/text.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/tiles.hpp"
#include "primitives/arguments.hpp"
#include "primitives/copies.hpp"
#include "primitives/families.hpp"
#include "primitives/indices.hpp"
#include "primitives/operations.hpp"

#include <quern/arrays/errors.hpp>

#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace quern::arrays::detail {

namespace {

/// The elements that an index with arrays chooses: blocks of the other dimensions, each at an
/// offset. `shape` is the result's, whose dimensions from `place` on are those of the indices.
struct chosen_blocks {
    array view;
    std::vector<std::ptrdiff_t> offsets;  ///< in bytes, in C order of the indices
    extents index_shape;
    extents block_shape;
    extents block_strides;
    std::size_t place;

    explicit chosen_blocks(const selection& of)
        : view(of.view), index_shape(of.shape), place(of.place) {
        std::size_t next = 0;
        for (std::size_t d = 0; d < view.dimensions(); ++d) {
            if (next < of.dimensions.size() && of.dimensions[next] == d) {
                ++next;
                continue;
            }
            block_shape.push_back(view.shape()[d]);
            block_strides.push_back(view.strides()[d]);
        }
        put_offsets(of);
    }

    extents shape() const {
        extents all;
        for (std::size_t d = 0; d < place; ++d) {
            all.push_back(block_shape[d]);
        }
        for (const std::ptrdiff_t length : index_shape) {
            all.push_back(length);
        }
        for (std::size_t d = place; d < block_shape.size(); ++d) {
            all.push_back(block_shape[d]);
        }
        return all;
    }

private:
    void put_offsets(const selection& of) {
        std::ptrdiff_t count = 1;
        for (const std::ptrdiff_t length : index_shape) {
            count *= length;
        }
        offsets.assign(static_cast<std::size_t>(count), 0);
        for (std::size_t i = 0; i < of.indices.size(); ++i) {
            const array whole = contiguous(of.indices[i]);
            const auto* const index = whole.data<std::int64_t>();
            const std::ptrdiff_t stride = view.strides()[of.dimensions[i]];
            for (std::size_t j = 0; j < offsets.size(); ++j) {
                offsets[j] += index[j] * stride;
            }
        }
    }
};

/// The dimensions of a block in two arrays. Copies blocks from one to the other.
struct block_copy {
    extents shape;
    extents to_strides;
    extents from_strides;
    std::size_t element;

    void run(std::byte* to, const std::byte* from) const { run_dimension(to, from, 0); }

private:
    void run_dimension(std::byte* to, const std::byte* from, std::size_t d) const {
        if (d == shape.size()) {
            std::memcpy(to, from, element);
            return;
        }
        const auto step = static_cast<std::ptrdiff_t>(element);
        if (d + 1 == shape.size() && to_strides[d] == step && from_strides[d] == step) {
            std::memcpy(to, from, static_cast<std::size_t>(shape[d]) * element);
            return;
        }
        for (std::ptrdiff_t i = 0; i < shape[d]; ++i) {
            run_dimension(to + i * to_strides[d], from + i * from_strides[d], d + 1);
        }
    }
};

/// An array of the result's shape, with the dimensions of the indices apart from the others.
struct apart {
    extents index_strides;
    extents block_strides;

    apart(const chosen_blocks& of, const extents& strides) {
        const std::size_t end = of.place + of.index_shape.size();
        for (std::size_t d = 0; d < strides.size(); ++d) {
            (d >= of.place && d < end ? index_strides : block_strides).push_back(strides[d]);
        }
    }

    std::ptrdiff_t offset_of(std::ptrdiff_t index, const extents& shape) const noexcept {
        std::ptrdiff_t offset = 0;
        for (std::size_t d = shape.size(); d-- > 0;) {
            offset += index % shape[d] * index_strides[d];
            index /= shape[d];
        }
        return offset;
    }
};

std::ptrdiff_t elements_of(const extents& shape) noexcept {
    std::ptrdiff_t count = 1;
    for (const std::ptrdiff_t length : shape) {
        count *= length;
    }
    return count;
}

array gather(const chosen_blocks& from) {
    array to(from.view.type(), from.shape());
    const apart dimensions(from, to.strides());
    const block_copy copy{from.block_shape, dimensions.block_strides, from.block_strides,
                          size_of(to.type())};
    const std::ptrdiff_t block = elements_of(from.block_shape);
    if (block == 0) return to;
    const std::ptrdiff_t tile = std::max<std::ptrdiff_t>(1, k_dear_tile / block);
    const auto count = static_cast<std::ptrdiff_t>(from.offsets.size());
    for_tiles(count, tile, 1, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
        for (std::ptrdiff_t i = begin; i < end; ++i) {
            copy.run(to.bytes() + dimensions.offset_of(i, from.index_shape),
                     from.view.bytes() + from.offsets[static_cast<std::size_t>(i)]);
        }
    });
    return to;
}

/// a[indices] where rows lie in C order and are few, so that a copy of each is all there is to do.
std::optional<array> gathered_rows(const array& from, const value& index) {
    const auto* const at = index.as<array>();
    if (at == nullptr || at->type() != dtype::int64 || at->dimensions() != 1) return std::nullopt;
    if (from.dimensions() == 0) return std::nullopt;
    extents shape = from.shape();
    extents strides = from.strides();
    shape[0] = 1;
    const array row = from.view(shape, strides);
    shape[0] = at->size();
    if (!row.is_contiguous() || row.size() * at->size() > k_dear_tile) return std::nullopt;
    array to(from.type(), shape);
    const std::size_t bytes = static_cast<std::size_t>(row.size()) * size_of(from.type());
    for (std::ptrdiff_t i = 0; i < at->size(); ++i) {
        const auto wanted =
            *reinterpret_cast<const std::int64_t*>(at->bytes() + i * at->strides()[0]);
        const std::ptrdiff_t found = index_in(wanted, from.shape()[0], 0);
        std::memcpy(to.bytes() + static_cast<std::size_t>(i) * bytes,
                    from.bytes() + found * strides[0], bytes);
    }
    return to;
}

/// One block after the other: where an index comes twice, the last one stays.
void scatter(const chosen_blocks& to, const array& from) {
    const apart dimensions(to, from.strides());
    const block_copy copy{to.block_shape, to.block_strides, dimensions.block_strides,
                          size_of(from.type())};
    for (std::size_t i = 0; i < to.offsets.size(); ++i) {
        copy.run(
            to.view.bytes() + to.offsets[i],
            from.bytes() + dimensions.offset_of(static_cast<std::ptrdiff_t>(i), to.index_shape));
    }
}

/// A value that is stored may have more dimensions of length 1 in front.
array without_leading_ones(const array& from, std::size_t most) {
    std::size_t skipped = 0;
    while (from.dimensions() - skipped > most && from.shape()[skipped] == 1) {
        ++skipped;
    }
    if (skipped == 0) return from;
    extents shape;
    extents strides;
    for (std::size_t d = skipped; d < from.dimensions(); ++d) {
        shape.push_back(from.shape()[d]);
        strides.push_back(from.strides()[d]);
    }
    return from.view(shape, strides);
}

array as_stored(const value& from, const array& to, const extents& shape) {
    const array given =
        without_leading_ones(array_of_type(from, to.type(), "setitem"), shape.size());
    return broadcast_view(given, shape);
}

/// The same, with NumPy's other words for elements that an array of indices chooses.
array as_chosen(const value& from, const array& to, const extents& shape) {
    const array given =
        without_leading_ones(array_of_type(from, to.type(), "setitem"), shape.size());
    try {
        return broadcast_view(given, shape);
    } catch (const std::invalid_argument&) {
        throw std::invalid_argument(
            "shape mismatch: value array of shape " + text_of(given.shape()) +
            " could not be broadcast to indexing result of shape " + text_of(shape));
    }
}

void assign(const array& to, const value& from) {
    const array source = without_overlap(as_stored(from, to, to.shape()), to);
    copy_elements(to, source);
}

/// a[mask] = number, with a mask of a's shape: by `where`, in tasks.
bool assign_masked(const array& to, const value& index, const value& from) {
    const auto* const mask = index.as<array>();
    if (mask == nullptr || mask->type() != dtype::boolean || mask->dimensions() == 0 ||
        !(mask->shape() == to.shape())) {
        return false;
    }
    const array number = array_of_type(from, to.type(), "setitem");
    if (number.dimensions() > 0) return false;
    static const kernel_row& row = row_named("where");
    const array inputs[] = {without_overlap(*mask, to), number, to};
    run_elementwise({row.at(to.type()).loop, row.at(to.type()).data, inputs,
                     std::array{dtype::boolean, to.type(), to.type()}, &to, to.type()});
    return true;
}

value item_of_tuple(const tuple& from, const value& index) {
    const auto size = static_cast<std::ptrdiff_t>(from->size());
    if (const auto* const range = index.as<slice>()) {
        const span_of_slice of = resolved(*range, size);
        values parts;
        for (std::ptrdiff_t i = 0; i < of.count; ++i) {
            parts.push_back((*from)[static_cast<std::size_t>(of.start + i * of.step)]);
        }
        return tuple_of(std::move(parts));
    }
    const std::int64_t at = integer_from(index, "tuple indices");
    if (at < -size || at >= size) throw std::out_of_range("tuple index out of range");
    return (*from)[static_cast<std::size_t>(at < 0 ? at + size : at)];
}

value getitem(std::span<const value> v) {
    if (const auto* const parts = v[0].as<tuple>()) return item_of_tuple(*parts, v[1]);
    const auto* const from = v[0].as<array>();
    if (from == nullptr) throw type_error(describe(v[0]) + " is not subscriptable");
    if (auto rows = gathered_rows(*from, v[1])) return std::move(*rows);
    const selection found = select(*from, v[1]);
    if (found.is_element) return copied(found.view, found.view.type());
    if (found.indices.empty()) return found.view;
    return gather(chosen_blocks(found));
}

value setitem(std::span<const value> v) {
    const auto* const to = v[0].as<array>();
    if (to == nullptr) throw type_error(describe(v[0]) + " does not support item assignment");
    if (!to->is_writable()) throw std::invalid_argument("assignment destination is read-only");
    if (assign_masked(*to, v[1], v[2])) return none();
    const selection found = select(*to, v[1]);
    if (found.indices.empty()) {
        assign(found.view, v[2]);
        return none();
    }
    const chosen_blocks blocks(found);
    const array source = without_overlap(as_chosen(v[2], *to, blocks.shape()), *to);
    if (blocks.offsets.empty() || elements_of(blocks.block_shape) == 0) return none();
    scatter(blocks, converted(source, to->type()));
    return none();
}

constexpr primitive k_indexing[] = {
    {"getitem", "a, index", getitem},
    {"setitem", "a, index, value", setitem, true},
};

}  // namespace

std::span<const primitive> indexing_primitives() noexcept { return k_indexing; }

}  // namespace quern::arrays::detail
