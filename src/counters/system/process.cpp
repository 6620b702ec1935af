// SPDX-License-Identifier: BSL-1.0
// Kernel counters of the process: memory, input and output, processor use. Names of /runtime follow
// HPX.
#include "system/files.hpp"
#include "system/reading.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace quern::counters::detail {

namespace {

constexpr double k_bytes_per_kb = 1024;

counter_info level_in_bytes(const char* name, const char* help) {
    return {name, counter_kind::level, "B", help};
}

file_counter io(const char* name, const char* key, const char* unit, const char* help) {
    return {{std::string("/runtime/io/") + name, counter_kind::sum, unit, help}, after(key)};
}

std::vector<file_counter> io_counters() {
    return {
        io("read_bytes_issued", "rchar:", "B", "bytes that reading system calls have returned"),
        io("write_bytes_issued", "wchar:", "B", "bytes that writing system calls have been given"),
        io("read_syscalls", "syscr:", "", "reading system calls"),
        io("write_syscalls", "syscw:", "", "writing system calls"),
        io("read_bytes_transferred", "read_bytes:", "B",
           "bytes fetched from storage for the process"),
        io("write_bytes_transferred", "write_bytes:", "B", "bytes sent to storage for the process"),
        io("write_bytes_cancelled", "cancelled_write_bytes:", "B",
           "bytes written that never reached storage, since the file was cut or removed before"),
    };
}

/// getrusage() values of all threads of the process, including ended ones. No file has them.
class usage_source final : public source {
public:
    explicit usage_source(topology::system_root root) : m_root(std::move(root)) {}

    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const place& where) override {
        if (const auto refused = refuse_parts(where)) {
            return all_alike(*refused, m_infos.size());
        }
        if (!m_root.real()) {
            return all_alike(
                no_reading(source_state::absent,
                           "the system call getrusage says it, and no file below " + m_root.prefix),
                m_infos.size());
        }
        rusage used{};
        if (::getrusage(RUSAGE_SELF, &used) != 0) {
            const int error = errno;
            return all_alike(no_reading({"getrusage: " + topology::errno_text(error), error}),
                             m_infos.size());
        }
        const auto count = [](long n) { return reading_of(static_cast<double>(n)); };
        return {count(used.ru_minflt), count(used.ru_majflt), count(used.ru_nvcsw),
                count(used.ru_nivcsw), time(used.ru_utime),   time(used.ru_stime)};
    }

private:
    static raw_reading time(const timeval& t) {
        return reading_of(static_cast<double>(t.tv_sec) * 1e9 +
                          static_cast<double>(t.tv_usec) * 1e3);
    }

    topology::system_root m_root;
    std::vector<counter_info> m_infos{
        {"/os/page-faults/minor", counter_kind::sum, "",
         "page faults that needed nothing from storage"},
        {"/os/page-faults/major", counter_kind::sum, "", "page faults that waited for storage"},
        {"/os/context-switches/voluntary", counter_kind::sum, "",
         "how often a thread of the process waited in the kernel"},
        {"/os/context-switches/involuntary", counter_kind::sum, "",
         "how often the kernel took the processor from a thread of the process"},
        {"/os/cpu-time/user", counter_kind::sum, "ns", "processor time in user code"},
        {"/os/cpu-time/system", counter_kind::sum, "ns", "processor time in the kernel"},
    };
};

}  // namespace

void add_process_sources(source_list& all, const topology::system_root& root) {
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    all.push_back(std::make_unique<file_source>(
        root, "/proc/self/statm",
        std::vector<file_counter>{
            {level_in_bytes("/runtime/memory/virtual", "address space of the process"), word_at(0),
             page},
            {level_in_bytes("/runtime/memory/resident", "memory that the process occupies"),
             word_at(1), page},
        }));
    all.push_back(std::make_unique<file_source>(
        root, "/proc/meminfo",
        std::vector<file_counter>{
            {level_in_bytes("/runtime/memory/total",
                            "memory of the machine that is still available (the name is HPX's)"),
             after("MemAvailable:"), k_bytes_per_kb},
        }));
    all.push_back(std::make_unique<file_source>(root, "/proc/self/io", io_counters()));
    all.push_back(std::make_unique<usage_source>(root));
}

}  // namespace quern::counters::detail
