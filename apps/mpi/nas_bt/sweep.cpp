// SPDX-License-Identifier: BSL-1.0
// A sweep: 5x5 blocks from the Jacobians of the fluxes, and Gaussian elimination from block to
// block without pivoting. Of the three blocks of a point one is stored, after elimination. With the
// momentum along the sweep first, the Jacobians of all directions are one formula and have zeros in
// the same places. Source: RNR-94-007, 3.4 and 3.5; Jacobians from the fluxes there.
#include "kernels.hpp"
#include "state.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace nas_bt {

namespace {

/// Factors of the implicit operator in a direction.
struct factors {
    factors(const cell& c, std::size_t d) {
        const double edge = static_cast<double>(c.n() - 1);  // 1 / spacing
        advection = c.dt() * edge / 2;
        diffusion = c.dt() * edge * edge;
        artificial = diffusion * k_second_order[d];
    }
    double advection;
    double diffusion;
    double artificial;
};

/// factor * the Jacobian of the flux along the sweep.
block advection_of(const state& s, double factor) {
    const lanes along = factor * s.velocity[0];
    const lanes heat = k_heat_ratio * s.energy;
    block b{};
    b.at[0][1] += factor;
    for (std::size_t m = 0; m < 3; ++m) {
        const lanes speed = s.velocity[m];
        b.at[1 + m][0] = -along * speed;
        b.at[1 + m][1] = factor * speed;
        b.at[1 + m][1 + m] += along;
        b.at[4][1 + m] = -k_pressure * along * speed;
    }
    b.at[1][0] += factor * k_pressure * s.motion;
    for (std::size_t m = 0; m < 3; ++m) {
        b.at[1][1 + m] -= factor * k_pressure * s.velocity[m];
    }
    b.at[1][4] += factor * k_pressure;
    b.at[4][0] = along * (2 * k_pressure * s.motion - heat);
    b.at[4][1] += factor * (heat - k_pressure * s.motion);
    b.at[4][4] = k_heat_ratio * along;
    return b;
}

/// Adds factor * the Jacobian of the viscous terms, and `artificial` to the diagonal.
void add_diffusion(block& b, const state& s, double factor, double artificial) {
    const lanes viscous = factor * k_viscosity * s.volume;
    const lanes conductive = factor * k_conductivity * s.volume;
    lanes sum = conductive * s.energy;
    for (std::size_t m = 0; m < 3; ++m) {
        const lanes mine = m == 0 ? k_along * viscous : viscous;
        const lanes speed = s.velocity[m];
        b.at[1 + m][0] -= mine * speed;
        b.at[1 + m][1 + m] += mine;
        b.at[4][1 + m] += (mine - conductive) * speed;
        sum += (mine - conductive) * speed * speed;
    }
    b.at[4][0] -= sum;
    b.at[4][4] += conductive;
    for (std::size_t m = 0; m < 5; ++m) {
        b.at[m][m] += artificial;
    }
}

// The three blocks of a row of the system, from the points before, at, and after it.

block lower_of(const state& before, const factors& by) {
    block b = advection_of(before, -by.advection);
    add_diffusion(b, before, -by.diffusion, -by.artificial);
    return b;
}
block middle_of(const state& here, const factors& by) {
    block b{};
    add_diffusion(b, here, 2 * by.diffusion, 1 + 2 * by.artificial);
    return b;
}
block upper_of(const state& after, const factors& by) {
    block b = advection_of(after, by.advection);
    add_diffusion(b, after, -by.diffusion, -by.artificial);
    return b;
}

/// How many of the columns of a row of lower_of are not zero; and which.
constexpr std::size_t k_counts[5] = {2, 5, 3, 3, 5};
constexpr std::size_t k_columns[5][5] = {
    {0, 1}, {0, 1, 2, 3, 4}, {0, 1, 2}, {0, 1, 3}, {0, 1, 2, 3, 4}};

/// Removes the point before, which `before` expresses by this one, from a row.
void subtract(const block& lower, const reduced& before, block& middle, vector5& right) {
    for (std::size_t r = 0; r < 5; ++r) {
        for (std::size_t k = 0; k < k_counts[r]; ++k) {
            const std::size_t column = k_columns[r][k];
            const lanes factor = lower.at[r][column];
            for (std::size_t c = 0; c < 5; ++c) {
                middle.at[r][c] -= factor * before.upper.at[column][c];
            }
            right.at[r] -= factor * before.right.at[column];
        }
    }
}

/// Replaces both by the inverse of `by` times them. Destroys `by`.
void divide(block& by, reduced& both) {
    const auto subtract_row = [&both](std::size_t from, std::size_t row, lanes factor) {
        for (std::size_t c = 0; c < 5; ++c) {
            both.upper.at[row][c] -= factor * both.upper.at[from][c];
        }
        both.right.at[row] -= factor * both.right.at[from];
    };
    lanes inverse[5];
    for (std::size_t k = 0; k < 5; ++k) {
        inverse[k] = 1.0 / by.at[k][k];
        for (std::size_t r = k + 1; r < 5; ++r) {
            const lanes factor = by.at[r][k] * inverse[k];
            for (std::size_t c = k + 1; c < 5; ++c) {
                by.at[r][c] -= factor * by.at[k][c];
            }
            subtract_row(k, r, factor);
        }
    }
    for (std::size_t r = 5; r-- > 0;) {
        for (std::size_t k = r + 1; k < 5; ++k) {
            subtract_row(k, r, by.at[r][k]);
        }
        for (std::size_t c = 0; c < 5; ++c) {
            both.upper.at[r][c] *= inverse[r];
        }
        both.right.at[r] *= inverse[r];
    }
}

/// A pair of lines in a cell.
struct pair_of_lines {
    components u;
    components rhs;
    std::ptrdiff_t length;
    std::ptrdiff_t step;    ///< from a point to the next one of the line
    std::ptrdiff_t beside;  ///< from line to line, or 0
    bool adds_to_u;

    state state_at(std::ptrdiff_t i) const { return state_of(load(u, i * step, beside)); }
};

/// `last` becomes the row of the last point.
void eliminate_pair(const pair_of_lines& p, const factors& by, const reduced* before, block* uppers,
                    reduced& last) {
    state here = p.state_at(0);
    state previous = before != nullptr ? p.state_at(-1) : here;
    for (std::ptrdiff_t i = 0; i < p.length; ++i) {
        const state next = p.state_at(i + 1);
        block middle = middle_of(here, by);
        reduced row{upper_of(next, by), load(p.rhs, i * p.step, p.beside)};
        if (before != nullptr) {
            subtract(lower_of(previous, by), *before, middle, row.right);
        }
        divide(middle, row);
        uppers[i] = row.upper;
        store(row.right, p.rhs, i * p.step, p.beside);
        last = row;
        before = &last;
        previous = here;
        here = next;
    }
}

/// Returns the solution at the first point.
vector5 substitute_pair(const pair_of_lines& p, const block* uppers, vector5 after) {
    for (std::ptrdiff_t i = p.length; i-- > 0;) {
        vector5 x = load(p.rhs, i * p.step, p.beside);
        for (std::size_t r = 0; r < 5; ++r) {
            for (std::size_t c = 0; c < 5; ++c) {
                x.at[r] -= uppers[i].at[r][c] * after.at[c];
            }
        }
        after = x;
        if (p.adds_to_u) {
            const vector5 u = load(p.u, i * p.step, p.beside);
            for (std::size_t r = 0; r < 5; ++r) {
                x.at[r] += u.at[r];
            }
        }
        store(x, p.adds_to_u ? p.u : p.rhs, i * p.step, p.beside);
    }
    return after;
}

/// f(pair of lines, plane, number of the pair in its plane)
template <class F>
void for_each_pair(cell& c, std::size_t d, const range& planes, const F& f) {
    constexpr std::size_t k_last = 2;
    const std::array<std::size_t, 5> order = order_of_components(d);
    const std::size_t beside = k_beside[d];
    for (std::ptrdiff_t plane = planes.first; plane < planes.last; ++plane) {
        for (std::ptrdiff_t pair = 0; pair < c.pairs(d); ++pair) {
            const std::ptrdiff_t line = pair * k_lanes;
            pair_of_lines p{c.u().in_order(order),
                            c.rhs().in_order(order),
                            c.size(d),
                            c.stride(d),
                            line + 1 < c.size(beside) ? c.stride(beside) : 0,
                            d == k_last};
            const std::ptrdiff_t first = plane * c.stride(k_plane[d]) + line * c.stride(beside);
            for (std::size_t m = 0; m < 5; ++m) {
                p.u[m] += first;
                p.rhs[m] += first;
            }
            f(p, plane, pair);
        }
    }
}

}  // namespace

void eliminate(cell& c, std::size_t d, const range& planes, const reduced* before, reduced* after) {
    const factors by(c, d);
    for_each_pair(c, d, planes,
                  [&](const pair_of_lines& p, std::ptrdiff_t plane, std::ptrdiff_t pair) {
                      reduced last;
                      eliminate_pair(p, by, before, c.uppers(d, plane, pair), last);
                      if (before != nullptr) {
                          ++before;
                      }
                      if (after != nullptr) {
                          *after++ = last;
                      }
                  });
}

void substitute(cell& c, std::size_t d, const range& planes, const vector5* after,
                vector5* before) {
    for_each_pair(c, d, planes,
                  [&](const pair_of_lines& p, std::ptrdiff_t plane, std::ptrdiff_t pair) {
                      const vector5 first = substitute_pair(
                          p, c.uppers(d, plane, pair), after != nullptr ? *after++ : vector5{});
                      if (before != nullptr) {
                          *before++ = first;
                      }
                  });
}

void solve(cell& c, std::size_t d, const range& planes) {
    const factors by(c, d);
    std::vector<block> uppers(static_cast<std::size_t>(c.size(d)));
    for_each_pair(c, d, planes, [&](const pair_of_lines& p, std::ptrdiff_t, std::ptrdiff_t) {
        reduced last;
        eliminate_pair(p, by, nullptr, uppers.data(), last);
        substitute_pair(p, uppers.data(), {});
    });
}

}  // namespace nas_bt
