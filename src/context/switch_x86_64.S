// SPDX-License-Identifier: BSL-1.0
// The stack switch for x86-64, System V ABI. Callee-saved: rbx, rbp, r12-r15, the control bits of
// MXCSR and the x87 control word. Frame of a suspended stack, from its saved position upward:
//    0 MXCSR (4), x87 control word (2)   8 r15  16 r14  24 r13  32 r12  40 rbx  48 rbp  56 return
// Returns by an indirect jump: a `ret` would be mispredicted at every switch.
#if defined(__x86_64__)
    .text
    .globl  quern_switch_stack
#if defined(QUERN_HIDDEN)
    .hidden quern_switch_stack
#endif
    .type   quern_switch_stack, @function
    .p2align 4
quern_switch_stack:
    .cfi_startproc
    pushq   %rbp
    .cfi_adjust_cfa_offset 8
    pushq   %rbx
    .cfi_adjust_cfa_offset 8
    pushq   %r12
    .cfi_adjust_cfa_offset 8
    pushq   %r13
    .cfi_adjust_cfa_offset 8
    pushq   %r14
    .cfi_adjust_cfa_offset 8
    pushq   %r15
    .cfi_adjust_cfa_offset 8
    subq    $8, %rsp
    .cfi_adjust_cfa_offset 8
    stmxcsr (%rsp)
    fnstcw  4(%rsp)
    movl    (%rsp), %eax
    movzwl  4(%rsp), %ecx
    movq    %rsp, (%rdi)
    movq    %rsi, %rsp
    xorl    (%rsp), %eax
    testl   $0xffc0, %eax           // bits 0-5 are the sticky flags: not worth a reload
    jne     1f
    cmpw    4(%rsp), %cx
    jne     1f
2:  addq    $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq    %r15
    .cfi_adjust_cfa_offset -8
    popq    %r14
    .cfi_adjust_cfa_offset -8
    popq    %r13
    .cfi_adjust_cfa_offset -8
    popq    %r12
    .cfi_adjust_cfa_offset -8
    popq    %rbx
    .cfi_adjust_cfa_offset -8
    popq    %rbp
    .cfi_adjust_cfa_offset -8
    popq    %rcx
    .cfi_adjust_cfa_offset -8
    .cfi_register %rip, %rcx
    jmp     *%rcx
1:  ldmxcsr (%rsp)
    fldcw   4(%rsp)
    jmp     2b
    .cfi_endproc
    .size   quern_switch_stack, .-quern_switch_stack

// rdi = from, rsi = top, rdx = entry, rcx = argument. Leaves the same frame as quern_switch_stack, so
// the caller resumes by a switch or, if the entry returns first, by an ordinary return. This keeps
// the processor's return stack correct, unlike a switch and back.
    .globl  quern_call_on_stack
#if defined(QUERN_HIDDEN)
    .hidden quern_call_on_stack
#endif
    .type   quern_call_on_stack, @function
    .p2align 4
quern_call_on_stack:
    .cfi_startproc
    pushq   %rbp
    .cfi_adjust_cfa_offset 8
    pushq   %rbx
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset %rbx, 0
    pushq   %r12
    .cfi_adjust_cfa_offset 8
    pushq   %r13
    .cfi_adjust_cfa_offset 8
    pushq   %r14
    .cfi_adjust_cfa_offset 8
    pushq   %r15
    .cfi_adjust_cfa_offset 8
    subq    $8, %rsp
    .cfi_adjust_cfa_offset 8
    stmxcsr (%rsp)
    fnstcw  4(%rsp)
    movl    (%rsp), %eax
    movzwl  4(%rsp), %r8d
    movq    %rsp, %rbx
    movq    %rsp, (%rdi)
    movq    %rsi, %rsp
    movq    %rcx, %rdi
    andl    $0xffc0, %eax           // as in quern_switch_stack
    xorl    $0x1f80, %eax
    xorl    $0x037f, %r8d
    orl     %r8d, %eax
    movl    %eax, %r12d             // whether the entry runs with different control words
    jne     1f
0:  .cfi_remember_state
    .cfi_undefined %rip             // the caller may have resumed before a backtrace
    xorl    %ebp, %ebp
    call    *%rdx
    .cfi_restore_state
    movq    %rbx, %rsp
    testl   %r12d, %r12d
    jne     2f
3:  movq    32(%rsp), %r12
    movq    40(%rsp), %rbx
    movq    48(%rsp), %rbp
    addq    $56, %rsp
    .cfi_adjust_cfa_offset -56
    ret
    .cfi_adjust_cfa_offset 56
1:  pushq   $0                      // a task begins with the default control words
    pushq   $0
    movl    $0x1f80, (%rsp)
    movl    $0x037f, 4(%rsp)
    ldmxcsr (%rsp)
    fldcw   4(%rsp)
    addq    $16, %rsp
    jmp     0b
2:  ldmxcsr (%rsp)
    fldcw   4(%rsp)
    jmp     3b
    .cfi_endproc
    .size   quern_call_on_stack, .-quern_call_on_stack

    .section .rodata
    .globl  quern_calls_on_stacks
#if defined(QUERN_HIDDEN)
    .hidden quern_calls_on_stacks
#endif
    .type   quern_calls_on_stacks, @object
    .size   quern_calls_on_stacks, 1
quern_calls_on_stacks:
    .byte   1
    .text

// rdi = top, rsi = entry, rdx = argument. The first switch enters the trampoline with the entry
// in r12 and its argument in r13; a zero return address above it ends backtraces.
    .globl  quern_prepare_stack
#if defined(QUERN_HIDDEN)
    .hidden quern_prepare_stack
#endif
    .type   quern_prepare_stack, @function
    .p2align 4
quern_prepare_stack:
    .cfi_startproc
    leaq    -80(%rdi), %rax
    movl    $0x1f80, (%rax)         // a task begins with the default control words, not
    movw    $0x037f, 4(%rax)        // with those of the code that it replaces
    movq    $0, 8(%rax)
    movq    $0, 16(%rax)
    movq    %rdx, 24(%rax)
    movq    %rsi, 32(%rax)
    movq    $0, 40(%rax)
    movq    $0, 48(%rax)
    leaq    quern_stack_trampoline(%rip), %rcx
    movq    %rcx, 56(%rax)
    movq    $0, 64(%rax)
    ret
    .cfi_endproc
    .size   quern_prepare_stack, .-quern_prepare_stack

    .type   quern_stack_trampoline, @function
    .p2align 4
quern_stack_trampoline:
    .cfi_startproc
    .cfi_undefined %rip
    movq    %r13, %rdi
    call    *%r12
    ud2
    .cfi_endproc
    .size   quern_stack_trampoline, .-quern_stack_trampoline
    .section .note.GNU-stack,"",@progbits
#endif
