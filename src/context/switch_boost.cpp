// SPDX-License-Identifier: BSL-1.0
// The stack switch by Boost.Context's fcontext, for architectures without assembler here (and, for
// comparison, everywhere with -DQUERN_SWITCH=boost). It reloads MXCSR whenever the sticky flags
// differ, which is why it is only the fallback (docs/design/0002-context-switch.md).
#include <quern/context/detail/switch.hpp>

#include <boost/context/detail/fcontext.hpp>
#include <cstdlib>

namespace quern::detail {

namespace {

namespace bc = boost::context::detail;

constexpr std::size_t k_claimed_size = 4096;  // bytes; make_fcontext uses only the top address

struct first_call {
    stack_entry entry;
    void* argument;
};

/// fcontext passes the stack that was left to the entered one, which stores it in the slot that the
/// leaver named.
void store_left(bc::transfer_t left) noexcept {
    *static_cast<stack_pointer*>(left.data) = left.fctx;
}

void trampoline(bc::transfer_t preparer) noexcept {
    const first_call call = *static_cast<first_call*>(preparer.data);
    store_left(bc::jump_fcontext(preparer.fctx, nullptr));
    call.entry(call.argument);
}

}  // namespace

bool saved_registers(stack_pointer /*left_at*/, frame_registers& /*into*/) noexcept {
    return false;  // Boost's frame layout is private
}

extern "C" void quern_switch_stack(stack_pointer* from, stack_pointer to) noexcept {
    store_left(bc::jump_fcontext(to, from));
}

extern "C" const bool quern_calls_on_stacks = false;

extern "C" void quern_call_on_stack(stack_pointer*, void*, stack_entry, void*) noexcept {
    std::abort();
}

extern "C" stack_pointer quern_prepare_stack(void* top, stack_entry entry,
                                             void* argument) noexcept {
    first_call call{entry, argument};
    return bc::jump_fcontext(bc::make_fcontext(top, k_claimed_size, trampoline), &call).fctx;
}

}  // namespace quern::detail
