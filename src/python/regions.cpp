// SPDX-License-Identifier: BSL-1.0
#include "regions.hpp"

#include <quern/arrays/errors.hpp>
#include <quern/dependences/block.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace quern::python {

namespace {

namespace nb = nanobind;

/// Elements at equal distances.
struct dimension {
    std::ptrdiff_t count;
    std::ptrdiff_t distance;  ///< in bytes, above 0
};

/// An object's memory: rows of `row` bytes, in dimensions with the largest distance first.
struct memory {
    std::byte* first = nullptr;
    std::ptrdiff_t row = 0;
    std::vector<dimension> outer{};
    bool is_empty = false;
};

class buffer_view {
public:
    buffer_view(PyObject* object, bool writes) {
        if (PyObject_GetBuffer(object, &m_view, PyBUF_STRIDES) != 0) {
            PyErr_Clear();
            throw arrays::type_error(std::string("quern.task: a ") + Py_TYPE(object)->tp_name +
                                     " has no memory that it shows; accepted: NumPy arrays and "
                                     "what has the buffer protocol");
        }
        if (writes && m_view.readonly != 0) {
            PyBuffer_Release(&m_view);
            throw std::invalid_argument(
                "quern.task: an array that is named in out or inout is "
                "read-only");
        }
    }
    buffer_view(const buffer_view&) = delete;
    buffer_view& operator=(const buffer_view&) = delete;
    ~buffer_view() { PyBuffer_Release(&m_view); }
    const Py_buffer& get() const noexcept { return m_view; }

private:
    Py_buffer m_view{};
};

memory memory_of(const Py_buffer& view) {
    memory found{.first = static_cast<std::byte*>(view.buf), .row = view.itemsize};
    for (int i = 0; i < view.ndim; ++i) {
        const std::ptrdiff_t count = view.shape[i];
        std::ptrdiff_t distance = view.strides[i];
        found.is_empty = found.is_empty || count == 0;
        if (count <= 1 || distance == 0) {
            continue;
        }
        if (distance < 0) {
            found.first += (count - 1) * distance;
            distance = -distance;
        }
        found.outer.push_back({count, distance});
    }
    std::ranges::sort(found.outer, std::ranges::greater(), &dimension::distance);
    while (!found.outer.empty() && found.outer.back().distance == found.row) {
        found.row *= found.outer.back().count;
        found.outer.pop_back();
    }
    return found;
}

/// Up to four dimensions none of which overlaps the next.
bool has_exact_region(const memory& of) noexcept {
    std::ptrdiff_t inner = of.row;
    for (auto i = of.outer.rbegin(); i != of.outer.rend(); ++i) {
        if (i->distance < inner) {
            return false;
        }
        inner = (i->count - 1) * i->distance + inner;
    }
    return of.outer.size() <= 3;
}

template <class Region>
void add_region(access_list& to, const Region& region, access_of_region how) {
    switch (how) {
        case access_of_region::read:
            to.add(in(region));
            return;
        case access_of_region::write:
            to.add(out(region));
            return;
        case access_of_region::update:
            to.add(inout(region));
            return;
    }
}

template <std::size_t N>
void add_strided(access_list& to, const memory& of, access_of_region how) {
    std::array<std::ptrdiff_t, N> counts{};
    std::array<std::ptrdiff_t, N - 1> distances{};
    for (std::size_t i = 0; i + 1 < N; ++i) {
        counts[i] = of.outer[i].count;
        distances[i] = of.outer[i].distance;
    }
    counts[N - 1] = of.row;
    add_region(to, strided<std::byte, N>(of.first, counts, distances), how);
}

void add_memory(access_list& to, const memory& of, access_of_region how) {
    if (of.is_empty) {
        return;
    }
    if (!has_exact_region(of)) {
        std::ptrdiff_t bytes = of.row;
        for (const dimension& each : of.outer) {
            bytes += (each.count - 1) * each.distance;
        }
        add_strided<1>(to, {.first = of.first, .row = bytes}, how);
        return;
    }
    switch (of.outer.size()) {
        case 0:
            return add_strided<1>(to, of, how);
        case 1:
            return add_strided<2>(to, of, how);
        case 2:
            return add_strided<3>(to, of, how);
        default:
            return add_strided<4>(to, of, how);
    }
}

}  // namespace

void add_regions(access_list& to, nb::list objects, access_of_region how) {
    for (const nb::handle each : objects) {
        const buffer_view view(each.ptr(), how != access_of_region::read);
        add_memory(to, memory_of(view.get()), how);
    }
}

}  // namespace quern::python
