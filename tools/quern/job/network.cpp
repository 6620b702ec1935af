// SPDX-License-Identifier: BSL-1.0
// Makes a network namespace, and shapes its loopback interface with a token bucket.
#include "job/network.hpp"

#include "child/child.hpp"
#include "command.hpp"
#include "program/search_path.hpp"

#include <quern/topology/detail/text.hpp>

#include <fmt/format.h>

#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace quern::tool {

namespace {

// Bytes of a packet: a jumbo frame of Ethernet. Smaller ones take processor time that the ranks
// lack: 1500 bytes reach 355 of 400 Mbit/s on two cores.
constexpr int k_packet = 9000;
constexpr std::uint64_t k_least = 100'000;     // bits a second; below, starting takes minutes
constexpr std::uint64_t k_most = 1ull << 37u;  // more than a loopback interface carries

[[noreturn]] void refuse(const char* what) {
    throw std::runtime_error(
        fmt::format("--net cannot make its network: {}: {}", what, std::strerror(errno)));
}

/// In a user namespace a user keeps his own number and gets the rights over the network in it.
bool enter_as_user() {
    const uid_t user = ::geteuid();
    const gid_t group = ::getegid();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
        return false;
    }
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << fmt::format("{0} {0} 1", user);
    std::ofstream("/proc/self/gid_map") << fmt::format("{0} {0} 1", group);
    return true;
}

void set_loopback() {
    const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
    request.ifr_mtu = k_packet;
    if (any < 0 || ::ioctl(any, SIOCSIFMTU, &request) != 0) {
        refuse("packets of the loopback interface");
    }
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    if (::ioctl(any, SIOCSIFFLAGS, &request) != 0) {
        refuse("switching the loopback interface on");
    }
    ::close(any);
}

/// So that a program started by an ordinary user may change the namespace's network.
void keep_rights() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> rights{};
    if (::syscall(SYS_capget, &header, rights.data()) == 0) {
        for (__user_cap_data_struct& each : rights) {
            each.inheritable = each.permitted;
        }
        ::syscall(SYS_capset, &header, rights.data());
        ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_NET_ADMIN, 0, 0);
    }
}

std::string path_of_tc() {
    for (const char* const name : {"tc", "/usr/sbin/tc", "/sbin/tc"}) {
        std::string path = path_of(name);
        if (!path.empty() && ::access(path.c_str(), X_OK) == 0) {
            return path;
        }
    }
    throw std::runtime_error(
        "--net needs the program tc, which is not installed; on Debian the package iproute2 has "
        "it");
}

void run_tc(const std::string& tc, std::vector<std::string> words) {
    words.insert(words.begin(), "tc");
    const started_child child =
        start_child({.words = std::move(words), .path = tc, .before_start = keep_rights});
    if (child.error != 0 || wait_for_child(child.id).status != 0) {
        throw std::runtime_error(fmt::format(
            "--net cannot limit the rate of its network: {} failed (its message is above); the "
            "kernel needs its module sch_tbf",
            tc));
    }
}

}  // namespace

std::uint64_t rate_of(const std::string& text) {
    constexpr std::pair<std::string_view, double> k_units[] = {
        {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}};
    for (const auto& [unit, factor] : k_units) {
        const std::string number = text.substr(0, text.size() - std::min(text.size(), unit.size()));
        if (text.ends_with(unit) && !number.empty() &&
            number.find_first_not_of("0123456789.") == std::string::npos &&
            std::count(number.begin(), number.end(), '.') <= 1 && number != ".") {
            const double bits = std::strtod(number.c_str(), nullptr) * factor;
            if (bits >= static_cast<double>(k_least) && bits <= static_cast<double>(k_most)) {
                return static_cast<std::uint64_t>(bits);
            }
        }
    }
    throw usage_error(fmt::format(
        "quern run: --net is '{}'; accepted: a rate from 100kbit to 100gbit, such as 100mbit or "
        "1.5gbit",
        text));
}

void enter_network(std::uint64_t bits_per_second) {
    const std::string tc = path_of_tc();
    if (::unshare(CLONE_NEWNET) != 0 && !enter_as_user()) {
        throw std::runtime_error(fmt::format(
            "--net needs the right to make a network namespace (unshare: {}): run it as root, or "
            "where users may make user namespaces",
            std::strerror(errno)));
    }
    set_loopback();
    // The bucket: what passes at once after a pause. A quarter of a millisecond at high rates,
    // since the kernel's clock ticks.
    const std::uint64_t bucket = std::max<std::uint64_t>(2 * k_packet, bits_per_second / 8 / 4000);
    run_tc(tc, {"qdisc", "add", "dev", "lo", "root", "tbf", "rate",
                fmt::format("{}bit", bits_per_second), "burst", fmt::format("{}b", bucket),
                "latency", "400ms"});
}

}  // namespace quern::tool
