// SPDX-License-Identifier: BSL-1.0
// Where a function has left its caller's registers, at one address in its code: DWARF 5, section
// 6.4, in the dialect of .eh_frame sections (Linux Standard Base). For call_frames.cpp.
#pragma once

#include <quern/base/call_frames.hpp>

#include <array>
#include <cstdint>

namespace quern::detail {

/// How a value is found. "CFA" is the address of the stack in the caller, before the call.
struct frame_rule {
    enum class kind : std::uint8_t {
        same,           ///< the register still holds it
        unknown,        ///< it is lost; for the return address: nobody has called
        at_offset,      ///< in memory at CFA + number
        is_offset,      ///< CFA + number
        in_register,    ///< in register `number`
        at_expression,  ///< in memory where the expression says
        is_expression,  ///< what the expression says
    };
    kind how = kind::same;
    std::int64_t number = 0;
    const unsigned char* expression = nullptr;
};

struct frame_rules {
    std::array<frame_rule, frame_registers::k_count> registers;
    frame_rule cfa;  ///< is_offset: from register `cfa_register`; or is_expression
    std::uint64_t cfa_register = 0;
    std::uint64_t return_column = 0;  ///< the register that holds the return address
    bool is_signal_frame = false;  ///< made by the kernel: its caller was interrupted, not called
};

/// The rules that hold at an address. False: no table covers it, or it says what is not understood.
bool find_frame_rules(std::uintptr_t pc, frame_rules& into) noexcept;

/// Reads a number of the variable length of these tables and moves on.
std::uint64_t read_unsigned(const unsigned char*& at) noexcept;
std::int64_t read_signed(const unsigned char*& at) noexcept;

}  // namespace quern::detail
