// SPDX-License-Identifier: BSL-1.0
// Walks the calls on a suspended stack: from its saved registers, by the unwind tables of
// exceptions (DWARF call frame information), so code needs no frame pointers. The kernel reads the
// stack: if its owner resumes meanwhile, the addresses are wrong, but no unmapped memory is
// accessed. For hang reports only.
#pragma once

#include <quern/base/detail/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace quern::detail {

/// Registers by DWARF number, and the address of the next instruction.
class frame_registers {
public:
#if defined(__x86_64__)
    static constexpr unsigned k_count = 17;  ///< 3 rbx, 6 rbp, 7 rsp, 12-15 r12-r15, 16 return
    static constexpr unsigned k_stack = 7;
#else
    static constexpr unsigned k_count = 32;  ///< aarch64: 0-30 x0-x30, 31 sp
    static constexpr unsigned k_stack = 31;
#endif

    std::uintptr_t pc = 0;

    bool knows(unsigned number) const noexcept {
        return number < k_count && (m_known >> number & 1U) != 0;
    }
    /// Requires: knows(number).
    std::uintptr_t get(unsigned number) const noexcept { return m_values[number]; }
    void set(unsigned number, std::uintptr_t value) noexcept {
        m_values[number] = value;
        m_known |= std::uint32_t{1} << number;
    }
    void forget(unsigned number) noexcept { m_known &= ~(std::uint32_t{1} << number); }

private:
    std::array<std::uintptr_t, k_count> m_values{};
    std::uint32_t m_known = 0;
};

/// The registers of the calling function. Another thread may walk from them until that function
/// returns. About ten stores.
QUERN_ALWAYS_INLINE frame_registers registers_here() noexcept {
    frame_registers here;
#if defined(__x86_64__)
    std::uintptr_t saved[8];
    asm volatile(
        "movq %%rbx, 0(%0)\n\tmovq %%rbp, 8(%0)\n\tmovq %%rsp, 16(%0)\n\t"
        "movq %%r12, 24(%0)\n\tmovq %%r13, 32(%0)\n\tmovq %%r14, 40(%0)\n\t"
        "movq %%r15, 48(%0)\n\tleaq 0(%%rip), %%rax\n\tmovq %%rax, 56(%0)"
        :
        : "r"(saved)
        : "rax", "memory");
    constexpr unsigned k_numbers[] = {3, 6, frame_registers::k_stack, 12, 13, 14, 15};
    here.pc = saved[7];
#elif defined(__aarch64__)
    std::uintptr_t saved[13];
    asm volatile(
        "stp x19, x20, [%0, #0]\n\tstp x21, x22, [%0, #16]\n\tstp x23, x24, [%0, #32]\n\t"
        "stp x25, x26, [%0, #48]\n\tstp x27, x28, [%0, #64]\n\tmov x9, sp\n\t"
        "stp x29, x9, [%0, #80]\n\tadr x9, .\n\tstr x9, [%0, #96]"
        :
        : "r"(saved)
        : "x9", "memory");
    constexpr unsigned k_numbers[] = {19, 20, 21, 22, 23, 24,
                                      25, 26, 27, 28, 29, frame_registers::k_stack};
    here.pc = saved[12];
#endif
    for (std::size_t i = 0; i < std::size(k_numbers); ++i) {
        here.set(k_numbers[i], saved[i]);
    }
    return here;
}

/// Stores the addresses of the calls, youngest first, until `into` is full, the stack ends or a
/// frame cannot be found. Returns their number. Each address lies within the call instruction, not
/// behind it. Cost: about a microsecond a call.
std::size_t walk_calls(frame_registers from, std::span<const void*> into) noexcept;

}  // namespace quern::detail
