// SPDX-License-Identifier: BSL-1.0
// The probes behind the sections "available" and "unavailable" of `quern info`.
#include "info/probes.hpp"

#include <quern/topology/binding.hpp>
#include <quern/topology/machine.hpp>

#include <fmt/format.h>

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>

namespace quern::tool {

namespace {

using topology::errno_text;
using topology::outcome;
using topology::system_root;

feature unavailable(std::string name, std::string reason) {
    return {std::move(name), false, std::move(reason)};
}
feature available(std::string name, std::string detail) {
    return {std::move(name), true, std::move(detail)};
}

/// Opens one counter of this thread, in user mode. Returns 0, or the errno.
int try_perf_event(std::uint32_t type, std::uint64_t config) {
    perf_event_attr wanted{};
    wanted.size = sizeof wanted;
    wanted.type = type;
    wanted.config = config;
    wanted.disabled = 1;
    wanted.exclude_kernel = 1;
    wanted.exclude_hv = 1;
    const long fd = ::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0);
    if (fd < 0) {
        return errno;
    }
    ::close(static_cast<int>(fd));
    return 0;
}

std::string explain_perf_error(const system_root& root, int error) {
    std::string what = "perf_event_open: " + errno_text(error);
    if (error == ENOENT || error == EOPNOTSUPP || error == ENODEV) {
        return what + "; no such counter here, as in most virtual machines";
    }
    if (error == EACCES || error == EPERM) {
        const outcome<std::string> level =
            topology::read_word(root, "/proc/sys/kernel/perf_event_paranoid");
        return fmt::format(
            "{}; kernel.perf_event_paranoid is {}; a container's filter may also refuse", what,
            level ? *level : "unreadable");
    }
    return what;
}

feature probe_perf(const system_root& root, std::string name, std::uint32_t type,
                   std::uint64_t config) {
    const int error = try_perf_event(type, config);
    return error == 0 ? available(std::move(name), "perf_event_open")
                      : unavailable(std::move(name), explain_perf_error(root, error));
}

feature probe_energy(const system_root& root) {
    const std::string zone =
        "/sys/class/powercap/intel-rapl:0/energy_uj";  // AMD processors use the same name
    const outcome<std::string> energy = topology::read_word(root, zone);
    if (energy) {
        return available("energy", root.resolve(zone));
    }
    const bool root_only = energy.reason().find("EACCES") != std::string::npos;
    return unavailable(
        "energy", energy.reason() + (root_only ? "; only root may read it since Linux 5.10" : ""));
}

feature probe_pressure(const system_root& root) {
    const std::string file = "/proc/pressure/cpu";
    const outcome<std::string> text = topology::read_word(root, file);
    return text ? available("pressure stall information", root.resolve(file))
                : unavailable("pressure stall information", text.reason());
}

feature probe_guard_pages() {
    constexpr const char* k_name = "cheap guard pages";
    constexpr int k_madv_guard_install = 102;  // from Linux 6.13 on; absent from older headers
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const memory =
        ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return unavailable(k_name, "mmap: " + errno_text(errno));
    }
    const int error = ::madvise(memory, page, k_madv_guard_install) == 0 ? 0 : errno;
    ::munmap(memory, page);
    if (error == 0) {
        return available(k_name, "madvise(MADV_GUARD_INSTALL)");
    }
    return unavailable(k_name,
                       "madvise(MADV_GUARD_INSTALL): " + errno_text(error) +
                           (error == EINVAL ? "; the kernel is older than Linux 6.13" : ""));
}

/// Binds the thread to its present CPUs: changes nothing, but fails where binding is forbidden.
feature probe_binding() {
    const auto mask = topology::this_thread_affinity();
    if (!mask) {
        return unavailable("binding of threads", mask.reason());
    }
    const auto refused = topology::bind_this_thread(*mask);
    return refused ? unavailable("binding of threads", *refused)
                   : available("binding of threads", "sched_setaffinity");
}

feature probe_hwloc() {
    const std::string_view version = topology::hwloc_version();
    return version.empty()
               ? unavailable("hwloc", "left out of this build; the machine is read from /sys")
               : available("hwloc", std::string(version));
}

feature probe_gpu(const system_root& root) {
    std::string seen;
    for (const char* const node : {"/dev/nvidiactl", "/dev/kfd"}) {
        struct stat ignored {};
        if (::stat(root.resolve(node).c_str(), &ignored) == 0) {
            return unavailable("GPU",
                               fmt::format("{} is there, but this build has no GPU support", node));
        }
        seen += fmt::format("{}{}: {}", seen.empty() ? "" : ", ", root.resolve(node),
                            errno_text(errno));
    }
    return unavailable("GPU", seen);
}

}  // namespace

std::vector<feature> probe_features(const system_root& root) {
    return {
        probe_perf(root, "hardware counters", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
        probe_perf(root, "software counters", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK),
        probe_energy(root),
        probe_pressure(root),
        probe_guard_pages(),
        probe_binding(),
        probe_hwloc(),
        probe_gpu(root),
    };
}

}  // namespace quern::tool
