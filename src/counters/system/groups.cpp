// SPDX-License-Identifier: BSL-1.0
// Effects of control groups on the process: throttling by CPU quotas (cpu.stat) and the memory
// limit. A group's file covers only that group's quota, but each ancestor can stop the process too,
// so all levels are summed.
#include "system/files.hpp"
#include "system/reading.hpp"

#include <quern/topology/detail/cgroup_paths.hpp>
#include <quern/topology/detail/lost_time.hpp>
#include <quern/topology/detail/text.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace quern::counters::detail {

namespace {

using topology::outcome;
using topology::read_word;
using topology::unavailable;
using topology::detail::cgroup_chain;
using topology::detail::in_quotes;
using topology::detail::parse_number;

/// Keeps the most relevant failure: a file that exists but is unusable takes precedence over a
/// missing one.
void note_failure(std::optional<raw_reading>& kept, const raw_reading& failure) {
    if (!kept || kept->state == source_state::absent) {
        kept = failure;
    }
}

class throttling_source final : public source {
public:
    explicit throttling_source(topology::system_root root) : m_root(std::move(root)) {}

    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const place& where) override {
        if (const auto refused = refuse_parts(where)) {
            return all_alike(*refused, m_infos.size());
        }
        const auto sum = topology::detail::read_throttling(m_root);
        if (!sum) {
            return all_alike(no_reading(unavailable{sum.reason(), sum.error()}), m_infos.size());
        }
        return {reading_of(sum->ns), reading_of(sum->periods)};
    }

private:
    topology::system_root m_root;
    const std::vector<counter_info> m_infos{
        {"/os/throttled/time", counter_kind::sum, "ns",
         "time that CPU quotas have stopped the process's control group or an ancestor"},
        {"/os/throttled/periods", counter_kind::sum, "",
         "periods in which CPU quotas stopped the process's control group or an ancestor"}};
};

/// The groups are looked up at each reading, since a process may be moved; cost: about 100 us.
class memory_limit_source final : public source {
public:
    explicit memory_limit_source(topology::system_root root) : m_root(std::move(root)) {}

    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const place& where) override {
        if (const auto refused = refuse_parts(where)) {
            return all_alike(*refused, m_infos.size());
        }
        topology::detail::notes said;
        const auto chains = topology::detail::cgroup_files(m_root).chains_of("memory", said);
        if (!chains) {
            return all_alike(no_reading(unavailable{chains.reason(), chains.error()}),
                             m_infos.size());
        }
        return read_groups(*chains);
    }

private:
    /// Version 1 shows no limit as the largest multiple of a page.
    static constexpr std::uint64_t k_no_limit = std::uint64_t{1} << 62;

    std::vector<raw_reading> read_groups(const std::vector<cgroup_chain>& chains) const {
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
        const outcome<std::string> word = read_word(m_root, file);
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
        const outcome<std::string> word = read_word(m_root, *file);
        if (!word) {
            return no_reading({word.reason(), word.error()});
        }
        const outcome<std::uint64_t> used = bytes(*file, *word);
        return used ? reading_of(static_cast<double>(*used)) : no_reading({used.reason()});
    }

    outcome<std::uint64_t> bytes(const std::string& file, const std::string& word) const {
        const auto value = parse_number(word);
        return value ? outcome<std::uint64_t>(*value)
                     : unavailable{m_root.resolve(file) + ": malformed: expected bytes, found " +
                                   in_quotes(word)};
    }

    topology::system_root m_root;
    const std::vector<counter_info> m_infos{
        {"/os/memory-limit/current", counter_kind::level, "B",
         "memory in use by the control group with the tightest limit"},
        {"/os/memory-limit/max", counter_kind::level, "B",
         "the tightest limit of memory of the process's control groups"}};
};

}  // namespace

void add_group_sources(source_list& all, const topology::system_root& root) {
    all.push_back(std::make_unique<throttling_source>(root));
    all.push_back(std::make_unique<memory_limit_source>(root));
}

}  // namespace quern::counters::detail
