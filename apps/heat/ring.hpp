// SPDX-License-Identifier: BSL-1.0
// The ring of the heat benchmark: grid, arithmetic, initial temperatures, and the serial sweep that
// is the reference. The parallel program is in main.cpp. Both use the one expression
// `next_temperature`, so that equal inputs give equal bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include <sys/mman.h>

namespace heat {

/// Explicit Euler with dt = dx = 1 and diffusivity 1/2, as in HPX's 1d_stencil_4 (Grubel 2016,
/// section 5.1.1).
inline double next_temperature(double left, double middle, double right) noexcept {
    constexpr double k_diffusion = 0.5;
    return middle + k_diffusion * (left - 2 * middle + right);
}

/// Noise between 0 and 100, a function only of the index: any task may fill in any point, and a
/// value read from the wrong place or step changes the result. (The original's linear profile is a
/// steady state and would hide such mistakes.)
inline double first_temperature(std::size_t point) noexcept {
    std::uint64_t z = (point + 1) * 0x9e3779b97f4a7c15U;  // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * (100 * 0x1p-53);
}

/// Identifies one of the two grids: they begin at different offsets in a page. If the addresses of
/// out[i] and in[i] agreed in their lowest twelve bits, the processor would mistake each load of
/// in[i] for the preceding store to out[i] and wait for it ("4K aliasing"): measured, 7 ns a point
/// instead of 0.5.
enum class grid_role : std::size_t { first = 0, second = 2048 + 64 };

/// Temperatures of all points, not initialised: the tasks that fill the grid place its pages.
class grid {
public:
    grid(std::size_t points, grid_role role) {
        constexpr std::size_t k_huge_page = std::size_t{2} << 20;  // x86-64 and most aarch64
        const auto stagger = static_cast<std::size_t>(role);
        const std::size_t bytes =
            (points * sizeof(double) + stagger + k_huge_page - 1) / k_huge_page * k_huge_page;
        m_memory.reset(static_cast<std::byte*>(std::aligned_alloc(k_huge_page, bytes)));
        if (m_memory == nullptr) {
            throw std::bad_alloc();
        }
        madvise(m_memory.get(), bytes, MADV_HUGEPAGE);  // a hint; if refused, pages are small
        m_points = reinterpret_cast<double*>(m_memory.get() + stagger);
    }

    double* data() noexcept { return m_points; }
    const double* data() const noexcept { return m_points; }

private:
    struct free_memory {
        void operator()(std::byte* p) const noexcept { std::free(p); }
    };
    std::unique_ptr<std::byte[], free_memory> m_memory;
    double* m_points;
};

/// A partition of the ring at one step: the value of the futures.
struct partition {
    const double* points = nullptr;
    std::size_t size = 0;

    double first() const noexcept { return points[0]; }
    double last() const noexcept { return points[size - 1]; }
};

/// The next step of `middle`, written to `out`, which overlaps none of the three.
inline partition advance(const partition& left, const partition& middle, const partition& right,
                         double* __restrict out) noexcept {
    const double* in = middle.points;
    const std::size_t last = middle.size - 1;
    if (last == 0) {
        out[0] = next_temperature(left.last(), in[0], right.first());
        return {out, 1};
    }
    out[0] = next_temperature(left.last(), in[0], in[1]);
    for (std::size_t i = 1; i < last; ++i) {
        out[i] = next_temperature(in[i - 1], in[i], in[i + 1]);
    }
    out[last] = next_temperature(in[last - 1], in[last], right.first());
    return {out, middle.size};
}

/// The whole ring, step by step, by the calling thread. `now` holds the start and is overwritten;
/// returns the grid that holds the end.
inline const grid& sweep_serially(grid& now, grid& later, std::size_t points, std::size_t steps) {
    grid* from = &now;
    grid* to = &later;
    for (std::size_t step = 0; step < steps; ++step) {
        const partition ring{from->data(), points};
        advance(ring, ring, ring, to->data());
        std::swap(from, to);
    }
    return *from;
}

}  // namespace heat
