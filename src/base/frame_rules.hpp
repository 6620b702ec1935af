// SPDX-License-Identifier: BSL-1.0
// The locations of a caller's registers at one address in the code: DWARF 5, section 6.4, in the
// dialect of .eh_frame sections (Linux Standard Base). For call_frames.cpp.
#pragma once

#include <quern/base/detail/call_frames.hpp>

#include <array>
#include <cstdint>

namespace quern::detail {

/// How a value is found. "CFA" is the caller's stack address before the call.
struct frame_rule {
    enum class kind : std::uint8_t {
        same,           ///< the register still holds it
        unknown,        ///< lost; for the return address: no caller
        at_offset,      ///< in memory at CFA + number
        is_offset,      ///< CFA + number
        in_register,    ///< in register `number`
        at_expression,  ///< in memory at the address computed by the expression
        is_expression,  ///< the value of the expression
    };
    kind how = kind::same;
    std::int64_t number = 0;
    const unsigned char* expression = nullptr;
};

struct frame_rules {
    std::array<frame_rule, frame_registers::k_count> registers;
    frame_rule cfa;  ///< is_offset: from register `cfa_register`; or is_expression
    std::uint64_t cfa_register = 0;
    std::uint64_t return_column = 0;  ///< number of the return address register
    bool is_signal_frame =
        false;  ///< created by the kernel: its caller was interrupted, not called
};

/// The rules at an address. False: no table covers it, or it contains unsupported instructions.
bool find_frame_rules(std::uintptr_t pc, frame_rules& into) noexcept;

/// Reads a LEB128 number and advances.
std::uint64_t read_unsigned(const unsigned char*& at) noexcept;
std::int64_t read_signed(const unsigned char*& at) noexcept;

}  // namespace quern::detail
