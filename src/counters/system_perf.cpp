// SPDX-License-Identifier: BSL-1.0
// perf_event_open of this machine. The only file that knows its structures.
#include <quern/counters/system_events.hpp>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace quern::counters {

namespace {

class machine_kernel final : public event_kernel {
public:
    int open(const event_kind& event, pid_t thread, int leader) override {
        perf_event_attr wanted{};
        wanted.size = sizeof wanted;
        wanted.type = event.type;
        wanted.config = event.config;
        wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        wanted.exclude_kernel = event.kernel_too ? 0 : 1;
        wanted.exclude_hv = 1;
        constexpr int k_any_processor = -1;
        const long descriptor = ::syscall(SYS_perf_event_open, &wanted, thread, k_any_processor,
                                          leader, static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
        return descriptor < 0 ? -errno : static_cast<int>(descriptor);
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

    void close(int descriptor) noexcept override { ::close(descriptor); }
};

}  // namespace

std::shared_ptr<event_kernel> event_kernel::of_machine() {
    return std::make_shared<machine_kernel>();
}

}  // namespace quern::counters
