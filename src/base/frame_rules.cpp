// SPDX-License-Identifier: BSL-1.0
// Parses call frame information: the entry of a function (FDE), its common entry (CIE), and the
// instructions of both, which build the rules up to an address.
#include "frame_rules.hpp"

#include <cstddef>
#include <cstring>
#include <string_view>

// From the unwinder in every C++ program; no header declares it.
extern "C" {
struct dwarf_eh_bases {  // NOLINT: the unwinder's names
    void* tbase;
    void* dbase;
    void* func;
};
const unsigned char* _Unwind_Find_FDE(void* pc, dwarf_eh_bases* bases);  // NOLINT
}

namespace quern::detail {

std::uint64_t read_unsigned(const unsigned char*& at) noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const unsigned char byte = *at++;
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if ((byte & 0x80U) == 0) {
            break;
        }
    }
    return value;
}

std::int64_t read_signed(const unsigned char*& at) noexcept {
    std::uint64_t value = 0;
    unsigned shift = 0;
    unsigned char byte = 0x80;
    while ((byte & 0x80U) != 0 && shift < 64) {
        byte = *at++;
        value |= std::uint64_t{byte & 0x7fU} << shift;
        shift += 7;
    }
    if ((byte & 0x40U) != 0 && shift < 64) {
        value |= ~std::uint64_t{0} << shift;
    }
    return static_cast<std::int64_t>(value);
}

namespace {

using bytes = const unsigned char*;
using kind = frame_rule::kind;

template <class T>
T read(bytes& at) noexcept {
    T value;
    std::memcpy(&value, at, sizeof value);
    at += sizeof value;
    return value;
}

/// The size of a pointer encoding (LSB, 10.5.1), given by its low bits; 0: variable.
std::size_t size_of_encoded(unsigned char encoding) noexcept {
    constexpr unsigned char k_omitted = 0xff;
    constexpr std::size_t k_sizes[] = {sizeof(void*), 0, 2, 4, 8, 0, 0, 0};
    return encoding == k_omitted ? 0 : k_sizes[encoding & 7U];
}

/// The common entry (CIE).
struct common_entry {
    bytes instructions = nullptr;
    bytes end = nullptr;
    std::uint64_t code_unit = 1;
    std::int64_t data_unit = 1;
    unsigned char encoding = 0;  ///< of addresses in the entries of functions
    bool has_augmentation = false;
};

/// The bytes of an entry without its length. False: the 64-bit format.
bool open_entry(bytes& at, bytes& end) noexcept {
    constexpr std::uint32_t k_long = 0xffffffff;
    const auto length = read<std::uint32_t>(at);
    end = at + length;
    return length != k_long;
}

/// False: the augmentation is not supported.
bool read_augmentation(std::string_view letters, bytes at, common_entry& into,
                       bool& is_signal_frame) noexcept {
    for (const char letter : letters) {
        if (letter == 'R') {
            into.encoding = *at++;
        } else if (letter == 'L') {
            ++at;
        } else if (letter == 'P') {
            const unsigned char how = *at++;
            if (size_of_encoded(how) == 0) {
                return false;
            }
            at += size_of_encoded(how);
        } else if (letter == 'S') {
            is_signal_frame = true;
        } else if (letter != 'B') {  // a pointer authentication key of aarch64
            return false;
        }
    }
    return true;
}

bool read_common(bytes at, common_entry& into, frame_rules& rules) noexcept {
    if (!open_entry(at, into.end)) {
        return false;
    }
    at += sizeof(std::uint32_t);  // the identifier of a common entry
    const unsigned char version = *at++;
    std::string_view letters(reinterpret_cast<const char*>(at));
    at += letters.size() + 1;
    into.code_unit = read_unsigned(at);
    into.data_unit = read_signed(at);
    rules.return_column = version == 1 ? *at++ : read_unsigned(at);
    if (letters.starts_with('z')) {
        letters.remove_prefix(1);
        into.has_augmentation = true;
        const std::uint64_t size = read_unsigned(at);
        if (!read_augmentation(letters, at, into, rules.is_signal_frame)) {
            return false;
        }
        at += size;
    } else if (!letters.empty()) {
        return false;
    }
    into.instructions = at;
    return rules.return_column < frame_registers::k_count;
}

/// Executes instructions up to the requested address.
class rule_machine {
public:
    rule_machine(const common_entry& common, frame_rules& rules, std::uintptr_t begin,
                 std::uintptr_t wanted) noexcept
        : m_common(common), m_rules(rules), m_location(begin), m_wanted(wanted) {}

    /// False: an instruction is not supported.
    bool run(bytes at, bytes end) noexcept {
        while (at < end && m_location <= m_wanted) {
            if (!step(at)) {
                return false;
            }
        }
        return true;
    }

    /// Stores the present rules as the initial ones of every function.
    void keep_as_initial() noexcept { m_initial = m_rules; }

private:
    static constexpr std::size_t k_deepest = 4;  ///< remembered states; compilers need one

    bool step(bytes& at) noexcept {
        constexpr unsigned k_low = 0x3f;
        const unsigned char code = *at++;
        const unsigned low = code & k_low;
        switch (code & ~k_low) {
            case 0x40:  // advance
                m_location += low * m_common.code_unit;
                return true;
            case 0x80:  // saved at an offset
                set(low, kind::at_offset, scaled(read_unsigned(at)));
                return true;
            case 0xc0:
                restore(low);
                return true;
            default:
                return code < 0x08   ? step_location(code, at)
                       : code < 0x0c ? step_register(code, at)
                                     : step_frame(code, at);
        }
    }

    bool step_location(unsigned char code, bytes& at) noexcept {
        switch (code) {
            case 0x00:  // no operation
                return true;
            case 0x02:
                m_location += read<std::uint8_t>(at) * m_common.code_unit;
                return true;
            case 0x03:
                m_location += read<std::uint16_t>(at) * m_common.code_unit;
                return true;
            case 0x04:
                m_location += read<std::uint32_t>(at) * m_common.code_unit;
                return true;
            case 0x05: {
                const std::uint64_t number = read_unsigned(at);
                set(number, kind::at_offset, scaled(read_unsigned(at)));
                return true;
            }
            case 0x06:
                restore(read_unsigned(at));
                return true;
            case 0x07:
                set(read_unsigned(at), kind::unknown, 0);
                return true;
            default:
                return false;
        }
    }

    bool step_register(unsigned char code, bytes& at) noexcept {
        switch (code) {
            case 0x08:
                set(read_unsigned(at), kind::same, 0);
                return true;
            case 0x09: {
                const std::uint64_t number = read_unsigned(at);
                set(number, kind::in_register, static_cast<std::int64_t>(read_unsigned(at)));
                return true;
            }
            case 0x0a:
                if (m_depth == k_deepest) {
                    return false;
                }
                m_remembered[m_depth++] = m_rules;
                return true;
            default:
                if (m_depth == 0) {
                    return false;
                }
                m_rules = m_remembered[--m_depth];
                return true;
        }
    }

    bool step_frame(unsigned char code, bytes& at) noexcept {
        switch (code) {
            case 0x0c:
                m_rules.cfa_register = read_unsigned(at);
                m_rules.cfa = {kind::is_offset, static_cast<std::int64_t>(read_unsigned(at))};
                return true;
            case 0x0d:
                m_rules.cfa_register = read_unsigned(at);
                return true;
            case 0x0e:
                m_rules.cfa = {kind::is_offset, static_cast<std::int64_t>(read_unsigned(at))};
                return true;
            case 0x0f:
                m_rules.cfa = {kind::is_expression, 0, at};
                skip_expression(at);
                return true;
            case 0x12:
                m_rules.cfa_register = read_unsigned(at);
                m_rules.cfa = {kind::is_offset, scaled(read_signed(at))};
                return true;
            case 0x13:
                m_rules.cfa = {kind::is_offset, scaled(read_signed(at))};
                return true;
            case 0x2d:  // aarch64: return addresses are signed from here on, see plain_address()
                return true;
            case 0x2e:  // size of arguments: used only by exception handling
                read_unsigned(at);
                return true;
            default:
                return step_rare(code, at);
        }
    }

    bool step_rare(unsigned char code, bytes& at) noexcept {
        const bool is_expression = code == 0x10 || code == 0x16;
        if (!is_expression && code != 0x11 && code != 0x14 && code != 0x15) {
            return false;
        }
        const std::uint64_t number = read_unsigned(at);
        if (is_expression) {
            set(number, code == 0x10 ? kind::at_expression : kind::is_expression, 0, at);
            skip_expression(at);
        } else {
            const std::int64_t offset =
                code == 0x14 ? scaled(read_unsigned(at)) : scaled(read_signed(at));
            set(number, code == 0x11 ? kind::at_offset : kind::is_offset, offset);
        }
        return true;
    }

    template <class Number>
    std::int64_t scaled(Number number) const noexcept {
        return static_cast<std::int64_t>(number) * m_common.data_unit;
    }

    static void skip_expression(bytes& at) noexcept {
        const std::uint64_t size = read_unsigned(at);
        at += size;
    }

    void set(std::uint64_t number, kind how, std::int64_t value,
             bytes expression = nullptr) noexcept {
        if (number < frame_registers::k_count) {  // the others are floating-point registers
            m_rules.registers[number] = {how, value, expression};
        }
    }

    void restore(std::uint64_t number) noexcept {
        if (number < frame_registers::k_count) {
            m_rules.registers[number] = m_initial.registers[number];
        }
    }

    const common_entry& m_common;
    frame_rules& m_rules;
    frame_rules m_initial;
    frame_rules m_remembered[k_deepest];
    std::size_t m_depth = 0;
    std::uintptr_t m_location;
    std::uintptr_t m_wanted;
};

}  // namespace

bool find_frame_rules(std::uintptr_t pc, frame_rules& into) noexcept {
    dwarf_eh_bases bases{};
    bytes at = _Unwind_Find_FDE(reinterpret_cast<void*>(pc), &bases);
    bytes end = nullptr;
    if (at == nullptr || !open_entry(at, end)) {
        return false;
    }
    const bytes common_distance = at;
    const auto distance = read<std::int32_t>(at);
    into = {};
    common_entry common;
    if (!read_common(common_distance - distance, common, into) ||
        size_of_encoded(common.encoding) == 0) {
        return false;
    }
    at += 2 * size_of_encoded(common.encoding);  // start address and length of the code
    if (common.has_augmentation) {
        const std::uint64_t size = read_unsigned(at);
        at += size;
    }
    rule_machine machine(common, into, reinterpret_cast<std::uintptr_t>(bases.func), pc);
    if (!machine.run(common.instructions, common.end)) {
        return false;
    }
    machine.keep_as_initial();
    return machine.run(at, end);
}

}  // namespace quern::detail
