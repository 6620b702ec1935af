// SPDX-License-Identifier: BSL-1.0
// perf_event_open of this machine. The only file that uses its structures.
#include <quern/topology/thread_events.hpp>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace quern::topology {

namespace {

constexpr std::uint64_t k_times = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;

int open_event(const event_kind& event, pid_t thread, int leader, std::uint64_t format) {
    perf_event_attr wanted{};
    wanted.size = sizeof wanted;
    wanted.type = event.type;
    wanted.config = event.config;
    wanted.read_format = format;
    wanted.exclude_kernel = event.kernel_too ? 0 : 1;
    wanted.exclude_hv = 1;
    constexpr int k_any_processor = -1;
    const long descriptor = ::syscall(SYS_perf_event_open, &wanted, thread, k_any_processor, leader,
                                      static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
    return descriptor < 0 ? -errno : static_cast<int>(descriptor);
}

class machine_kernel final : public event_kernel {
public:
    int open(const event_kind& event, pid_t thread, int leader) override {
        return open_event(event, thread, leader, k_times);
    }

    int open_leader(const event_kind& event, pid_t thread) override {
        return open_event(event, thread, -1, k_times | PERF_FORMAT_GROUP);
    }

    int read(int descriptor, count& into) override {
        std::array<std::uint64_t, 3> words{};
        const ssize_t got = ::read(descriptor, words.data(), sizeof words);
        if (got != static_cast<ssize_t>(sizeof words)) {
            return got < 0 ? errno : EIO;
        }
        into = {words[0], words[1], words[2]};
        return 0;
    }

    int read_group(int leader, group_count& into) override {
        constexpr std::size_t k_head = 3;  // the number of values, and the two times
        std::array<std::uint64_t, k_head + k_most_in_group> words{};
        const ssize_t got = ::read(leader, words.data(), sizeof words);
        if (got <= 0 || words[0] > k_most_in_group) {
            return got < 0 ? errno : EIO;
        }
        into.enabled = words[1];
        into.counted = words[2];
        std::copy_n(words.begin() + k_head, k_most_in_group, into.values.begin());
        return 0;
    }

    void close(int descriptor) noexcept override { ::close(descriptor); }
};

}  // namespace

std::shared_ptr<event_kernel> event_kernel::of_machine() {
    return std::make_shared<machine_kernel>();
}

}  // namespace quern::topology
