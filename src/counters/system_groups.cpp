// SPDX-License-Identifier: BSL-1.0
// What control groups do to the process: CPU quotas that stop it (cpu.stat) and the limit of its
// memory. A group's file tells of that group's own quota alone, and each ancestor can stop the
// process too: so all levels count.
#include "system_files.hpp"
#include "system_reading.hpp"

#include <quern/topology/cgroup_paths.hpp>
#include <quern/topology/text.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace quern::counters::detail {

namespace {

using topology::outcome;
using topology::read_word;
using topology::unavailable;
using topology::detail::cgroup_chain;
using topology::detail::parse_number;
using topology::detail::quoted;

/// A source that visits the groups of a controller. They are looked up each time, since a process
/// may be moved; that takes about 100 us.
class group_source : public source {
public:
    group_source(topology::system_root root, std::string controller,
                 std::vector<counter_info> infos)
        : m_root(std::move(root)), m_controller(std::move(controller)), m_infos(std::move(infos)) {}

    const std::vector<counter_info>& counters() const final { return m_infos; }
    bool has_workers() const final { return false; }

    std::vector<raw_reading> read(const place& where) final {
        if (const auto refused = refuse_parts(where)) {
            return all_alike(*refused, m_infos.size());
        }
        topology::detail::notes said;
        const auto chains = topology::detail::find_cgroup_chains(m_root, m_controller, said);
        if (!chains) {
            return all_alike(no_reading(unavailable{chains.reason(), chains.error()}),
                             m_infos.size());
        }
        return read_groups(*chains);
    }

protected:
    virtual std::vector<raw_reading> read_groups(const std::vector<cgroup_chain>& chains) const = 0;

    const topology::system_root& root() const { return m_root; }

private:
    topology::system_root m_root;
    std::string m_controller;
    std::vector<counter_info> m_infos;
};

/// Keeps the reason that matters most: a file that is there and cannot be used, before none.
void note_failure(std::optional<raw_reading>& kept, const raw_reading& failure) {
    if (!kept || kept->state == source_state::absent) {
        kept = failure;
    }
}

class throttling_source final : public group_source {
public:
    explicit throttling_source(topology::system_root root)
        : group_source(
              std::move(root), "cpu",
              {{"/os/throttled/time", counter_kind::sum, "ns",
                "time that CPU quotas have stopped the process's control group or an ancestor"},
               {"/os/throttled/periods", counter_kind::sum, "",
                "periods in which CPU quotas stopped the process's control group or an "
                "ancestor"}}) {}

private:
    struct throttling {
        double ns = 0;
        double periods = 0;
    };

    std::vector<raw_reading> read_groups(const std::vector<cgroup_chain>& chains) const override {
        throttling sum;
        bool any = false;
        std::optional<raw_reading> failure;
        for (const cgroup_chain& chain : chains) {
            for (const std::string& folder : chain.folders) {
                const outcome<throttling> here = read_group(folder + "/cpu.stat", chain.version);
                if (here) {
                    any = true;
                    sum.ns += here->ns;
                    sum.periods += here->periods;
                } else if (here.error() != 0 && state_of(here.error()) == source_state::absent) {
                    continue;  // the top of a hierarchy has none
                } else if (!here.reason().ends_with(k_no_quota)) {
                    note_failure(failure, no_reading({here.reason(), here.error()}));
                }
            }
        }
        if (failure) {
            return all_alike(*failure, 2);  // a part of the sum would pass for the whole
        }
        if (!any) {
            return all_alike(
                no_reading(source_state::absent,
                           "no control group of this process has statistics of a CPU quota"),
                2);
        }
        return {reading_of(sum.ns), reading_of(sum.periods)};
    }

    outcome<throttling> read_group(const std::string& file, int version) const {
        const outcome<std::string> text = topology::read_text(root(), file);
        if (!text) {
            return unavailable{text.reason(), text.error()};
        }
        const std::string key = version == 2 ? "throttled_usec" : "throttled_time";
        if (text->find(key) == std::string::npos &&
            text->find("nr_throttled") == std::string::npos) {
            return unavailable{root().resolve(file) + k_no_quota};  // the controller is off here
        }
        const outcome<double> periods = after("nr_throttled")(*text);
        const outcome<double> time = after(key)(*text);
        if (!periods || !time) {
            return unavailable{root().resolve(file) +
                               ": malformed: " + (periods ? time.reason() : periods.reason())};
        }
        return throttling{*time * (version == 2 ? 1e3 : 1.0), *periods};
    }

    static constexpr const char* k_no_quota = ": no quota is counted";
};

class memory_limit_source final : public group_source {
public:
    explicit memory_limit_source(topology::system_root root)
        : group_source(std::move(root), "memory",
                       {{"/os/memory-limit/current", counter_kind::level, "B",
                         "memory in use by the control group with the tightest limit"},
                        {"/os/memory-limit/max", counter_kind::level, "B",
                         "the tightest limit of memory of the process's control groups"}}) {}

private:
    /// Version 1 writes no limit as the largest multiple of a page.
    static constexpr std::uint64_t k_no_limit = std::uint64_t{1} << 62;

    std::vector<raw_reading> read_groups(const std::vector<cgroup_chain>& chains) const override {
        std::optional<std::string> tightest;
        std::uint64_t limit = k_no_limit;
        raw_reading no_limit = no_reading(source_state::absent, "no control group limits memory");
        std::optional<raw_reading> failure;
        std::optional<std::string> nearest;
        for (const cgroup_chain& chain : chains) {
            for (const std::string& folder : chain.folders) {
                const bool v2 = chain.version == 2;
                const std::string use =
                    folder + (v2 ? "/memory.current" : "/memory.usage_in_bytes");
                const outcome<std::uint64_t> here =
                    limit_in(folder + (v2 ? "/memory.max" : "/memory.limit_in_bytes"));
                if (here) {
                    nearest = nearest ? nearest : use;
                    if (*here < limit) {
                        limit = *here;
                        tightest = use;
                    }
                } else if (here.error() == 0 || state_of(here.error()) != source_state::absent) {
                    note_failure(failure, no_reading({here.reason(), here.error()}));
                }
            }
        }
        if (failure) {
            return all_alike(*failure, 2);
        }
        return {use_in(tightest ? tightest : nearest),
                tightest ? reading_of(static_cast<double>(limit)) : no_limit};
    }

    outcome<std::uint64_t> limit_in(const std::string& file) const {
        const outcome<std::string> word = read_word(root(), file);
        if (!word) {
            return unavailable{word.reason(), word.error()};
        }
        return *word == "max" ? outcome<std::uint64_t>(k_no_limit) : bytes(file, *word);
    }

    raw_reading use_in(const std::optional<std::string>& file) const {
        if (!file) {
            return no_reading(source_state::absent,
                              "no control group of this process counts memory");
        }
        const outcome<std::string> word = read_word(root(), *file);
        if (!word) {
            return no_reading({word.reason(), word.error()});
        }
        const outcome<std::uint64_t> used = bytes(*file, *word);
        return used ? reading_of(static_cast<double>(*used)) : no_reading({used.reason()});
    }

    outcome<std::uint64_t> bytes(const std::string& file, const std::string& word) const {
        const auto value = parse_number(word);
        return value ? outcome<std::uint64_t>(*value)
                     : unavailable{root().resolve(file) + ": malformed: expected bytes, found " +
                                   quoted(word)};
    }
};

}  // namespace

void add_group_sources(source_list& all, const topology::system_root& root) {
    all.push_back(std::make_unique<throttling_source>(root));
    all.push_back(std::make_unique<memory_limit_source>(root));
}

}  // namespace quern::counters::detail
