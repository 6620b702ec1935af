// SPDX-License-Identifier: BSL-1.0
// Follows the links of accesses that are not released, from a task that runs, waits or is held to
// all that waits for it. A link or task may vanish meanwhile: each is copied first, and a copy that
// makes no sense ends the walk or adds a wrong line.
#include "run/explain.hpp"

#include "run/ready_successors.hpp"

#include <quern/base/detail/peek.hpp>
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>
#include <unordered_set>
#include <vector>

namespace quern::detail {

namespace {

constexpr std::size_t k_most_named = 4;      ///< successors of a task that have lines of their own
constexpr std::size_t k_most_counted = 100;  ///< further ones, which are only counted
constexpr std::size_t k_most_accesses = 64;  ///< of a task that are looked at

/// The bytes of an object, which may change or be gone; no constructor has run.
template <class T>
class bytes_of {
public:
    explicit bytes_of(const T* at) noexcept
        : m_is_there(at != nullptr && copy_if_there(m_bytes, at, sizeof(T))) {}
    explicit operator bool() const noexcept { return m_is_there; }
    const T& operator*() const noexcept { return *reinterpret_cast<const T*>(m_bytes); }
    const T* operator->() const noexcept { return &**this; }

private:
    alignas(T) std::byte m_bytes[sizeof(T)];
    bool m_is_there;
};

std::string explained_region(const region& of) {
    std::array<char, 96> text{};
    const auto* const address = reinterpret_cast<const void*>(of.begin);
    constexpr const char* k_kinds[] = {"read", "write", "concurrent", "commutative", "reduction"};
    const auto which = static_cast<std::size_t>(of.kind);
    const char* const kind = which < std::size(k_kinds) ? k_kinds[which] : "strange";
    if (of.bytes == 0) {
        std::snprintf(text.data(), text.size(), "%s access to sentinel %p", kind, address);
    } else {
        std::snprintf(text.data(), text.size(), "%s access to %p (%zu bytes)", kind, address,
                      of.bytes);
    }
    return text.data();
}

/// The name that the user gave a task, in quotes, or "a task".
std::string explained_name(const dependent_task& copy) {
    std::string text;
    for (const char* at = copy.name; at != nullptr && text.size() < 60; ++at) {
        char next = 0;
        if (!copy_if_there(&next, at, 1) || next == '\0') {
            break;
        }
        text.push_back(next);
    }
    return text.empty() ? "a task" : "task '" + text + "'";
}

/// All that waits for one task.
class successors_of {
public:
    /// `who`: has not released the access.
    successors_of(const dependent_task& copy, const char* who, explanations& into)
        : m_who(who), m_into(into) {
        walk(copy.accesses(), true);
        while (!m_next.empty() && m_seen.size() < k_most_counted) {
            const bytes_of<dependent_task> each(m_next.back());
            m_next.pop_back();
            if (each) {
                walk(each->accesses(), false);
            }
        }
        say_how_many_more();
    }

private:
    void walk(std::span<access_record> accesses, bool is_direct) {
        for (std::size_t i = 0; i < std::min(accesses.size(), k_most_accesses); ++i) {
            const bytes_of<access_record> access(&accesses[i]);
            if (access) {
                walk_links(*access, is_direct);
            }
        }
    }

    void walk_links(const access_record& access, bool is_direct) {
        const dependence_link* at = access.successors.newest();
        for (std::size_t i = 0; at != nullptr && i < k_most_counted; ++i) {
            const bytes_of<dependence_link> link(at);
            const dependence_target* const to = link && link->is_used() ? &link->target() : nullptr;
            const bytes_of<dependence_target> target(to);
            if (!target) {
                return;
            }
            see(access, to, target->is_a, is_direct);
            at = link->next;
        }
    }

    void see(const access_record& access, const dependence_target* target,
             dependence_target::what is_a, bool is_direct) {
        if (is_a == dependence_target::what::waiter) {
            add(access, "the owner of the domain", nullptr);
        } else if (is_a == dependence_target::what::access ||
                   is_a == dependence_target::what::entry) {
            const bytes_of<access_record> of_parent(static_cast<const access_record*>(target));
            if (of_parent && m_parents_seen.insert(target).second) {
                walk_links(*of_parent, is_direct);
            }
        } else if (is_a == dependence_target::what::task && m_seen.insert(target).second) {
            const auto* const task = static_cast<const dependent_task*>(target);
            m_next.push_back(task);
            if (is_direct && m_named < k_most_named) {
                const bytes_of<dependent_task> copy(task);
                if (copy) {
                    ++m_named;
                    add(access, explained_name(*copy), copy->site);
                }
            }
        }
    }

    void add(const access_record& access, const std::string& who, const void* site) {
        m_into.push_back({std::string(m_who) + "has not released its " + explained_region(access) +
                              ", for which " + who + " waits",
                          site});
    }

    void say_how_many_more() {
        const std::size_t tasks = m_seen.size();
        if (tasks > m_named) {
            const std::size_t more = tasks - m_named;
            m_into.push_back(
                {(*m_who != '\0' ? "  " : "") +
                 std::string(tasks >= k_most_counted ? "at least " : "") + std::to_string(more) +
                 (more == 1 ? " further task waits" : " further tasks wait") + " for these"});
        }
    }

    const char* const m_who;
    explanations& m_into;
    std::unordered_set<const dependence_target*> m_seen;  ///< tasks
    std::unordered_set<const dependence_target*> m_parents_seen;
    std::vector<const dependent_task*> m_next;
    std::size_t m_named = 0;  ///< of m_seen
};

/// What is found of a domain and of those within its tasks.
struct domain_search {
    const domain_shared* wanted;
    std::vector<const dependent_task*> held{};
    struct parent {
        const dependent_task* task;
        std::uint64_t children;
    };
    std::vector<parent> parents{};
};

/// Domains of running and ended tasks live at least as long as the domains of their children.
bool is_within(const domain_shared& inner, const domain_shared* outer) noexcept {
    const domain_shared* at = &inner;
    while (at != outer && at->parent() != nullptr) {
        at = &at->parent()->home();
    }
    return at == outer;
}

void search_domain(listed_domain& listed, void* with) {
    auto& found = *static_cast<domain_search*>(with);
    auto& each = static_cast<domain_shared&>(listed);
    if (!is_within(each, found.wanted)) {
        return;
    }
    if (&each != found.wanted && each.parent() != nullptr && each.has_parent_ended() &&
        found.parents.size() < k_most_named) {
        found.parents.push_back({each.parent(), each.live_from_outside()});
    }
    for (std::size_t i = 0; i < held_notes::k_most; ++i) {
        const dependent_task* const task = each.held().at(i);
        if (task != nullptr && found.held.size() < held_notes::k_most) {
            found.held.push_back(task);
        }
    }
}

}  // namespace

void explain_dependent_task(const void* front_end, explanations& into) {
    const bytes_of<dependent_task> copy(
        dependent_task::from_front_end(const_cast<void*>(front_end)));
    if (copy) {
        successors_of(*copy, "", into);
    }
}

void explain_domain(const domain_shared* waited_for, explanations& into) {
    domain_search found{.wanted = waited_for};
    for_each_domain(search_domain, &found);
    for (const dependent_task* const each : found.held) {
        const bytes_of<dependent_task> copy(each);
        if (copy && copy->holds_left() != 0) {
            into.push_back({explained_name(*copy) + " has returned and is held, holds left: " +
                                std::to_string(copy->holds_left()),
                            copy->site});
            successors_of(*copy, "  it ", into);
        }
    }
    for (const domain_search::parent& each : found.parents) {
        const bytes_of<dependent_task> copy(each.task);
        if (copy) {
            into.push_back({explained_name(*copy) + " has returned, and children have not ended: " +
                                std::to_string(each.children),
                            copy->site});
            successors_of(*copy, "  it ", into);
        }
    }
}

void explain_waiter(const access_waiter& copy, explanations& into) {
    for (std::size_t i = 0; i < std::min(copy.wanted.size(), k_most_named); ++i) {
        const bytes_of<wanted_region> each(&copy.wanted[i]);
        if (each) {
            into.push_back({"wants a " + explained_region(each->row)});
        }
    }
    explain_domain(copy.of, into);
}

bool held_notes::add(const dependent_task& task, bool has_successors) noexcept {
    const std::size_t end = has_successors ? k_most : k_without_successors;
    for (std::size_t i = has_successors ? k_without_successors : 0; i < end; ++i) {
        const dependent_task* none = nullptr;
        if (m_tasks[i].load(std::memory_order_relaxed) == nullptr &&
            m_tasks[i].compare_exchange_strong(none, &task, std::memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

void held_notes::remove(const dependent_task& task) noexcept {
    for (auto& each : m_tasks) {
        if (each.load(std::memory_order_relaxed) == &task) {
            each.store(nullptr, std::memory_order_relaxed);
            return;
        }
    }
}

}  // namespace quern::detail
