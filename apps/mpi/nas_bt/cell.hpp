// SPDX-License-Identifier: BSL-1.0
// A box of points of a rank, with two points more on each side (the halo): of neighbouring cells,
// or of the faces of the cube and, beyond them, unused. Storage, first values, and copies of halos.
#pragma once

#include "lanes.hpp"
#include "partition.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace nas_bt {

inline constexpr std::ptrdiff_t k_halo = 2;

/// From which to before which.
struct range {
    std::ptrdiff_t first;
    std::ptrdiff_t last;

    std::ptrdiff_t count() const { return last - first; }
};

// By the direction of a sweep: the direction from a line to the one beside it, and that from a
// plane of lines to the next. Sweeps along x and y have the same planes.
inline constexpr std::size_t k_beside[3] = {1, 0, 0};
inline constexpr std::size_t k_plane[3] = {2, 2, 1};

/// A field: five components, each with the points of x side by side. Point (0, 0, 0) is the first
/// that is no halo.
class field {
public:
    field(const triple& stride, std::ptrdiff_t volume)
        : m_volume(volume),
          m_begin(k_halo * (stride[0] + stride[1] + stride[2])),
          m_all(static_cast<std::size_t>(5 * volume)) {}

    double* component(std::size_t m) {
        return m_all.data() + static_cast<std::ptrdiff_t>(m) * m_volume + m_begin;
    }
    components in_order(const std::array<std::size_t, 5>& order) {
        components all;
        std::transform(order.begin(), order.end(), all.begin(),
                       [this](std::size_t m) { return component(m); });
        return all;
    }

private:
    std::ptrdiff_t m_volume;
    std::ptrdiff_t m_begin;
    std::vector<double> m_all;
};

class cell {
public:
    cell(const partition& all, std::size_t which)
        : m_n(all.kind().n),
          m_dt(all.kind().dt),
          m_shape(shape_of(all, which)),
          m_u(m_shape.stride, m_shape.volume),
          m_rhs(m_shape.stride, m_shape.volume),
          m_forcing(m_shape.stride, m_shape.volume) {
        for (std::size_t d = 0; d < 3; ++d) {
            m_dissipation[d] = dissipation_weights(m_shape.first[d], size(d));
        }
        for (std::size_t d = 0; d < 3; ++d) {
            m_uppers_of_plane = std::max(m_uppers_of_plane, pairs(d) * size(d));
        }
        if (all.cells() > 1) {
            m_uppers.resize(
                static_cast<std::size_t>(m_uppers_of_plane * std::max(planes(0), planes(2))));
        }
    }

    /// The solution.
    field& u() { return m_u; }
    /// The right-hand side, then the change of a step. Its halo is unused, as that of the forcing.
    field& rhs() { return m_rhs; }
    /// What makes the exact solution one of the equations.
    field& forcing() { return m_forcing; }

    /// Points in direction d, and the distance in memory between two.
    std::ptrdiff_t size(std::size_t d) const { return m_shape.size[d]; }
    std::ptrdiff_t stride(std::size_t d) const { return m_shape.stride[d]; }
    /// Of a sweep along d.
    std::ptrdiff_t planes(std::size_t d) const { return size(k_plane[d]); }
    /// Pairs of lines in a plane. The last line of an odd number is a pair by itself.
    std::ptrdiff_t pairs(std::size_t d) const { return (size(k_beside[d]) + 1) / k_lanes; }
    /// Global number of points along an edge of the cube.
    std::ptrdiff_t n() const { return m_n; }
    double dt() const { return m_dt; }

    /// The point whose dissipation it is has number 2 of the five weights. They differ at the
    /// outermost points.
    const double* dissipation(std::size_t d, std::size_t number) const {
        return m_dissipation[d][number].data();
    }

    /// What elimination leaves of a pair of lines for substitution, where other cells have parts
    /// of those lines. Overwritten by the next sweep, plane by plane.
    block* uppers(std::size_t d, std::ptrdiff_t plane, std::ptrdiff_t pair) {
        return &m_uppers[static_cast<std::size_t>(plane * m_uppers_of_plane + pair * size(d))];
    }

    /// Sets all points and halos of u by a function of the coordinates.
    template <class F>
    void fill_u(const F& f) {
        const auto inside = [this](std::size_t d) { return range{-k_halo, size(d) + k_halo}; };
        const components all = m_u.in_order({0, 1, 2, 3, 4});
        for_each({inside(0), inside(1), inside(2)}, [&](const triple& i, std::ptrdiff_t offset) {
            const five values = f(coordinates(i));
            for (std::size_t m = 0; m < 5; ++m) {
                all[m][offset] = values[m];
            }
        });
    }

    /// From 0 to 1, of a point.
    std::array<double, 3> coordinates(const triple& i) const {
        std::array<double, 3> at;
        for (std::size_t d = 0; d < 3; ++d) {
            at[d] = static_cast<double>(m_shape.first[d] + i[d]) / static_cast<double>(m_n - 1);
        }
        return at;
    }

    /// f(point, its offset in a component), x fastest.
    template <class F>
    void for_each(const std::array<range, 3>& box, const F& f) const {
        for (std::ptrdiff_t z = box[2].first; z < box[2].last; ++z) {
            for (std::ptrdiff_t y = box[1].first; y < box[1].last; ++y) {
                for (std::ptrdiff_t x = box[0].first; x < box[0].last; ++x) {
                    f({x, y, z}, x * stride(0) + y * stride(1) + z * stride(2));
                }
            }
        }
    }
    std::array<range, 3> inside() const { return {{{0, size(0)}, {0, size(1)}, {0, size(2)}}}; }

    /// Numbers in the two outer layers at one side in direction d.
    std::size_t layers_size(std::size_t d) const {
        return static_cast<std::size_t>(5 * k_halo * size((d + 1) % 3) * size((d + 2) % 3));
    }
    /// Copies u there into a message.
    void pack(std::size_t d, bool is_after, double* to) {
        const std::ptrdiff_t first = is_after ? size(d) - k_halo : 0;
        for_each_in_layers(d, first, [&to](double& value) { *to++ = value; });
    }
    /// Copies a neighbour's message into the halo.
    void unpack(std::size_t d, bool is_after, const double* from) {
        const std::ptrdiff_t first = is_after ? size(d) : -k_halo;
        for_each_in_layers(d, first, [&from](double& value) { value = *from++; });
    }

private:
    struct shape {
        triple first;  ///< global numbers of the first point
        triple size;
        triple stride;
        std::ptrdiff_t volume;  ///< with halos
    };
    static shape shape_of(const partition& all, std::size_t which) {
        const triple layers = all.layers_of(which);
        shape s{{}, {}, {}, 1};
        for (std::size_t d = 0; d < 3; ++d) {
            const apps::mpi::share points = all.points_of(layers[d]);
            s.first[d] = static_cast<std::ptrdiff_t>(points.first);
            s.size[d] = static_cast<std::ptrdiff_t>(points.count);
            s.stride[d] = s.volume;
            s.volume *= s.size[d] + 2 * k_halo;
        }
        return s;
    }

    using weights = std::array<std::vector<double>, 5>;
    weights dissipation_weights(std::ptrdiff_t first, std::ptrdiff_t count) const {
        weights all;
        for (std::ptrdiff_t i = first; i < first + count; ++i) {
            // What lies on the faces or beyond them counts less.
            const bool begins = i == 1;
            const bool ends = i == m_n - 2;
            const double each[5] = {i <= 2 ? 0.0 : 1.0, begins ? 0.0 : -4.0,
                                    begins || ends ? 5.0 : 6.0, ends ? 0.0 : -4.0,
                                    i >= m_n - 3 ? 0.0 : 1.0};
            for (std::size_t k = 0; k < 5; ++k) {
                all[k].push_back(each[k]);
            }
        }
        return all;
    }

    template <class F>
    void for_each_in_layers(std::size_t d, std::ptrdiff_t first, const F& f) {
        std::array<range, 3> box = inside();
        box[d] = {first, first + k_halo};
        for (std::size_t m = 0; m < 5; ++m) {
            double* const all = m_u.component(m);
            for_each(box, [&](const triple&, std::ptrdiff_t offset) { f(all[offset]); });
        }
    }

    std::ptrdiff_t m_n;
    double m_dt;
    shape m_shape;
    field m_u;
    field m_rhs;
    field m_forcing;
    std::array<weights, 3> m_dissipation;
    std::ptrdiff_t m_uppers_of_plane = 0;
    std::vector<block> m_uppers;
};

}  // namespace nas_bt
