// SPDX-License-Identifier: BSL-1.0
// Names of ids. Each name has a locality that knows it, by its hash; so no locality knows all. The
// functions of the table are called there, as tasks.
#include "localities_names.hpp"

#include <quern/compat/hpx/localities/lcos.hpp>
#include <quern/compat/hpx/localities/names.hpp>
#include <quern/localities/names.hpp>
#include <quern/task/promise.hpp>

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace hpx::detail {

namespace {

struct meeting {
    id_type barrier;
    std::size_t missing = 0;  ///< participants that have not asked for it
};

struct table_of_names {
    std::mutex lock;  // held for a few map operations
    std::map<std::string, id_type> known;
    std::map<std::string, std::vector<quern::promise<id_type>>> awaited;
    std::map<std::string, meeting> meetings;
};
table_of_names& names_here() {
    static table_of_names one;
    return one;
}

int home_of(const std::string& name) {
    namespace localities = quern::localities::detail;
    return localities::home_of_name(localities::job_for("register_name"), name, "register_name");
}

bool add_name(const std::string& name, const id_type& id) {
    std::vector<quern::promise<id_type>> waiting;
    {
        table_of_names& all = names_here();
        const std::scoped_lock lock(all.lock);
        if (!all.known.try_emplace(name, id).second) {
            return false;
        }
        if (const auto at = all.awaited.find(name); at != all.awaited.end()) {
            waiting = std::move(at->second);
            all.awaited.erase(at);
        }
    }
    for (quern::promise<id_type>& each : waiting) {
        each.set_value(id);
    }
    return true;
}

id_type remove_name(const std::string& name) {
    table_of_names& all = names_here();
    const std::scoped_lock lock(all.lock);
    const auto at = all.known.find(name);
    if (at == all.known.end()) {
        return {};
    }
    id_type id = std::move(at->second);
    all.known.erase(at);
    return id;
}

id_type look_up(const std::string& name) {
    table_of_names& all = names_here();
    const std::scoped_lock lock(all.lock);
    const auto at = all.known.find(name);
    return at != all.known.end() ? at->second : id_type();
}

/// Waits.
id_type await_name(const std::string& name) {
    quern::future<id_type> later;
    {
        table_of_names& all = names_here();
        const std::scoped_lock lock(all.lock);
        if (const auto at = all.known.find(name); at != all.known.end()) {
            return at->second;
        }
        later = all.awaited[name].emplace_back().get_future();
    }
    return later.get();
}

id_type meet_here(const std::string& name, std::uint64_t participants) {
    table_of_names& all = names_here();
    const std::scoped_lock lock(all.lock);
    const auto [at, is_first] = all.meetings.try_emplace(name);
    if (is_first) {
        at->second = {id_type(detail::make_component_here<barrier_server>(participants)),
                      static_cast<std::size_t>(participants)};
    }
    id_type found = at->second.barrier;
    if (--at->second.missing == 0) {
        all.meetings.erase(at);
    }
    return found;
}

}  // namespace

void forget_names() noexcept {
    table_of_names& all = names_here();
    const std::scoped_lock lock(all.lock);
    all.known.clear();
    all.awaited.clear();
    all.meetings.clear();
}

quern::future<bool> register_id(std::string name, const id_type& id) {
    const int home = home_of(name);
    return quern::localities::run_at(home, &add_name, std::move(name), id);
}
quern::future<id_type> unregister_id(std::string name) {
    const int home = home_of(name);
    return quern::localities::run_at(home, &remove_name, std::move(name));
}
quern::future<id_type> resolve_id(std::string name) {
    const int home = home_of(name);
    return quern::localities::run_at(home, &look_up, std::move(name));
}
quern::future<id_type> find_id(std::string name) {
    const int home = home_of(name);
    return quern::localities::run_at(home, &await_name, std::move(name));
}

std::string name_in_series(const std::string& base, std::size_t number) {
    return "series/" + base + "/" +
           std::to_string(number == k_own_number ? hpx::get_locality_id() : number);
}

future<id_type> meet_at_barrier(const std::string& name, std::size_t participants) {
    if (participants == 0) {
        throw exception(error::bad_parameter, "a barrier '" + name + "' of no participants");
    }
    std::string key = name + "/" + std::to_string(participants);
    const int home = home_of(key);
    return detail::arrived(
        quern::localities::run_at(home, &meet_here, std::move(key), std::uint64_t{participants}));
}

}  // namespace hpx::detail

namespace hpx::distributed {

void barrier::synchronize() { barrier("hpx/all").wait(); }

}  // namespace hpx::distributed
