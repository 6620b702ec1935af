// SPDX-License-Identifier: BSL-1.0
// Reads and sets the calling thread's affinity mask, of any size: the C library's fixed cpu_set_t
// ends at 1024 CPUs, and the kernel rejects a smaller mask than its own.
#include <quern/topology/binding.hpp>

#include <sched.h>
#include <algorithm>
#include <cerrno>
#include <memory>

namespace quern::topology {

namespace {

class big_mask {
public:
    explicit big_mask(unsigned cpus) : m_bytes(CPU_ALLOC_SIZE(cpus)), m_set(CPU_ALLOC(cpus)) {
        if (m_set) {
            CPU_ZERO_S(m_bytes, m_set.get());
        }
    }

    bool allocated() const noexcept { return m_set != nullptr; }
    void add(unsigned cpu) noexcept { CPU_SET_S(cpu, m_bytes, m_set.get()); }
    bool has(unsigned cpu) const noexcept { return CPU_ISSET_S(cpu, m_bytes, m_set.get()) != 0; }
    /// 0, or the errno of the failure.
    int read() noexcept { return ::sched_getaffinity(0, m_bytes, m_set.get()) == 0 ? 0 : errno; }
    int apply() const noexcept {
        return ::sched_setaffinity(0, m_bytes, m_set.get()) == 0 ? 0 : errno;
    }

private:
    struct release {
        void operator()(::cpu_set_t* set) const noexcept { CPU_FREE(set); }
    };

    std::size_t m_bytes;
    std::unique_ptr<::cpu_set_t, release> m_set;
};

}  // namespace

outcome<cpu_list> this_thread_affinity() {
    for (unsigned size = 1024; size <= k_highest_cpu + 1; size *= 2) {
        big_mask mask(size);
        const int error = mask.allocated() ? mask.read() : ENOMEM;
        if (error == EINVAL) {
            continue;  // the kernel's masks are larger than this
        }
        if (error != 0) {
            return unavailable{"sched_getaffinity: " + errno_text(error)};
        }
        cpu_list cpus;
        for (unsigned cpu = 0; cpu < size; ++cpu) {
            if (mask.has(cpu)) {
                cpus.push_back(cpu);
            }
        }
        return cpus;
    }
    return unavailable{"sched_getaffinity: the kernel's masks have more than " +
                       std::to_string(k_highest_cpu + 1) + " CPUs"};
}

std::optional<std::string> bind_this_thread(std::span<const unsigned> pus) {
    const std::string what =
        "cannot bind to CPU " + to_text(cpu_list(pus.begin(), pus.end())) + ": ";
    if (pus.empty()) {
        return "cannot bind to an empty set of CPUs";
    }
    const unsigned highest = *std::max_element(pus.begin(), pus.end());
    if (highest > k_highest_cpu) {
        return what + "there is no such CPU";
    }
    big_mask mask(highest + 1);
    if (!mask.allocated()) {
        return what + errno_text(ENOMEM);
    }
    for (const unsigned pu : pus) {
        mask.add(pu);
    }
    const int error = mask.apply();
    if (error == EINVAL) {
        return what + "no such CPU is online and in this process's cpuset, " + errno_text(error);
    }
    return error == 0 ? std::nullopt : std::optional(what + errno_text(error));
}

std::optional<std::string> bind_this_thread(unsigned pu) {
    return bind_this_thread(std::span(&pu, 1));
}

}  // namespace quern::topology
