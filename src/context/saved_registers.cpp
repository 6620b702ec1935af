// SPDX-License-Identifier: BSL-1.0
// Reads the frame in which switch_*.S leaves a stack, as described at the top of these files.
#include <quern/base/detail/peek.hpp>
#include <quern/context/detail/switch.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace quern::detail {

namespace {

struct saved_register {
    unsigned number;  ///< DWARF number
    std::size_t offset;
};

#if defined(__x86_64__)
constexpr std::size_t k_frame_size = 64;
constexpr std::size_t k_return_offset = 56;
constexpr saved_register k_saved[] = {{3, 40}, {6, 48}, {12, 32}, {13, 24}, {14, 16}, {15, 8}};
#elif defined(__aarch64__)
constexpr std::size_t k_frame_size = 176;
constexpr std::size_t k_return_offset = 152;
constexpr saved_register k_saved[] = {{19, 64},  {20, 72},  {21, 80},  {22, 88},
                                      {23, 96},  {24, 104}, {25, 112}, {26, 120},
                                      {27, 128}, {28, 136}, {29, 144}};
#endif

}  // namespace

bool saved_registers(stack_pointer left_at, frame_registers& into) noexcept {
    std::array<std::byte, k_frame_size> frame;
    if (!copy_if_there(frame.data(), left_at, frame.size())) {
        return false;
    }
    const auto word = [&frame](std::size_t offset) {
        std::uintptr_t value = 0;
        std::memcpy(&value, frame.data() + offset, sizeof value);
        return value;
    };
    into = {};
    for (const saved_register& each : k_saved) {
        into.set(each.number, word(each.offset));
    }
    into.set(frame_registers::k_stack, reinterpret_cast<std::uintptr_t>(left_at) + k_frame_size);
    into.pc = word(k_return_offset);
    return true;
}

}  // namespace quern::detail
