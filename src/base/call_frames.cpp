// SPDX-License-Identifier: BSL-1.0
// Computes a caller's registers from its callee's, by the rules of frame_rules.hpp.
#include <quern/base/detail/call_frames.hpp>

#include <quern/base/detail/peek.hpp>

#include "frame_rules.hpp"

#include <algorithm>
#include <cstring>

namespace quern::detail {

namespace {

using kind = frame_rule::kind;

/// Reads words of a stack in pieces, since each read is a system call.
class stack_reader {
public:
    bool word(std::uintptr_t address, std::uintptr_t& into) noexcept {
        if (address % sizeof into != 0) {
            return false;
        }
        const std::uintptr_t piece = address - address % k_piece;
        if (piece != m_piece) {
            m_piece = copy_if_there(m_bytes.data(), reinterpret_cast<const void*>(piece), k_piece)
                          ? piece
                          : 0;
        }
        if (m_piece == 0) {
            return false;
        }
        std::memcpy(&into, m_bytes.data() + (address - piece), sizeof into);
        return true;
    }

private:
    static constexpr std::size_t k_piece =
        1024;  ///< divides the page size: a piece is mapped as a whole or not

    std::uintptr_t m_piece = 0;  ///< 0: none
    std::array<unsigned char, k_piece> m_bytes;
};

/// A return address without the signature that aarch64 may keep in its upper bits.
std::uintptr_t plain_address(std::uintptr_t address) noexcept {
    constexpr unsigned k_address_bits = 48;
    return address & ((std::uintptr_t{1} << k_address_bits) - 1);
}

/// Implements the DWARF expressions that compilers use for functions that align their frames: a
/// register plus a number, and a load from there.
bool evaluate(const unsigned char* at, const frame_registers& in, stack_reader& stack,
              std::uintptr_t& value) noexcept {
    constexpr unsigned char k_load = 0x06;
    constexpr unsigned char k_add = 0x23;
    constexpr unsigned char k_first_register = 0x70;
    constexpr unsigned char k_last_register = 0x8f;
    const std::uint64_t size = read_unsigned(at);
    const unsigned char* const end = at + size;
    bool has_value = false;
    while (at < end) {
        const unsigned char code = *at++;
        if (!has_value && code >= k_first_register && code <= k_last_register) {
            const unsigned number = code - k_first_register;
            if (!in.knows(number)) {
                return false;
            }
            value = in.get(number) + static_cast<std::uintptr_t>(read_signed(at));
            has_value = true;
        } else if (has_value && code == k_add) {
            value += read_unsigned(at);
        } else if (!has_value || code != k_load || !stack.word(value, value)) {
            return false;
        }
    }
    return has_value;
}

/// Recovers one register of the caller. False: it is lost.
bool recover(const frame_rule& rule, unsigned number, const frame_registers& callee,
             std::uintptr_t cfa, stack_reader& stack, std::uintptr_t& value) noexcept {
    const std::uintptr_t near = cfa + static_cast<std::uintptr_t>(rule.number);
    switch (rule.how) {
        case kind::same:
            value = callee.knows(number) ? callee.get(number) : 0;
            return callee.knows(number);
        case kind::at_offset:
            return stack.word(near, value);
        case kind::is_offset:
            value = near;
            return true;
        case kind::in_register: {
            const auto other = static_cast<unsigned>(rule.number);
            value = callee.knows(other) ? callee.get(other) : 0;
            return callee.knows(other);
        }
        case kind::at_expression:
            return evaluate(rule.expression, callee, stack, value) && stack.word(value, value);
        case kind::is_expression:
            return evaluate(rule.expression, callee, stack, value);
        case kind::unknown:
            break;
    }
    return false;
}

bool find_cfa(const frame_rules& rules, const frame_registers& callee, stack_reader& stack,
              std::uintptr_t& cfa) noexcept {
    if (rules.cfa.how == kind::is_expression) {
        return evaluate(rules.cfa.expression, callee, stack, cfa);
    }
    const auto number = static_cast<unsigned>(rules.cfa_register);
    if (rules.cfa.how != kind::is_offset || !callee.knows(number)) {
        return false;
    }
    cfa = callee.get(number) + static_cast<std::uintptr_t>(rules.cfa.number);
    return true;
}

/// False: there is no caller, or it was not found.
bool go_to_caller(frame_registers& at, const frame_rules& rules, stack_reader& stack) noexcept {
    std::uintptr_t cfa = 0;
    if (!find_cfa(rules, at, stack, cfa)) {
        return false;
    }
    frame_registers caller;
    caller.set(frame_registers::k_stack, cfa);
    for (unsigned number = 0; number < frame_registers::k_count; ++number) {
        const frame_rule& rule = rules.registers[number];
        std::uintptr_t value = 0;
        const bool is_given = number == frame_registers::k_stack && rule.how == kind::same;
        if (!is_given && recover(rule, number, at, cfa, stack, value)) {
            caller.set(number, value);
        }
    }
    const auto column = static_cast<unsigned>(rules.return_column);
    const bool is_called = caller.knows(column);
    caller.pc = is_called ? plain_address(caller.get(column)) : 0;
    caller.forget(column);  // the caller's own return address is found by its own rules
    const bool has_moved = cfa != at.get(frame_registers::k_stack) || caller.pc != at.pc;
    at = caller;
    return is_called && has_moved && at.pc != 0;
}

}  // namespace

std::size_t walk_calls(frame_registers from, std::span<const void*> into) noexcept {
    stack_reader stack;
    frame_rules rules;
    std::size_t found = 0;
    bool was_called = true;  // the youngest frame is in the call that left the stack
    while (found < into.size() && from.pc != 0) {
        const std::uintptr_t in_call = was_called ? from.pc - 1 : from.pc;
        into[found++] = reinterpret_cast<const void*>(in_call);
        if (!find_frame_rules(in_call, rules) || !from.knows(frame_registers::k_stack) ||
            !go_to_caller(from, rules, stack)) {
            break;
        }
        was_called = !rules.is_signal_frame;
    }
    return found;
}

}  // namespace quern::detail
