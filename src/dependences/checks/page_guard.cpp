// SPDX-License-Identifier: BSL-1.0
// Page protection, and the handlers of SIGSEGV and SIGTRAP. Each page that the body has not used is
// without access. The first use of a page that one access covers opens it. On a page with several
// accesses, or with bytes that the task does not declare, each instruction is run by itself: the
// page is open for one step (x86's trap flag), so that every address is seen. All below the
// handlers runs in a signal handler: no locks, no heap.
#include "checks/page_guard.hpp"

#include <quern/base/detail/config.hpp>
#include <quern/dependences/detail/access_checks.hpp>
#include <quern/scheduler/detail/context.hpp>

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

namespace quern::detail {

std::size_t guarded_page_bytes() noexcept {
    static constinit std::atomic<std::size_t> known{0};
    std::size_t bytes = known.load(std::memory_order_relaxed);
    if (bytes == 0) {
        bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        known.store(bytes, std::memory_order_relaxed);
    }
    return bytes;
}

namespace {

/// Steps of one body: a quarter of a second at 5 us, 1 s at the 20 us of a virtual machine. Then
/// its mixed pages are open, and only compared.
constexpr std::uint32_t k_most_steps = 50'000;

constinit std::atomic<guard_plan*> g_plan{nullptr};
constinit std::atomic<int> g_handlers{0};  ///< that may use the plan

/// The pages that are open for one instruction of the body.
struct single_step {
    std::array<guarded_page*, 8> pages;
    std::size_t count;
    std::uint32_t left;
};
constinit single_step g_step{};

constinit struct sigaction g_before_segv {};
constinit struct sigaction g_before_trap {};

void protect(guarded_page& page, int wanted) noexcept {
    page.protection = static_cast<std::uint8_t>(wanted);
    ::mprotect(reinterpret_cast<void*>(page.begin), guarded_page_bytes(), wanted);
}

// -- the machine -------------------------------------------------------------------------------

#if defined(__x86_64__)
constexpr bool k_can_step = true;
constexpr greg_t k_trap_flag = 0x100;

bool is_write_fault(const ucontext_t& machine) noexcept {
    constexpr greg_t k_write = 2;  // Intel SDM 3A, 4.7
    return (machine.uc_mcontext.gregs[REG_ERR] & k_write) != 0;
}
const void* faulting_instruction(const ucontext_t& machine) noexcept {
    return reinterpret_cast<const void*>(machine.uc_mcontext.gregs[REG_RIP]);
}
void set_stepping(ucontext_t& machine, bool on) noexcept {
    greg_t& flags = machine.uc_mcontext.gregs[REG_EFL];
    flags = on ? flags | k_trap_flag : flags & ~k_trap_flag;
}
#else
constexpr bool k_can_step = false;
bool is_write_fault(const ucontext_t&) noexcept { return true; }
const void* faulting_instruction(const ucontext_t&) noexcept { return nullptr; }
void set_stepping(ucontext_t&, bool) noexcept {}
#endif

// -- one fault ---------------------------------------------------------------------------------

guarded_page* page_at(guard_plan& plan, std::uintptr_t address) noexcept {
    const auto behind =
        std::upper_bound(plan.pages.begin(), plan.pages.end(), address,
                         [](std::uintptr_t a, const guarded_page& p) { return a < p.begin; });
    if (behind == plan.pages.begin()) {
        return nullptr;
    }
    guarded_page& page = *(behind - 1);
    return address - page.begin < guarded_page_bytes() ? &page : nullptr;
}

guarded_part* part_at(guard_plan& plan, std::uintptr_t address) noexcept {
    const auto behind =
        std::upper_bound(plan.parts.begin(), plan.parts.end(), address,
                         [](std::uintptr_t a, const guarded_part& p) { return a < p.begin; });
    if (behind == plan.parts.begin()) {
        return nullptr;
    }
    guarded_part& part = *(behind - 1);
    return address < part.end ? &part : nullptr;
}

/// Whether the part is used on this page for the first time.
bool begins_on(guarded_part& part, const guarded_page& page) noexcept {
    const std::uint8_t bit = page.begin <= part.begin                        ? 1
                             : page.begin + guarded_page_bytes() >= part.end ? 2
                                                                             : 4;
    const bool is_first = bit == 4 || (part.begun & bit) == 0;
    part.begun = static_cast<std::uint8_t>(part.begun | bit);
    return is_first;
}

void judge(guard_plan& plan, guarded_part& part, const guarded_page& page, forbidden_use use) {
    const bool is_first = begins_on(part, page);
    if ((part.may & (may_read | may_write)) == 0) {
        use.what = (part.may & for_children) != 0  ? mistake_kind::weak
                   : (part.may & in_own_part) != 0 ? mistake_kind::reduction
                                                   : mistake_kind::undeclared;
    } else if (use.is_write && (part.may & may_write) == 0) {
        use.what = mistake_kind::only_read;
    } else if (!use.is_write && is_first && (part.may & writes_first) != 0) {
        use.what = mistake_kind::reads_first;
    } else {
        return;
    }
    use.part = static_cast<std::uint32_t>(&part - plan.parts.data());
    plan.add(use);
}

/// Opens the page only for this instruction.
void step_over(guarded_page& page, ucontext_t& machine) noexcept {
    protect(page, PROT_READ | PROT_WRITE);
    if (g_step.count == g_step.pages.size() || g_step.left == 0) {
        return;
    }
    --g_step.left;
    g_step.pages[g_step.count++] = &page;
    set_stepping(machine, true);
}

/// True: the page is one of the plan, and open enough for the instruction now.
bool is_guarded(guard_plan& plan, std::uintptr_t address, ucontext_t& machine) noexcept {
    guarded_page* const page = page_at(plan, address);
    if (page == nullptr) {
        return false;
    }
    guarded_part* const part = part_at(plan, address);
    if (part != nullptr) {
        std::atomic_ref(part->is_touched).store(true, std::memory_order_relaxed);
    }
    if (task_root() != plan.body) {
        std::atomic_ref(page->is_shared).store(true, std::memory_order_relaxed);
        protect(*page, PROT_READ | PROT_WRITE);
        return true;
    }
    const bool is_write = is_write_fault(machine);
    if (part != nullptr) {
        judge(plan, *part, *page,
              {.is_write = is_write,
               .address = address,
               .instruction = faulting_instruction(machine)});
    }
    switch (page->use) {
        case guarded_page::use_of::mixed:
            step_over(*page, machine);
            break;
        case guarded_page::use_of::write:
            protect(*page, PROT_READ | PROT_WRITE);
            break;
        case guarded_page::use_of::none:
        case guarded_page::use_of::read:
            protect(*page, is_write ? PROT_READ | PROT_WRITE : PROT_READ);
            break;
    }
    return true;
}

/// Stands where a handler may use the plan.
class use_of_plan {
public:
    use_of_plan() noexcept {
        // seq_cst, both: unguard_pages() sees this handler, or it sees no plan.
        g_handlers.fetch_add(1, std::memory_order_seq_cst);
        m_plan = g_plan.load(std::memory_order_seq_cst);
    }
    use_of_plan(const use_of_plan&) = delete;
    use_of_plan& operator=(const use_of_plan&) = delete;
    ~use_of_plan() { g_handlers.fetch_sub(1, std::memory_order_release); }  // pairs with unguard

    guard_plan* get() const noexcept { return m_plan; }

private:
    guard_plan* m_plan;
};

/// A page may have been opened between the fault of another thread and its handler: that
/// instruction is tried once more. A crash comes again at the same address.
bool may_be_over(std::uintptr_t address) noexcept {
    static constinit std::atomic<std::uintptr_t> last{0};
    static constinit std::atomic<int> left{10'000};
    return left.fetch_sub(1, std::memory_order_relaxed) > 0 &&
           last.exchange(address, std::memory_order_relaxed) != address;
}

// -- the handlers ------------------------------------------------------------------------------

/// To the handler that was there before.
void pass_on(int signal, siginfo_t* info, void* machine, struct sigaction& before) noexcept {
    static constinit std::atomic<int> left{100};  // a handler that changes nothing comes again
    if (left.fetch_sub(1, std::memory_order_relaxed) <= 0) {
        std::signal(signal, SIG_DFL);
    } else if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(signal, info, machine);
    } else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
        ::sigaction(signal, &before, nullptr);
        if (signal == SIGTRAP) {
            ::raise(signal);  // the instruction does not fault again
        }
    } else {
        before.sa_handler(signal);
    }
}

void on_segv(int signal, siginfo_t* info, void* machine_state) {
    const int program_errno = errno;
    auto& machine = *static_cast<ucontext_t*>(machine_state);
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    bool is_ours = false;
    {
        const use_of_plan now;
        is_ours = now.get() != nullptr && is_guarded(*now.get(), address, machine);
    }
    if (!is_ours && !may_be_over(address)) {
        pass_on(signal, info, machine_state, g_before_segv);
    }
    errno = program_errno;
}

void on_trap(int signal, siginfo_t* info, void* machine_state) {
    const int program_errno = errno;
    guard_plan* const plan = g_plan.load(std::memory_order_acquire);  // the body's own
    if (plan == nullptr || g_step.count == 0 || task_root() != plan->body) {
        pass_on(signal, info, machine_state, g_before_trap);
    } else {
        for (; g_step.count > 0; --g_step.count) {
            guarded_page& page = *g_step.pages[g_step.count - 1];
            if (!std::atomic_ref(page.is_shared).load(std::memory_order_relaxed)) {
                protect(page, PROT_NONE);
            }
        }
        set_stepping(*static_cast<ucontext_t*>(machine_state), false);
    }
    errno = program_errno;
}

/// The program may have installed others since the last body.
void install(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction& before) {
    struct sigaction present {};
    ::sigaction(signal, nullptr, &present);
    if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == handler) {
        return;
    }
    before = present;
    struct sigaction ours {};
    ours.sa_sigaction = handler;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(signal, &ours, nullptr);
}

/// Calls call(first, bytes) for neighbouring pages together.
template <class F>
void for_each_run(const guard_plan& plan, F call) {
    const std::size_t bytes = guarded_page_bytes();
    for (std::size_t i = 0; i < plan.pages.size();) {
        std::size_t end = i + 1;
        while (end < plan.pages.size() &&
               plan.pages[end].begin == plan.pages[end - 1].begin + bytes) {
            ++end;
        }
        call(i, end);
        i = end;
    }
}

}  // namespace

// -- for a body --------------------------------------------------------------------------------

const char* why_no_page_guard() noexcept {
    if (!k_can_step) {
        return "pages are protected only on x86-64";
    }
    return k_tsan ? "ThreadSanitizer uses the memory itself" : nullptr;
}

void guard_pages(guard_plan& plan) noexcept {
    if (plan.pages.empty()) {
        return;
    }
    install(SIGSEGV, on_segv, g_before_segv);
    install(SIGTRAP, on_trap, g_before_trap);
    g_step.count = 0;
    g_step.left = k_most_steps;
    g_plan.store(&plan, std::memory_order_seq_cst);
    for_each_run(plan, [&](std::size_t first, std::size_t end) {
        const bool is_protected = ::mprotect(reinterpret_cast<void*>(plan.pages[first].begin),
                                             (end - first) * guarded_page_bytes(), PROT_NONE) == 0;
        for (std::size_t i = first; i < end && !is_protected; ++i) {
            plan.pages[i].is_shared = true;
        }
    });
}

void unguard_pages(guard_plan& plan) noexcept {
    if (plan.pages.empty()) {
        return;
    }
    for_each_run(plan, [&](std::size_t first, std::size_t end) {
        ::mprotect(reinterpret_cast<void*>(plan.pages[first].begin),
                   (end - first) * guarded_page_bytes(), PROT_READ | PROT_WRITE);
    });
    g_plan.store(nullptr, std::memory_order_seq_cst);
    while (g_handlers.load(std::memory_order_seq_cst) != 0) {  // acquire: pairs with ~use_of_plan
    }
}

}  // namespace quern::detail
