// SPDX-License-Identifier: BSL-1.0
// gcc's entry points for devices and teams. There are no devices: the host runs the region, with
// the program's own memory. The teams of a league run one after another on the calling thread.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/league.hpp"
#include "core/accesses.hpp"
#include "core/tasks.hpp"
#include "core/team.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace quern::omp;

namespace {

constexpr unsigned k_firstprivate = 12;

/// A kind has what is mapped how in its low byte, and the logarithm of the alignment above.
bool is_firstprivate(std::uint16_t kind) noexcept { return (kind & 0xFF) == k_firstprivate; }
std::size_t alignment_of(std::uint16_t kind) noexcept { return std::size_t{1} << (kind >> 8); }

std::byte* aligned(std::byte* at, std::size_t alignment) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    return at + ((alignment - address % alignment) % alignment);
}

/// Copies what is firstprivate, into `room` if there is any. Returns how much room it takes.
std::size_t copy_firstprivate(std::size_t count, void** addresses, const std::size_t* sizes,
                              const std::uint16_t* kinds, std::byte* room) noexcept {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (!is_firstprivate(kinds[i])) {
            continue;
        }
        if (room != nullptr) {
            std::byte* const at = aligned(room + bytes, alignment_of(kinds[i]));
            if (sizes[i] != 0 && addresses[i] != nullptr) {
                std::memcpy(at, addresses[i], sizes[i]);
            }
            addresses[i] = at;
        }
        bytes += sizes[i] + alignment_of(kinds[i]);
    }
    return bytes;
}

/// The region is the only one of its thread, as on a device.
void run_on_host(void (*body)(void*), void** addresses) {
    begin_lone_region();
    body(addresses);
    end_lone_region();
}

void wait_for_dependences(void** depend) noexcept {
    member& here = this_member();
    if (depend != nullptr && !runs_at_once(here)) {
        wait_for_accesses(here, depend);
    }
}

}  // namespace

QUERN_OMP_ENTRY void GOMP_target(int, void (*body)(void*), const void*, std::size_t,
                                 void** addresses, std::size_t*, unsigned char*) {
    run_on_host(body, addresses);
}

QUERN_OMP_ENTRY void GOMP_target_ext(int, void (*body)(void*), std::size_t count, void** addresses,
                                     std::size_t* sizes, std::uint16_t* kinds, unsigned,
                                     void** depend, void**) {
    wait_for_dependences(depend);
    const std::size_t bytes = copy_firstprivate(count, addresses, sizes, kinds, nullptr);
    auto* const room = bytes != 0 ? static_cast<std::byte*>(__builtin_alloca(bytes)) : nullptr;
    if (bytes != 0) {
        copy_firstprivate(count, addresses, sizes, kinds, room);
    }
    run_on_host(body, addresses);
}

// What the host sees is the device's memory: there is nothing to map or to copy.
QUERN_OMP_ENTRY void GOMP_target_data(int, const void*, std::size_t, void**, std::size_t*,
                                      unsigned char*) {}
QUERN_OMP_ENTRY void GOMP_target_data_ext(int, std::size_t, void**, std::size_t*, std::uint16_t*) {}
QUERN_OMP_ENTRY void GOMP_target_end_data() {}
QUERN_OMP_ENTRY void GOMP_target_update(int, const void*, std::size_t, void**, std::size_t*,
                                        unsigned char*) {}
QUERN_OMP_ENTRY void GOMP_target_update_ext(int, std::size_t, void**, std::size_t*, std::uint16_t*,
                                            unsigned, void** depend) {
    wait_for_dependences(depend);
}
QUERN_OMP_ENTRY void GOMP_target_enter_exit_data(int, std::size_t, void**, std::size_t*,
                                                 std::uint16_t*, unsigned, void** depend) {
    wait_for_dependences(depend);
}

// The compiled code asks before each team whether there is one.
QUERN_OMP_ENTRY bool GOMP_teams4(unsigned, unsigned most, unsigned, bool is_first) {
    team& root = root_team();
    if (is_first) {
        root.league_size = most != 0 ? most : default_league_size();
        root.league_number = 0;
        return true;
    }
    if (root.league_number + 1 >= root.league_size) {
        return false;
    }
    ++root.league_number;
    return true;
}
// Code of gcc before 12: one team, without asking.
QUERN_OMP_ENTRY void GOMP_teams(unsigned, unsigned) {
    team& root = root_team();
    root.league_size = 1;
    root.league_number = 0;
}

QUERN_OMP_ENTRY void GOMP_teams_reg(void (*body)(void*), void* data, unsigned teams, unsigned,
                                    unsigned) {
    run_league(teams, [body, data] { body(data); });
}

// Functions of programs that manage the memory of devices.
QUERN_OMP_ENTRY void* omp_target_alloc(std::size_t size, int) { return std::malloc(size); }
QUERN_OMP_ENTRY void omp_target_free(void* memory, int) { std::free(memory); }
QUERN_OMP_ENTRY int omp_target_is_present(const void*, int) { return 1; }

QUERN_OMP_ENTRY int omp_target_memcpy(void* to, const void* from, std::size_t size,
                                      std::size_t to_offset, std::size_t from_offset, int, int) {
    std::memcpy(static_cast<std::byte*>(to) + to_offset,
                static_cast<const std::byte*>(from) + from_offset, size);
    return 0;
}

namespace {

/// A part of an array with several dimensions; lengths and offsets count elements.
struct box {
    const std::size_t* extent;
    const std::size_t* to_offsets;
    const std::size_t* from_offsets;
    const std::size_t* to_lengths;
    const std::size_t* from_lengths;
};

void copy_box(std::byte* to, const std::byte* from, std::size_t size, int dimensions,
              const box& of) noexcept {
    std::size_t to_size = size;
    std::size_t from_size = size;
    for (int i = 1; i < dimensions; ++i) {
        to_size *= of.to_lengths[i];
        from_size *= of.from_lengths[i];
    }
    to += of.to_offsets[0] * to_size;
    from += of.from_offsets[0] * from_size;
    if (dimensions == 1) {
        std::memcpy(to, from, of.extent[0] * size);
        return;
    }
    const box inner{of.extent + 1, of.to_offsets + 1, of.from_offsets + 1, of.to_lengths + 1,
                    of.from_lengths + 1};
    for (std::size_t i = 0; i < of.extent[0]; ++i) {
        copy_box(to + i * to_size, from + i * from_size, size, dimensions - 1, inner);
    }
}

}  // namespace

// Without addresses it tells how many dimensions it copies.
QUERN_OMP_ENTRY int omp_target_memcpy_rect(void* to, const void* from, std::size_t size,
                                           int dimensions, const std::size_t* extent,
                                           const std::size_t* to_offsets,
                                           const std::size_t* from_offsets,
                                           const std::size_t* to_lengths,
                                           const std::size_t* from_lengths, int, int) {
    constexpr int k_any = 0x7FFFFFFF;
    constexpr int k_wrong = 22;
    if (to == nullptr && from == nullptr) {
        return k_any;
    }
    if (dimensions < 1) {
        return k_wrong;
    }
    copy_box(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), size, dimensions,
             {extent, to_offsets, from_offsets, to_lengths, from_lengths});
    return 0;
}

// The host's memory is associated with itself already.
QUERN_OMP_ENTRY int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t,
                                             int) {
    constexpr int k_wrong = 22;
    return k_wrong;
}
QUERN_OMP_ENTRY int omp_target_disassociate_ptr(const void*, int) {
    constexpr int k_wrong = 22;
    return k_wrong;
}

// NOLINTEND(readability-identifier-naming)
