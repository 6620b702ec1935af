// SPDX-License-Identifier: BSL-1.0
// The narrow interface between the typed wrappers (atomic.hpp, var.hpp) and the engine: every
// operation of a model program becomes one untyped request. Called only by the wrappers. Nothing
// here may allocate or throw, because protocols call it from noexcept functions; a failed check
// leaves by a switch of fibres, never by an exception.
#pragma once

#include <atomic>
#include <cstdint>

namespace model::detail {

using object_id = std::uint32_t;
inline constexpr object_id k_dead_object = 0xdeadu;  // the destructor's mark in a handle

enum class op_kind : std::uint8_t {
    load,
    store,
    exchange,
    cas,
    cas_weak,
    add,
    sub,
    bit_or,
    bit_and,
    bit_xor,
    fence,
    futex_wait,
    futex_wake
};

struct request {
    op_kind kind = op_kind::load;
    std::memory_order order = std::memory_order_seq_cst;    // for a cas: the order of success
    std::memory_order failure = std::memory_order_seq_cst;  // cas only
    bool timed = false;                                     // futex_wait only
    bool everywhere = false;  // waits until the buffers of all threads are empty
    object_id object = 0;
    std::uint64_t operand = 0;   // value stored, added, …; number of waiters to wake
    std::uint64_t expected = 0;  // cas and futex_wait
};

struct reply {
    std::uint64_t value = 0;  // the object's previous value
    bool success = true;      // cas: exchanged; futex_wait: not timed out
};

reply perform(const request& r) noexcept;
void pause() noexcept;

object_id create_atomic(std::uint64_t initial, unsigned bytes) noexcept;
void destroy_atomic(object_id id) noexcept;
void name_atomic(object_id id, const char* name) noexcept;

object_id create_var() noexcept;
void destroy_var(object_id id) noexcept;
void read_var(object_id id) noexcept;
void write_var(object_id id) noexcept;
void name_var(object_id id, const char* name) noexcept;

}  // namespace model::detail
