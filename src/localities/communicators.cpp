// SPDX-License-Identifier: BSL-1.0
// How the members of a communicator find each other, and its operations their letters.
#include "communicators.hpp"

#include "job.hpp"
#include "own_refusal.hpp"

#include <quern/localities/communicator.hpp>
#include <quern/localities/names.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

namespace quern::localities::detail {

namespace {

std::string list_of(const std::vector<int>& numbers) {
    std::string words;
    for (const int each : numbers) {
        words += (words.empty() ? "" : ", ") + std::to_string(each);
    }
    return words;
}

bool has(const std::vector<int>& list, int one) {
    return std::find(list.begin(), list.end(), one) != list.end();
}

void require_members(job& of, const std::string& key, const std::vector<int>& members) {
    const auto refuse = [&](const std::string& why) {
        throw std::invalid_argument("quern: localities::communicator '" + key + "' of localities " +
                                    detail::list_of(members) + ": " + why);
    };
    for (std::size_t i = 0; i < members.size(); ++i) {
        static_cast<void>(detail::is_here(of, members[i], "communicator"));
        if (std::find(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(i),
                      members[i]) != members.begin() + static_cast<std::ptrdiff_t>(i)) {
            refuse("locality " + std::to_string(members[i]) + " is there twice");
        }
    }
    if (!detail::has(members, of.here())) {
        refuse("locality " + std::to_string(of.here()) +
               ", which makes it, is not there; accepted: members only");
    }
}

communicator_name join_here(const std::string& key, const std::vector<int>& members, int caller) {
    return detail::job_for("communicator").communicators().join(key, members, caller);
}

}  // namespace

void communicator_core::join(const std::string& key, const std::vector<int>& members) {
    m_key = key;
    m_members = members;
    m_place = place_of(m_job.here());
}

int communicator_core::place_of(int locality) const noexcept {
    const auto at = std::find(m_members.begin(), m_members.end(), locality);
    return at != m_members.end() ? static_cast<int>(at - m_members.begin()) : -1;
}

std::shared_ptr<operation> communicator_core::at(std::uint64_t number) {
    std::shared_ptr<operation>& one = m_open[number];
    if (!one) {
        one = std::make_shared<operation>(shared_from_this(), number);
    }
    return one;
}

std::shared_ptr<operation> communicator_core::begin(collective_kind what) {
    const std::scoped_lock lock(m_lock);
    if (m_session_has_ended) {
        throw std::logic_error(
            "quern: localities: an operation of a communicator of a session that has ended; "
            "accepted: one that was made in the present session");
    }
    std::shared_ptr<operation> one = at(m_begun);
    ++m_begun;
    one->begins(what);
    return one;
}

std::shared_ptr<operation> communicator_core::find(std::uint64_t number) {
    const std::scoped_lock lock(m_lock);
    if (number >= m_begun) {
        return at(number);
    }
    const auto known = m_open.find(number);
    return known != m_open.end() ? known->second : nullptr;
}

/// Under the lock: its session waits for that at its end, so the job is alive.
void communicator_core::leave_if_unused() noexcept {
    if (m_is_released && m_open.empty() && !m_session_has_ended) {
        m_job.communicators().forget(m_name);
    }
}

void communicator_core::end(const operation& one) noexcept {
    std::shared_ptr<operation> ended;  // its letters end without the lock
    const std::scoped_lock lock(m_lock);
    if (const auto known = m_open.find(one.number()); known != m_open.end()) {
        ended = std::move(known->second);
        m_open.erase(known);
    }
    leave_if_unused();
}

void communicator_core::release() noexcept {
    const std::scoped_lock lock(m_lock);
    m_is_released = true;
    leave_if_unused();
}

void communicator_core::end_session() noexcept {
    operations ended;
    const std::scoped_lock lock(m_lock);
    m_session_has_ended = true;
    ended.swap(m_open);
}

communicator_name communicator_table::join(const std::string& key, const std::vector<int>& members,
                                           int caller) {
    const std::scoped_lock lock(m_lock);
    std::vector<joining>& open = m_keys[key];
    auto own = std::find_if(open.begin(), open.end(), [&](const joining& each) {
        return detail::has(each.members, caller) && !detail::has(each.joined, caller);
    });
    if (own == open.end()) {
        own = open.insert(own, {++m_made, members, {}});
    } else if (own->members != members) {
        throw std::invalid_argument(
            "quern: localities::communicator '" + key + "': locality " + std::to_string(caller) +
            " makes it of localities " + detail::list_of(members) + ", and locality " +
            std::to_string(own->joined.front()) + " has made it of " +
            detail::list_of(own->members) + "; accepted: the same at all of them");
    }
    own->joined.push_back(caller);
    const communicator_name name{static_cast<std::uint64_t>(m_job.here()), own->serial};
    if (own->joined.size() == own->members.size()) {
        open.erase(own);
    }
    if (open.empty()) {
        m_keys.erase(key);
    }
    return name;
}

std::shared_ptr<communicator_core> communicator_table::find(communicator_name name) {
    const std::scoped_lock lock(m_lock);
    std::shared_ptr<communicator_core>& one = m_known[name];
    if (!one) {
        one = std::make_shared<communicator_core>(m_job, name);
    }
    return one;
}

void communicator_table::forget(communicator_name name) noexcept {
    const std::scoped_lock lock(m_lock);
    m_known.erase(name);
}

void communicator_table::clear() noexcept {
    decltype(m_known) known;
    {
        const std::scoped_lock lock(m_lock);
        known.swap(m_known);
        m_keys.clear();
    }
    for (auto& [name, one] : known) {
        one->end_session();  // waits for those that leave
    }
}

communicator_handle::communicator_handle(const std::string& key, const std::vector<int>& members) {
    job& of = detail::job_for("communicator");
    const int home = detail::home_of_name(of, key, "communicator");
    detail::require_members(of, key, members);
    const communicator_name name =
        detail::get_or_refuse(localities::run_at(home, &join_here, key, members, of.here()));
    m_core = of.communicators().find(name);
    m_core->join(key, members);
}

communicator_handle::~communicator_handle() { m_core->release(); }

const std::string& communicator_handle::key() const noexcept { return m_core->key(); }
const std::vector<int>& communicator_handle::members() const noexcept { return m_core->members(); }
job& communicator_handle::its_job() const noexcept { return m_core->its_job(); }

begun_operation communicator_handle::begin(collective what) const {
    return begun_operation(m_core->begin({what, -1}));
}

begun_operation communicator_handle::begin(collective what, int root) const {
    const int place = m_core->place_of(root);
    if (place < 0) {
        throw std::out_of_range("quern: localities::communicator '" + key() + "': root " +
                                std::to_string(root) + "; accepted: its members, " +
                                detail::list_of(members()));
    }
    return begun_operation(m_core->begin({what, place}));
}

begun_operation::~begun_operation() {
    if (m_operation) {
        m_operation->ends();
    }
}

}  // namespace quern::localities::detail
