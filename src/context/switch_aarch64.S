// SPDX-License-Identifier: BSL-1.0
// The stack switch for aarch64, AAPCS64. Callee-saved: x19-x28, x29 (frame), x30 (return), d8-d15
// and the control bits of FPCR. Frame of a suspended stack, from its saved position upward:
//    0 d8-d15   64 x19-x28   144 x29, x30   160 FPCR   (176 bytes, 16-byte aligned)
#if defined(__aarch64__)
    .text
    .globl  quern_switch_stack
#if defined(QUERN_HIDDEN)
    .hidden quern_switch_stack
#endif
    .type   quern_switch_stack, %function
    .p2align 4
quern_switch_stack:
    .cfi_startproc
    sub     sp, sp, #176
    .cfi_adjust_cfa_offset 176
    stp     d8, d9, [sp, #0]
    stp     d10, d11, [sp, #16]
    stp     d12, d13, [sp, #32]
    stp     d14, d15, [sp, #48]
    stp     x19, x20, [sp, #64]
    stp     x21, x22, [sp, #80]
    stp     x23, x24, [sp, #96]
    stp     x25, x26, [sp, #112]
    stp     x27, x28, [sp, #128]
    stp     x29, x30, [sp, #144]
    mrs     x9, fpcr
    str     x9, [sp, #160]
    mov     x10, sp
    str     x10, [x0]
    mov     sp, x1
    ldr     x11, [sp, #160]
    cmp     x9, x11
    b.eq    1f
    msr     fpcr, x11
1:  ldp     d8, d9, [sp, #0]
    ldp     d10, d11, [sp, #16]
    ldp     d12, d13, [sp, #32]
    ldp     d14, d15, [sp, #48]
    ldp     x19, x20, [sp, #64]
    ldp     x21, x22, [sp, #80]
    ldp     x23, x24, [sp, #96]
    ldp     x25, x26, [sp, #112]
    ldp     x27, x28, [sp, #128]
    ldp     x29, x30, [sp, #144]
    add     sp, sp, #176
    .cfi_adjust_cfa_offset -176
    br      x30
    .cfi_endproc
    .size   quern_switch_stack, .-quern_switch_stack

// x0 = top, x1 = entry, x2 = argument. The first switch enters the trampoline with the entry in
// x19 and its argument in x20; a zero frame pointer ends backtraces.
    .globl  quern_prepare_stack
#if defined(QUERN_HIDDEN)
    .hidden quern_prepare_stack
#endif
    .type   quern_prepare_stack, %function
    .p2align 4
quern_prepare_stack:
    .cfi_startproc
    sub     x3, x0, #176
    stp     x1, x2, [x3, #64]
    adr     x4, quern_stack_trampoline
    stp     xzr, x4, [x3, #144]
    str     xzr, [x3, #160]         // a task begins with the default control word
    mov     x0, x3
    ret
    .cfi_endproc
    .size   quern_prepare_stack, .-quern_prepare_stack

    .type   quern_stack_trampoline, %function
    .p2align 4
quern_stack_trampoline:
    .cfi_startproc
    .cfi_undefined x30
    mov     x0, x20
    mov     x30, xzr
    blr     x19
    brk     #1
    .cfi_endproc
    .size   quern_stack_trampoline, .-quern_stack_trampoline
// Calls on a stack are not implemented here; two switches replace them.
    .globl  quern_call_on_stack
#if defined(QUERN_HIDDEN)
    .hidden quern_call_on_stack
#endif
    .type   quern_call_on_stack, %function
quern_call_on_stack:
    brk     #1
    .size   quern_call_on_stack, .-quern_call_on_stack

    .section .rodata
    .globl  quern_calls_on_stacks
#if defined(QUERN_HIDDEN)
    .hidden quern_calls_on_stacks
#endif
    .type   quern_calls_on_stacks, %object
    .size   quern_calls_on_stacks, 1
quern_calls_on_stacks:
    .byte   0
    .section .note.GNU-stack,"",%progbits
#endif
