// SPDX-License-Identifier: BSL-1.0
// Stack switching for fibre.hpp: a dozen instructions on x86-64, ucontext elsewhere (correct, but
// ten times slower: each swapcontext is a system call), and the annotations that AddressSanitizer
// needs. Nothing here knows models.
#include "fibre.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#    define QUERN_MODEL_ASAN 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define QUERN_MODEL_ASAN 1
#    endif
#endif

#if defined(QUERN_MODEL_ASAN)
#    include <sanitizer/asan_interface.h>
#    include <sanitizer/common_interface_defs.h>
#endif

namespace model::detail {
namespace {

#if defined(QUERN_MODEL_ASAN)
void before_switch(void** fake, const void* bottom, std::size_t size) {
    __sanitizer_start_switch_fiber(fake, bottom, size);
}
void after_switch(void* fake, const void** bottom, std::size_t* size) {
    __sanitizer_finish_switch_fiber(fake, bottom, size);
}
void forget_stack(void* bottom, std::size_t size) { __asan_unpoison_memory_region(bottom, size); }
#else
void before_switch(void**, const void*, std::size_t) {}
void after_switch(void*, const void**, std::size_t*) {}
void forget_stack(void*, std::size_t) {}
#endif

}  // namespace

#if defined(__x86_64__)
extern "C" void quern_model_switch(void** save, void* load);
// Saves the callee-saved registers. The floating-point control words are left alone: models do not
// change them.
asm(R"(
    .text
    .p2align 4
    .globl quern_model_switch
    .hidden quern_model_switch
    .type quern_model_switch, @function
quern_model_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size quern_model_switch, .-quern_model_switch
)");

struct machine_context {
    void* stack_pointer = nullptr;

    void prepare(void* bottom, std::size_t size, void (*start)()) {
        auto top = reinterpret_cast<std::uintptr_t>(bottom) + size;
        auto* slot = reinterpret_cast<std::uintptr_t*>(top & ~std::uintptr_t{15});
        *--slot = 0;  // no return address; also aligns as a call does
        *--slot = reinterpret_cast<std::uintptr_t>(start);
        for (int saved = 0; saved != 6; ++saved)
            *--slot = 0;
        stack_pointer = slot;
    }
    void leave_for(machine_context& next) {
        quern_model_switch(&stack_pointer, next.stack_pointer);
    }
};
#else
struct machine_context {
    ucontext_t context{};

    void prepare(void* bottom, std::size_t size, void (*start)()) {
        getcontext(&context);
        context.uc_stack.ss_sp = bottom;
        context.uc_stack.ss_size = size;
        context.uc_link = nullptr;
        makecontext(&context, start, 0);
    }
    void leave_for(machine_context& next) { swapcontext(&context, &next.context); }
};
#endif

struct fibre::implementation {
    machine_context context;
    void* mapping = nullptr;
    std::size_t mapping_size = 0;
    const void* bottom = nullptr;
    std::size_t size = 0;
    void* fake_stack = nullptr;
    implementation* came_from = nullptr;  // the sanitizer reports its bounds on arrival
    entry function = nullptr;
    void* argument = nullptr;

    static thread_local implementation* arriving;

    static void start() {
        implementation* const self = arriving;
        after_switch(nullptr, &self->came_from->bottom, &self->came_from->size);
        self->function(self->argument);
        std::fputs("model: a fibre's entry has returned\n", stderr);
        std::abort();
    }
};

thread_local fibre::implementation* fibre::implementation::arriving = nullptr;

fibre::fibre() : m_implementation(std::make_unique<implementation>()) {}

fibre::fibre(std::size_t stack_bytes) : fibre() {
    constexpr std::size_t k_guard = 65536;  // bytes; a multiple of every page size in use
    auto& self = *m_implementation;
    self.mapping_size = stack_bytes + k_guard;
    self.mapping = mmap(nullptr, self.mapping_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (self.mapping == MAP_FAILED || mprotect(self.mapping, k_guard, PROT_NONE) != 0) {
        std::perror("model: no memory for a fibre's stack");
        std::abort();
    }
    self.bottom = static_cast<std::byte*>(self.mapping) + k_guard;
    self.size = stack_bytes;
}

fibre::~fibre() {
    if (m_implementation->mapping == nullptr) return;
    forget_stack(static_cast<std::byte*>(m_implementation->mapping),
                 m_implementation->mapping_size);
    munmap(m_implementation->mapping, m_implementation->mapping_size);
}

void fibre::restart(entry function, void* argument) {
    auto& self = *m_implementation;
    self.function = function;
    self.argument = argument;
    self.fake_stack = nullptr;
    auto* const bottom = const_cast<void*>(self.bottom);
    forget_stack(bottom, self.size);
    self.context.prepare(bottom, self.size, &implementation::start);
}

void fibre::switch_to(fibre& next) {
    auto& self = *m_implementation;
    auto& target = *next.m_implementation;
    target.came_from = &self;
    implementation::arriving = &target;
    before_switch(&self.fake_stack, target.bottom, target.size);
    self.context.leave_for(target.context);
    after_switch(self.fake_stack, &self.came_from->bottom, &self.came_from->size);
}

}  // namespace model::detail
