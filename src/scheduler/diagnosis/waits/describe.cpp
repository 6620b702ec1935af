// SPDX-License-Identifier: BSL-1.0
// Text of a report: a line for each waiter, one line for equal waiters, and the cycles of waiters
// of which each waits for a thing that the next one holds.
#include "diagnosis/waits/report_parts.hpp"

#include <quern/base/detail/symbols.hpp>
#include <quern/base/detail/text.hpp>
#include <quern/scheduler/detail/site_words.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <tuple>

namespace quern::detail {

namespace {

constexpr std::size_t k_longest_list = 100;  ///< lines; keeps a report readable

std::string hex(const void* address) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%p", address);
    return text.data();
}

std::string seconds(double value) { return fixed(value, value < 10 ? 1 : 0) + " s"; }

/// The place of a coroutine by the function that resumes it. gcc adds an internal argument to that
/// function, "send(send(int)::_Z4sendi.Frame*) [clone .actor] at x.cpp:3", which is removed here.
std::string describe_coroutine(const void* resumes) {
    std::string text = describe_site(resumes);
    const std::size_t end = text.find(".Frame*)");
    std::size_t open = end;
    for (int depth = 1; depth != 0 && open != std::string::npos && open != 0;) {
        --open;
        depth += text[open] == ')' ? 1 : text[open] == '(' ? -1 : 0;
    }
    if (end != std::string::npos && open != 0) {
        const std::size_t place = text.find(" at ", end);
        text.erase(open, (place == std::string::npos ? text.size() : place) - open);
    }
    return text;
}

/// Waiters form a group if they are equal in everything except the address of the thing that they
/// wait for. The address counts too if the thing has a holder.
using group_key = std::tuple<std::string, std::string, pid_t, const void*, const void*, sighted,
                             const wait_kind*, std::string, int, const void*, std::string>;

group_key key_of(const sighting& s, const std::string& calls) {
    const void* thing = s.holder != sighting::k_no_holder ? s.thing : nullptr;
    std::string outer;
    for (const seen_task& each : s.outer) {
        outer += each.name + hex(each.site);
    }
    outer += s.is_inlined ? "inlined" : "";
    for (const explanation& each : s.more) {
        outer += each.text + hex(each.site);
    }
    return {s.task.name,  s.where, s.thread,     s.task.site,
            s.task.entry, s.what,  s.kind,       std::string(s.found.words.data()),
            s.holder,     thing,   outer + calls};
}

class report {
public:
    report(const std::vector<sighting>& all, const char* tasks_are)
        : m_all(all), m_tasks_are(tasks_are) {
        std::map<group_key, std::size_t> groups;
        for (std::size_t i = 0; i < all.size(); ++i) {
            m_calls.push_back(describe_calls(all[i]));
            const auto [at, is_new] =
                groups.try_emplace(key_of(all[i], m_calls[i]), m_shown.size());
            if (is_new) {
                m_shown.push_back(i);
                m_count.push_back(0);
            }
            m_count[at->second] += all[i].count;
            m_group.push_back(at->second);
        }
    }

    std::string text() const {
        std::string text = heading();
        for (std::size_t g = 0; g < std::min(m_shown.size(), k_longest_list); ++g) {
            text += "  " + line(g) + "\n" + m_calls[m_shown[g]] + origin(m_all[m_shown[g]]) +
                    explained(m_all[m_shown[g]]);
        }
        if (m_shown.size() > k_longest_list) {
            text += "  and " + std::to_string(m_shown.size() - k_longest_list) + " lines more\n";
        }
        for (const std::vector<std::size_t>& cycle : cycles()) {
            text += describe_cycle(cycle) + "\n";
        }
        if (const std::string_view why = why_no_lines(); !why.empty() && !m_shown.empty()) {
            text.append("no lines are known: ").append(why).append("\n");
        }
        return text;
    }

private:
    std::uint64_t count(sighted what) const {
        std::uint64_t sum = 0;
        for (const sighting& each : m_all) {
            sum += each.what == what ? each.count : 0;
        }
        return sum;
    }

    std::string heading() const {
        const std::uint64_t tasks = count(sighted::task) + count(sighted::coroutine);
        const std::uint64_t blocked = count(sighted::blocked);
        const std::uint64_t threads = count(sighted::outside);
        std::string text =
            std::to_string(tasks) + (tasks == 1 ? " task is " : " tasks are ") + m_tasks_are;
        if (blocked != 0) {
            text += (threads == 0 ? " and " : ", ") + std::to_string(blocked) +
                    (blocked == 1 ? " blocks its worker" : " block their workers");
        }
        if (threads != 0) {
            text += " and " + std::to_string(threads) +
                    (threads == 1 ? " thread outside waits" : " threads outside wait");
        }
        return text + (m_all.empty() ? "\n" : ":\n");
    }

    /// The youngest calls of the program's own functions at the wait, a line each. If some calls
    /// have a source line, the calls without one are left out: they belong to the system.
    std::string describe_calls(const sighting& s) {
        constexpr std::size_t k_most = 4;
        std::vector<const std::string*> shown;
        bool has_lines = false;
        for (const void* address : s.calls) {
            auto [known, is_new] = m_known_calls.try_emplace(address);
            if (is_new) {
                known->second = describe_call(address);
            }
            for (const std::string& call : known->second) {
                const bool has_line = call.find(" at ") != std::string::npos;
                if (has_line && !has_lines) {
                    shown.clear();
                    has_lines = true;
                }
                if (has_line == has_lines && shown.size() < k_most) {
                    shown.push_back(&call);
                }
            }
        }
        std::string text;
        for (const std::string* call : shown) {
            text += (text.empty() ? "     waits in " : "       called in ") + *call + "\n";
        }
        return text;
    }

    std::string number(std::size_t index) const { return "#" + std::to_string(m_group[index] + 1); }

    std::string subject(std::size_t index) const {
        const sighting& s = m_all[index];
        if (s.what == sighted::outside || s.what == sighted::foreign) {
            const std::string name =
                s.thread_name.empty() ? "" : " '" + one_line(s.thread_name) + "'";
            return number(index) + " thread " + std::to_string(s.thread) + name + " outside";
        }
        const char* const is = s.what == sighted::coroutine ? " coroutine"
                               : s.what == sighted::poller  ? " poller"
                                                            : " task";
        return number(index) + is + name_of(s.task);
    }

    /// A name that ends with " in" is completed by the function of the site: "task in solve".
    static std::string name_of(const seen_task& task) {
        const bool is_complete = task.site == nullptr || !task.name.ends_with(" in");
        const std::string rest =
            is_complete ? "" : " " + split_place(describe_site(task.site)).name;
        const std::string name = task.name.empty() ? "" : " '" + one_line(task.name + rest) + "'";
        return name + (task.id != 0 ? " (id " + std::to_string(task.id) + ")" : "");
    }

    std::string line(std::size_t g) const {
        const std::size_t index = m_shown[g];
        const sighting& s = m_all[index];
        std::string text = subject(index);
        if (!s.where.empty() && s.where != "default") {
            text += " of pool '" + s.where + "'";
        }
        if (s.what == sighted::foreign) {
            return text + " may wake one: it " + s.doing;
        }
        if (s.what == sighted::poller) {
            return text + " may wake one: " + s.doing;
        }
        if (s.what == sighted::blocked) {
            return text + " blocks its worker: thread " + std::to_string(s.thread) + " " + s.doing +
                   "; use blocking_region, or quern::mutex for a lock";
        }
        if (s.kind == nullptr) {
            return text + " waits, for what was not noted" + more(m_count[g]);
        }
        text += (s.what == sighted::coroutine ? " waits at most " : " waits ") +
                seconds(s.seconds) + " for " + s.kind->name;
        const bool has_address = s.thing != nullptr && !s.kind->is_call;
        if (has_address) {
            text += " " + hex(s.thing);
        }
        if (s.found.words[0] != '\0') {
            text += (s.kind->is_call ? " " : ": ") + std::string(s.found.words.data());
        }
        return text + held_by(index) + more(m_count[g]);
    }

    static std::string more(std::uint64_t count) {
        return count > 1 ? "; and " + std::to_string(count - 1) + " more like it" : "";
    }

    static std::string origin(const sighting& s) {
        std::string text = origin(s.task, s.what == sighted::coroutine);
        for (const seen_task& each : s.outer) {
            const std::string name = name_of(each);
            text += "     runs in the place of " + (name.empty() ? "a task" : "task" + name) +
                    ", which waits for it\n";
            text += origin(each, false);
        }
        if (s.is_inlined) {
            text += s.what == sighted::blocked
                        ? "     inlined into its parent, which cannot continue meanwhile\n"
                        : "     inlined into its parent\n";
        }
        return text;
    }

    static std::string explained(const sighting& s) {
        constexpr std::size_t k_deepest = 8;  // spaces
        std::string text;
        for (std::size_t i = 0; i < s.more.size();) {
            const explanation& each = s.more[i];
            std::uint64_t equal = 0;
            for (; i < s.more.size() && s.more[i] == each; ++i) {
                ++equal;
            }
            text += "     " + each.text + more(equal) + "\n";
            if (each.site != nullptr) {
                const std::size_t depth = std::min(each.text.find_first_not_of(' '), k_deepest);
                text +=
                    std::string(depth, ' ') + "       made in " + describe_site(each.site) + "\n";
            }
        }
        return text;
    }

    static std::string origin(const seen_task& task, bool is_coroutine) {
        std::string text;
        if (task.site != nullptr) {
            text = "     made in " + describe_site(task.site) + "\n";
        }
        if (task.entry != nullptr && is_coroutine) {
            text += "     waits in " + describe_coroutine(task.entry) + "\n";
        } else if (task.entry != nullptr && text.empty()) {
            text = "     runs " + describe_entry(task.entry) + "\n";
        }
        return text;
    }

    std::string held_by(std::size_t index) const {
        const int holder = m_all[index].holder;
        if (holder >= 0) {
            return m_all[index].is_result ? made_by(index) : locked_by(index);
        }
        return holder == sighting::k_outside     ? ", held by a thread outside"
               : holder == sighting::k_running   ? ", held by a task that can run"
               : holder == sighting::k_coroutine ? ", held by a coroutine"
               : holder == sighting::k_ended
                   ? ", held by a task that has ended without letting go of it"
               : holder == sighting::k_other ? ", held by a task of another runtime"
                                             : "";
    }

    std::string other(std::size_t index, const char* itself) const {
        const auto holder = static_cast<std::size_t>(m_all[index].holder);
        return holder == index ? itself : subject(holder);
    }

    /// If another task runs in the maker's place, the result is made where that other task is.
    std::string made_by(std::size_t index) const {
        const sighting& s = m_all[index];
        if (s.depth == 0) {
            return ", made by " + other(index, "itself");
        }
        const auto& outer = m_all[static_cast<std::size_t>(s.holder)].outer;
        return ", made by task" + name_of(outer[s.depth - 1]) + ", in whose place " +
               other(index, "it") + " runs";
    }

    /// It is unknown whether the holder or a task in whose place it runs has locked it.
    std::string locked_by(std::size_t index) const {
        const bool has_outer = !m_all[static_cast<std::size_t>(m_all[index].holder)].outer.empty();
        return ", held by " + other(index, "itself") +
               (has_outer ? " or one in whose place it runs" : "");
    }

    /// Every cycle once, beginning with its first member.
    std::vector<std::vector<std::size_t>> cycles() const {
        std::vector<std::vector<std::size_t>> found;
        std::vector<std::size_t> seen_from(m_all.size(), m_all.size());  // none yet
        for (std::size_t start = 0; start < m_all.size(); ++start) {
            std::vector<std::size_t> path;
            std::size_t at = start;
            while (seen_from[at] == m_all.size()) {
                seen_from[at] = start;
                path.push_back(at);
                if (m_all[at].holder < 0) {
                    break;
                }
                at = static_cast<std::size_t>(m_all[at].holder);
            }
            const auto again = std::find(path.begin(), path.end(), at);
            if (m_all[at].holder >= 0 && again != path.end() && path.end() - again > 1) {
                found.emplace_back(again, path.end());
            }
        }
        return found;
    }

    std::string describe_cycle(const std::vector<std::size_t>& cycle) const {
        const bool of_locks = std::none_of(cycle.begin(), cycle.end(), [this](std::size_t index) {
            return m_all[index].is_result;
        });
        std::string text =
            "cycle of " + std::to_string(cycle.size()) + (of_locks ? " locks: " : ": ");
        for (std::size_t i = 0; i < cycle.size(); ++i) {
            text += (i == 0 ? "" : ", ") + number(cycle[i]) + " waits for " +
                    number(cycle[(i + 1) % cycle.size()]);
        }
        return text;
    }

    const std::vector<sighting>& m_all;
    const char* m_tasks_are;
    std::vector<std::size_t> m_group;  ///< the group of each sighting
    std::vector<std::size_t> m_shown;  ///< the first sighting of each group
    std::vector<std::string> m_calls;  ///< the text for each sighting
    std::map<const void*, std::vector<std::string>> m_known_calls;
    std::vector<std::uint64_t> m_count;  ///< tasks or threads in each group
};

}  // namespace

std::string describe(const std::vector<sighting>& all, const char* tasks_are) {
    return report(all, tasks_are).text();
}

}  // namespace quern::detail
