// SPDX-License-Identifier: BSL-1.0
// Names of global objects: publish, find and unpublish, at the locality that knows a name.
#include "names.hpp"

#include "job.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/localities/names.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace quern::localities {

namespace detail {

namespace {

/// A find() that waits so long says so.
constexpr std::chrono::seconds k_patience{10};
/// Most names of a locality that it says.
constexpr std::size_t k_most_names = 20;

name_table& names_here(const char* function) { return detail::job_for(function).names(); }

/// "accepted: 'a', 'b'; did you mean 'a'?"
std::string names_of_all(const std::string& wanted) {
    std::vector<future<std::vector<std::string>>> asked;
    for (const int each : localities::all()) {
        asked.push_back(localities::run_at(each, [] { return names_here("find").all(); }));
    }
    std::vector<std::string> names;
    for (auto& each : asked) {
        std::vector<std::string> some = each.get();
        std::move(some.begin(), some.end(), std::back_inserter(names));
    }
    std::sort(names.begin(), names.end());
    const std::vector<std::string_view> words(names.begin(), names.end());
    return names.empty() ? "there are no names" : quern::detail::accepted_values(wanted, words);
}

void say_that_it_waits(const std::string& name, int caller) {
    const std::string others = names_of_all(name);
    std::fprintf(stderr,
                 "quern: locality %d has waited for %lld s for a global object with the name '%s', "
                 "which is not published; %s\n",
                 caller, static_cast<long long>(k_patience.count()), name.c_str(), others.c_str());
}

}  // namespace

void name_table::publish(const std::string& name, object_reference one) {
    const std::scoped_lock lock(m_lock);
    std::unique_ptr<entry>& its = m_entries[name];
    if (!its) {
        its = std::make_unique<entry>();
    }
    if (its->one.refers()) {
        const object_name taken = its->one.name();
        throw std::invalid_argument(
            "quern: localities::publish: the name '" + name + "' is that of the global object " +
            std::to_string(taken.serial) + " of locality " + std::to_string(taken.home) +
            "; accepted: another name, or unpublish it before");
    }
    its->one = std::move(one);
    its->published.notify_all();
}

bool name_table::unpublish(const std::string& name) {
    object_reference ended;  // it may end the object: without the lock
    const std::scoped_lock lock(m_lock);
    const auto at = m_entries.find(name);
    if (at == m_entries.end() || !at->second->one.refers()) {
        return false;
    }
    std::swap(ended, at->second->one);
    if (at->second->waiting == 0) {
        m_entries.erase(at);
    }
    return true;
}

object_reference name_table::find(const std::string& name,
                                  std::optional<std::chrono::seconds> patience) {
    std::unique_lock lock(m_lock);
    std::unique_ptr<entry>& its = m_entries[name];
    if (!its) {
        its = std::make_unique<entry>();
    }
    entry& one = *its;
    const auto is_there = [&one] { return one.one.refers(); };
    ++one.waiting;
    patience ? static_cast<void>(one.published.wait_for(lock, *patience, is_there))
             : one.published.wait(lock, is_there);
    object_reference found = one.one;
    if (--one.waiting == 0 && !found.refers()) {
        m_entries.erase(name);
    }
    return found;
}

std::vector<std::string> name_table::all() {
    const std::scoped_lock lock(m_lock);
    std::vector<std::string> names;
    for (const auto& [name, its] : m_entries) {
        if (its->one.refers() && names.size() < k_most_names) {
            names.push_back(name);
        }
    }
    return names;
}

void name_table::clear() noexcept { m_entries.clear(); }

/// FNV-1a: the same at all localities.
int home_of_name(const job& of, const std::string& name, const char* function) {
    if (name.empty()) {
        throw std::invalid_argument(std::string("quern: localities::") + function +
                                    " of an empty name; accepted: one of at least one character");
    }
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (const char each : name) {
        hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001B3ULL;
    }
    return static_cast<int>(hash % static_cast<std::uint64_t>(of.count()));
}

void publish_here(const std::string& name, object_reference one) {
    names_here("publish").publish(name, std::move(one));
}

object_reference find_here(const std::string& name, int caller) {
    name_table& names = names_here("find");
    object_reference found = names.find(name, k_patience);
    if (!found.refers()) {
        detail::say_that_it_waits(name, caller);
        found = names.find(name, std::nullopt);
    }
    return found;
}

bool unpublish_here(const std::string& name) { return names_here("unpublish").unpublish(name); }

}  // namespace detail

future<bool> unpublish(std::string name) {
    const int home = detail::home_of_name(detail::job_for("unpublish"), name, "unpublish");
    return localities::run_at(home, &detail::unpublish_here, std::move(name));
}

}  // namespace quern::localities
