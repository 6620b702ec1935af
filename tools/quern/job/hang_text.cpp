// SPDX-License-Identifier: BSL-1.0
// The report on a job that hangs: the waits of each rank, what almost fits, and which ranks wait
// for each other.
#include "job/hang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace quern::tool {

namespace {

using way = job_call::way;
using job_states = std::vector<rank_state>;

// So that a report stays readable.
constexpr std::size_t k_most_ranks = 16;
constexpr std::size_t k_most_findings = 20;
constexpr std::size_t k_most_in_list = 8;

const rank_state& state_of(const job_states& job, int rank) {
    return job[static_cast<std::size_t>(rank)];
}

/// "rank 3", "ranks 0, 1 and 2"
std::string list_of(const std::vector<int>& ranks) {
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    const std::size_t shown = std::min(ranks.size(), k_most_in_list);
    for (std::size_t i = 0; i < shown; ++i) {
        const bool is_last = i + 1 == ranks.size();
        text += (i == 0 ? "" : is_last ? " and " : ", ") + std::to_string(ranks[i]);
    }
    return shown == ranks.size() ? text : text + fmt::format(" and {} more", ranks.size() - shown);
}

/// By a name that some rank knows.
std::string name_of(const job_states& job, std::uint64_t comm) {
    std::size_t members = 0;
    for (const rank_state& rank : job) {
        const auto found = rank.comms.find(comm);
        if (found != rank.comms.end() && !found->second.name.empty()) {
            return found->second.name;
        }
        members = found != rank.comms.end() ? found->second.members.size() : members;
    }
    return members == 0 ? "an unknown communicator" : fmt::format("a communicator of {}", members);
}

std::string peer_words(int peer) {
    return peer == job_call::k_any ? "any rank" : fmt::format("rank {}", peer);
}

std::string bytes_words(std::int64_t bytes) {
    return bytes == 1 ? "1 byte" : fmt::format("{} bytes", bytes);
}

/// "MPI_Recv from rank 1, tag 8, on MPI_COMM_WORLD"
std::string words_of(const job_states& job, const job_call& call) {
    std::string text = call.name;
    if (call.how == way::sent || call.how == way::received) {
        text += (call.how == way::sent ? " to " : " from ") + peer_words(call.peer);
        text += call.tag == job_call::k_any ? ", any tag" : fmt::format(", tag {}", call.tag);
        text += ", on " + name_of(job, call.comm);
    }
    return text;
}

class findings {
public:
    explicit findings(const job_states& job) : m_job(job) {
        for (const rank_state& rank : job) {
            for (const job_wait& wait : rank.waits) {
                for (const job_call& call : wait.calls) {
                    look_at(rank, wait, call);
                }
            }
        }
        for (const auto& [at, waiting] : m_collective) {
            look_at_collective(at.first, at.second, waiting);
        }
    }

    std::string text() const {
        std::string text = m_lines.empty() ? "" : "what does not fit:\n";
        for (std::size_t i = 0; i < std::min(m_lines.size(), k_most_findings); ++i) {
            text += "  " + m_lines[i] + "\n";
        }
        if (m_lines.size() > k_most_findings) {
            text += fmt::format("  and {} more\n", m_lines.size() - k_most_findings);
        }
        return text;
    }

private:
    using waiting_ranks = std::map<int, const job_call*>;

    void look_at(const rank_state& rank, const job_wait& wait, const job_call& call) {
        if (call.how == way::collective) {
            m_collective[{call.comm, call.place}].emplace(rank.rank, &call);
            return;
        }
        const std::string who = wait.who.empty() ? "" : wait.who + ", ";
        const std::string subject =
            fmt::format("rank {}, {}{}: ", rank.rank, who, words_of(m_job, call));
        if (call.how == way::received) {
            for (const std::string& each : near_matches(rank, call)) {
                add(subject + each);
            }
        }
        if (call.peer >= 0 && state_of(m_job, call.peer).is_finalised) {
            add(subject + fmt::format("rank {} has called MPI_Finalize", call.peer));
        }
    }

    void add(const std::string& line) {
        if (std::find(m_lines.begin(), m_lines.end(), line) == m_lines.end()) {
            m_lines.push_back(line);
        }
    }

    /// Those that have come to a rank, and those whose send has not ended.
    std::vector<job_message> messages_to(const rank_state& rank) const {
        std::vector<job_message> all = rank.arrived;
        const auto take = [&](const rank_state& from, const job_call& call) {
            const bool is_known = std::any_of(all.begin(), all.end(), [&](const job_message& each) {
                return each.comm == call.comm && each.source == from.rank && each.tag == call.tag;
            });
            if (call.how == way::sent && call.peer == rank.rank && !is_known) {
                all.push_back({call.comm, from.rank, rank.rank, call.tag, call.bytes});
            }
        };
        for (const rank_state& from : m_job) {
            for (const job_wait& wait : from.waits) {
                for (const job_call& call : wait.calls) {
                    take(from, call);
                }
            }
            for (const job_call& call : from.open) {
                take(from, call);
            }
        }
        return all;
    }

    /// The messages that differ in the fewest respects, if in one or two.
    std::vector<std::string> near_matches(const rank_state& rank, const job_call& call) const {
        std::vector<std::string> best;
        std::size_t fewest = 2;
        for (const job_message& each : messages_to(rank)) {
            std::string words;
            const std::size_t count = differences(call, each, words);
            if (count == 0 || count > fewest) {
                continue;
            }
            if (count < fewest) {
                best.clear();
                fewest = count;
            }
            best.push_back(fmt::format("{} have been sent that nothing receives, {}{}",
                                       bytes_words(each.bytes), words,
                                       call.bytes >= 0 && each.bytes > call.bytes
                                           ? "; the buffer has " + bytes_words(call.bytes)
                                           : ""));
        }
        return best;
    }

    std::size_t differences(const job_call& call, const job_message& sent,
                            std::string& words) const {
        std::size_t count = 0;
        const auto add_words = [&](const std::string& more) {
            words += (count == 0 ? "" : " and ") + more;
            ++count;
        };
        if (call.peer != job_call::k_any && call.peer != sent.source) {
            add_words(fmt::format("from rank {} instead of {}", sent.source, call.peer));
        }
        if (call.tag != job_call::k_any && call.tag != sent.tag) {
            add_words(fmt::format("with tag {} instead of {}", sent.tag, call.tag));
        }
        if (call.comm != sent.comm) {
            add_words(fmt::format("on {} instead of {}", name_of(m_job, sent.comm),
                                  name_of(m_job, call.comm)));
        }
        return count;
    }

    /// Those that have called something else at this place, and those that have not called.
    void look_at_collective(std::uint64_t id, std::uint64_t place, const waiting_ranks& waiting) {
        const auto& [first_rank, first] = *waiting.begin();
        const auto& comms = state_of(m_job, first_rank).comms;
        const auto on = comms.find(id);
        if (on == comms.end()) {
            return;
        }
        const std::string name = name_of(m_job, id);
        add_differences(id, place, on->second, name);
        std::vector<int> callers;
        for (const auto& [rank, call] : waiting) {
            callers.push_back(rank);
        }
        std::vector<int> finalised;
        std::vector<int> others;
        for (const int each : missing_in(m_job, on->second, id, place)) {
            (state_of(m_job, each).is_finalised ? finalised : others).push_back(each);
        }
        const std::string what =
            fmt::format("{} on {}, in which {} {}", plain_name(first->name), name, list_of(callers),
                        callers.size() == 1 ? "waits" : "wait");
        if (!others.empty()) {
            add(fmt::format("{} {} not called {}", list_of(others),
                            others.size() == 1 ? "has" : "have", what));
        }
        if (!finalised.empty()) {
            add(fmt::format("{} {} called MPI_Finalize instead of {}", list_of(finalised),
                            finalised.size() == 1 ? "has" : "have", what));
        }
    }

    void add_differences(std::uint64_t id, std::uint64_t place, const job_comm& on,
                         const std::string& name) {
        std::map<std::string, std::vector<int>> names;
        std::map<int, std::vector<int>> roots;
        std::map<std::int64_t, std::vector<int>> sizes;
        for (const int member : on.members) {
            if (const job_call* const call = called_at(state_of(m_job, member), id, place)) {
                names[plain_name(call->name)].push_back(member);
                roots[call->root].push_back(member);
                sizes[call->bytes].push_back(member);
            }
        }
        if (names.size() > 1) {
            add("calls on " + name +
                " differ: " + joined(names, [](const std::string& each) { return each; }));
        } else if (roots.size() > 1) {
            add("roots of " + names.begin()->first + " on " + name +
                " differ: " + joined(roots, [](int root) { return fmt::format("root {}", root); }));
        } else if (sizes.size() > 1) {
            add("sizes of " + names.begin()->first + " on " + name +
                " differ: " + joined(sizes, [](std::int64_t bytes) { return bytes_words(bytes); }));
        }
    }

    /// "MPI_Barrier on ranks 0 and 1, MPI_Bcast on rank 2"
    template <class Groups, class Word>
    static std::string joined(const Groups& groups, Word word) {
        std::string text;
        for (const auto& [key, ranks] : groups) {
            text += (text.empty() ? "" : ", ") + word(key) + " on " + list_of(ranks);
        }
        return text;
    }

    const job_states& m_job;
    std::map<std::pair<std::uint64_t, std::uint64_t>, waiting_ranks> m_collective;
    std::vector<std::string> m_lines;
};

/// The ranks without which a rank cannot continue. A wait for any of several is left out.
std::set<int> awaited_by(const job_states& job, const rank_state& rank) {
    std::set<int> awaited;
    for (const job_wait& wait : rank.waits) {
        if (wait.is_any && wait.calls.size() > 1) {
            continue;
        }
        for (const job_call& call : wait.calls) {
            if (call.peer >= 0) {
                awaited.insert(call.peer);
            }
            const auto on = rank.comms.find(call.comm);
            if (call.how == way::collective && on != rank.comms.end()) {
                for (const int each : missing_in(job, on->second, call.comm, call.place)) {
                    awaited.insert(each);
                }
            }
        }
    }
    return awaited;
}

/// The shortest way from a rank back to itself; empty: there is none.
std::vector<int> cycle_from(const std::vector<std::set<int>>& awaited, int start) {
    std::vector<int> before(awaited.size(), -1);
    std::vector<int> reached{start};
    for (std::size_t i = 0; i < reached.size(); ++i) {
        const int at = reached[i];
        for (const int next : awaited[static_cast<std::size_t>(at)]) {
            if (next == start) {
                std::vector<int> cycle;
                for (int each = at; each != start; each = before[static_cast<std::size_t>(each)]) {
                    cycle.push_back(each);
                }
                cycle.push_back(start);
                std::reverse(cycle.begin(), cycle.end());
                return cycle;
            }
            if (static_cast<std::size_t>(next) < awaited.size() &&
                before[static_cast<std::size_t>(next)] < 0) {
                before[static_cast<std::size_t>(next)] = at;
                reached.push_back(next);
            }
        }
    }
    return {};
}

std::string cycle_words(const job_states& job) {
    std::vector<std::set<int>> awaited;
    for (const rank_state& rank : job) {
        awaited.push_back(awaited_by(job, rank));
    }
    std::vector<int> shortest;
    for (const rank_state& rank : job) {
        std::vector<int> found = cycle_from(awaited, rank.rank);
        if (!found.empty() && (shortest.empty() || found.size() < shortest.size())) {
            shortest = std::move(found);
        }
    }
    if (shortest.empty()) {
        return "";
    }
    if (shortest.size() == 1) {
        return fmt::format("rank {} waits for itself\n", shortest.front());
    }
    std::string text = fmt::format("cycle of {} ranks: ", shortest.size());
    for (std::size_t i = 0; i < shortest.size(); ++i) {
        text += fmt::format("{}rank {} waits for rank {}", i == 0 ? "" : ", ", shortest[i],
                            shortest[(i + 1) % shortest.size()]);
    }
    return text + "\n";
}

}  // namespace

std::string describe(const std::vector<rank_state>& job) {
    std::string text = fmt::format(
        "quern: the job hangs: nothing runs in its {} ranks, and no message is on its way to a "
        "call "
        "that waits\n",
        job.size());
    for (std::size_t i = 0; i < std::min(job.size(), k_most_ranks); ++i) {
        text += job[i].is_finalised ? fmt::format("rank {} has called MPI_Finalize\n", i)
                                    : fmt::format("rank {}: {}", i, job[i].report);
    }
    if (job.size() > k_most_ranks) {
        text += fmt::format("and {} ranks more\n", job.size() - k_most_ranks);
    }
    return text + findings(job).text() + cycle_words(job) +
           "(--quern:hang-report=off keeps this quiet)\n";
}

}  // namespace quern::tool
