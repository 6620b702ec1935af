// SPDX-License-Identifier: BSL-1.0
// Chooses the number of workers and explains it. Called when a pool starts and by `quern info`.
#include <quern/topology/workers.hpp>

#include <quern/base/detail/text.hpp>

namespace quern::topology {

namespace {

using quern::detail::count_words;

std::string describe_quota(const cpu_quota& quota) {
    if (quota.unlimited()) {
        return "no cgroup quota";
    }
    const std::string exact = quern::detail::rounded(quota.cpus());
    const std::string rounded = std::to_string(quota.whole_cpus());
    return "the cgroup quota grants " + exact + " CPUs (" + quota.file + ")" +
           (exact == rounded ? "" : ", rounded up to " + rounded);
}

/// "the cpuset allows 4 CPUs (…/cpuset.cpus.effective)", or why it is unknown.
std::string describe(const cpu_limits& limits, limit_kind kind, unsigned machine_pus) {
    switch (kind) {
        case limit_kind::machine:
            return "the machine has " + count_words(machine_pus, "processing unit");
        case limit_kind::cpuset:
            return limits.cpuset
                       ? "the cpuset allows " + count_words(limits.cpuset->cpus.size(), "CPU") +
                             " (" + limits.cpuset->file + ")"
                       : "cpuset unknown";
        case limit_kind::affinity:
            return limits.affinity
                       ? "the affinity mask allows " + count_words(limits.affinity->size(), "CPU")
                       : "affinity mask unknown";
        case limit_kind::quota:
            return limits.quota ? describe_quota(*limits.quota) : "cgroup quota unknown";
    }
    return {};
}

std::string compare_all(const cpu_limits& limits, limit_kind decided_by, unsigned machine_pus) {
    std::string text = describe(limits, decided_by, machine_pus);
    const char* separator = "; ";
    for (const limit_kind kind :
         {limit_kind::machine, limit_kind::cpuset, limit_kind::affinity, limit_kind::quota}) {
        if (kind != decided_by) {
            text.append(separator).append(describe(limits, kind, machine_pus));
            separator = ", ";
        }
    }
    return text;
}

}  // namespace

worker_choice choose_workers(const machine& on, const cpu_limits& limits,
                             std::optional<unsigned> requested) {
    const bool real = on.is_this_computer();
    const unsigned pus = on.pu_count();
    worker_choice choice;
    choice.decided_by = real ? limits.tightest(pus) : limit_kind::machine;
    choice.count = real ? limits.effective_cpus(pus) : pus;
    const unsigned effective = choice.count;
    const std::string reason = real ? compare_all(limits, choice.decided_by, pus)
                                    : "the synthetic machine has " +
                                          count_words(pus, "processing unit") +
                                          "; the limits of this computer do not apply to it";
    if (!requested || *requested == 0) {
        choice.why = count_words(choice.count, "worker") + ": " + reason;
        return choice;
    }
    choice.requested = true;
    choice.count = *requested;
    const char* comparison = choice.count > effective   ? ", more than"
                             : choice.count < effective ? ", fewer than"
                                                        : ", as many as";
    choice.why = count_words(choice.count, "worker") + ": as requested" + comparison + " the " +
                 count_words(effective, "CPU") + " that could be used: " + reason;
    return choice;
}

}  // namespace quern::topology
