// SPDX-License-Identifier: BSL-1.0
// Renaming, only at the time of creation: README.md, "Renaming". All by the owner of the object.
#include <quern/dependences/detail/renamed_core.hpp>

#include <quern/base/detail/assert.hpp>
#include <quern/dependences/detail/spawn.hpp>
#include <quern/scheduler/detail/branches.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/task/this_task.hpp>

#include "renaming/renaming_budget.hpp"
#include "run/limits.hpp"
#include "run/pool_look.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::detail {

namespace {

constexpr std::size_t k_every = std::numeric_limits<std::size_t>::max();

/// Of one object: less than a core's nearest cache has. With 1 MiB of versions of 8 KiB the tasks
/// of a ring took 2.6 times the time that they took with two buffers.
constexpr std::size_t k_bytes_ahead = std::size_t{32} << 10;
constexpr std::size_t k_versions_ahead = 4096;  // of tiny objects (guessed)
constexpr std::size_t k_kept_spare = 1;

const task_record* task_of_caller() noexcept {
    context* const here = current_context();
    return here != nullptr ? &here->root().task() : nullptr;
}

strided_region region_of(const version& one, access_kind kind) noexcept {
    return region{one.begin, one.bytes, kind, one.bytes == 0};
}

}  // namespace

// -- owner and domain --------------------------------------------------------------------------

renamed_core::renamed_core() noexcept
    : m_owner(task_of_caller()), m_owner_thread(std::this_thread::get_id()) {}

bool renamed_core::is_owned_here() const noexcept {
    return task_of_caller() == m_owner &&
           (m_owner != nullptr || std::this_thread::get_id() == m_owner_thread);
}

void renamed_core::refuse_stranger(const char* function) const {
    throw std::logic_error(std::string("quern: ") + function +
                           " was asked for by a task or thread that did not make the object: "
                           "children name the data of the version that their parent got");
}

void renamed_core::require_no_other(const domain_core& home) const {
    if (m_home != nullptr && m_home != &home) {
        throw std::logic_error(
            "quern: a renamed object is used in two domains: the taskwait() of the first one comes "
            "before the first use in the second one");
    }
}

/// The first use since the last wait. The program may have given the object another size.
void renamed_core::enter(domain_core& home) {
    const std::size_t limit = renaming_limit();
    version now;
    find_users(now);
    const std::size_t cost_now = cost();
    if (limit != 0 && cost_now > limit) {
        throw std::invalid_argument("quern: renaming-bytes is " + std::to_string(limit) +
                                    ", smaller than one version of a renamed object, " +
                                    std::to_string(cost_now) +
                                    " bytes; accepted: as much or more, or 0 to rename nothing");
    }
    if (cost_now != m_cost || now.bytes != m_users.bytes) {
        free_all_but(0);
    }
    m_users = now;
    m_cost = cost_now;
    m_most_ahead = std::clamp(k_bytes_ahead / std::max<std::size_t>(m_cost, 1),
                              home.home_pool().size() + std::size_t{2}, k_versions_ahead);
    m_trusted = 0;
    m_named_by = -1;
    m_home = &home;
    home.renamed().push_back(*this);
}

/// The memory of a version is given up.
void renamed_core::forget_if_watched(const version& one) const noexcept {
    if (m_home != nullptr && checks_accesses()) {
        forget_watched(m_home->root().checks(), one.begin, one.bytes);
    }
}

void renamed_core::leave() noexcept {
    forget_if_watched(m_users);
    forget_if_watched(*m_current);
    for (version* each = m_old.front(); each != nullptr; each = m_old.after(*each)) {
        forget_if_watched(*each);
    }
    intrusive_list<renamed_core>::erase(*this);
    m_home = nullptr;
}

// -- the version of an access ------------------------------------------------------------------

region renamed_core::resolve(access_kind kind, bool needs_value, domain_core& home) {
    require_no_other(home);
    if (m_home == nullptr) {
        enter(home);
    } else if (m_current == &m_users) {
        require_same_place();
    }
    if (!home.runs_in_place() && m_named_by == home.next_task()) {
        throw std::invalid_argument(
            "quern: spawn: a task names a renamed object twice; inout(r) reads and writes it");
    }
    m_before = nullptr;
    if (kind == access_kind::write && m_users.bytes != 0) {
        rename(needs_value);
    }
    m_named_by = home.next_task();
    return region_of_current(kind);
}

void renamed_core::undo(const domain_core& home, std::int64_t task) noexcept {
    if (m_home != &home || m_named_by != task) {
        return;  // it was not named, or all tasks have been waited for
    }
    m_named_by = -1;
    if (version* const before = std::exchange(m_before, nullptr)) {
        retire(*std::exchange(m_current, take(*before)));
    }
}

/// After a taskwait(on()) the program may have changed the object.
void renamed_core::require_same_place() const {
    version now;
    find_users(now);
    if (now.begin != m_users.begin || now.bytes != m_users.bytes) {
        throw std::logic_error(
            "quern: a renamed container has another size or place than at its first use: it may "
            "get one only after taskwait()");
    }
}

region renamed_core::region_of_current(access_kind kind) const noexcept {
    return region_of(*m_current, kind);
}

region_use renamed_core::use_of(const version& one) const {
    return m_home->map().use_of(region_of(one, access_kind::write));
}

/// Makes another version current, if tasks use the present one and there is another.
void renamed_core::rename(bool needs_value) {
    const region_use now = use_of(*m_current);
    if (now == region_use::none || (needs_value && now != region_use::read) ||
        renaming_limit() == 0) {
        return;
    }
    version* const fresh = find_version(!needs_value);
    if (fresh == nullptr) {
        return;
    }
    // The search may have waited for the readers.
    if (use_of(*m_current) == region_use::none || (needs_value && !is_copied_to(*fresh))) {
        retire(*fresh);
        return;
    }
    m_before = m_current;
    retire(*std::exchange(m_current, fresh));
    count_version();
}

/// By a task, which follows the writer of the current version.
bool renamed_core::is_copied_to(version& fresh) {
    const version& from = *m_current;
    const auto to_read = region_of(from, access_kind::read);
    const auto to_write = region_of(fresh, access_kind::write);
    const std::int64_t task = m_home->next_task();
    bool is_spawned = true;
    try {
        detail::spawn_in(*m_home,
                         task_attributes{.name = "copy of renamed",
                                         .rank = std::numeric_limits<std::int16_t>::max(),
                                         .site = detail::code_address()},
                         access<void>{{to_read}}, access<void>{{to_write}},
                         [this, &from, &fresh] { copy(from, fresh); });
    } catch (const std::bad_alloc&) {
        is_spawned = false;  // or it was dropped
    }
    m_home->note_copies(m_home->next_task() - task);
    return is_spawned;
}

// -- versions ----------------------------------------------------------------------------------

/// Null: the current version has to do. It may return one that is in use: the map has its task
/// wait.
version* renamed_core::find_version(bool may_wait_for_readers) {
    constexpr std::size_t k_looks = 16;  // the oldest are released first, as a rule
    if (version* const found = take_idle(k_looks)) {
        return found;
    }
    if (m_old_versions >= m_most_ahead && tasks_follow()) {
        version* const found = take_idle(k_looks);
        return found != nullptr ? found : take(*m_old.front());
    }
    for (const bool has_waited : {false, true}) {
        if (has_waited) {
            let_others_run(m_home->home_pool(), busy_bytes, this,
                           static_cast<std::int64_t>(renaming_limit() / 2));
            if (version* const found = take_idle(k_every)) {
                return found;
            }
        }
        if (version* const found = take_new()) {
            return found;
        }
        free_idle_of_others();
        if (version* const found = take_new()) {
            return found;
        }
    }
    return may_wait_for_readers && !m_old.empty() ? take(*m_old.front()) : nullptr;
}

/// Far ahead of the tasks: whether they run, so that their turn comes without further versions.
/// Otherwise readers are suspended, and further versions are worth their memory.
bool renamed_core::tasks_follow() {
    constexpr int k_yields = 16;
    constexpr std::uint32_t k_seen = 256;  // versions until the next look
    if (m_trusted > 0) {
        --m_trusted;
        return true;
    }
    for (int i = 0; i < k_yields; ++i) {
        this_task::yield();
        if (use_of(*m_old.front()) == region_use::none) {
            m_trusted = k_seen;
            return true;
        }
    }
    return !pool_look(m_home->home_pool()).nothing_runs();
}

version* renamed_core::take(version& old) noexcept {
    intrusive_list<version>::erase(old);
    --m_old_versions;
    return &old;
}

void renamed_core::retire(version& one) noexcept {
    m_old.push_back(one);
    ++m_old_versions;
}

version* renamed_core::take_idle(std::size_t looks) {
    for (version* each = m_old.front(); each != nullptr && looks > 0; each = m_old.after(*each)) {
        if (use_of(*each) == region_use::none) {
            return take(*each);
        }
        --looks;
    }
    return nullptr;
}

version* renamed_core::take_new() {
    if (!reserve_renamed(m_cost)) {
        return nullptr;
    }
    try {
        return make();
    } catch (const std::bad_alloc&) {
        return_renamed(m_cost);
        return nullptr;
    } catch (...) {
        return_renamed(m_cost);
        throw;
    }
}

void renamed_core::free_version(version& old) noexcept {
    forget_if_watched(old);
    take(old);
    destroy(old);
    return_renamed(m_cost);
}

/// The old ones; none of them is in use.
void renamed_core::free_all_but(std::size_t kept) noexcept {
    for (version* each = m_old.front(); each != nullptr;) {
        version& one = *std::exchange(each, m_old.after(*each));
        if (kept > 0) {
            --kept;
        } else if (&one != &m_users) {
            free_version(one);
        }
    }
}

/// Of all objects of the domain: this one has no idle version.
void renamed_core::free_idle_of_others() noexcept {
    auto& all = m_home->renamed();
    for (renamed_core* other = all.front(); other != nullptr; other = all.after(*other)) {
        for (version* each = other->m_old.front(); each != nullptr;) {
            version& one = *std::exchange(each, other->m_old.after(*each));
            const bool may_be_needed =  // by undo()
                &one == other->m_before && other->m_named_by == m_home->next_task();
            if (&one != &other->m_users && !may_be_needed &&
                other->use_of(one) == region_use::none) {
                other->free_version(one);
            }
        }
    }
}

// -- waiting -----------------------------------------------------------------------------------

/// Of the process, without those of the domain that may be freed. None when the tasks of the domain
/// cannot free any.
std::int64_t renamed_core::busy_bytes(const void* of) {
    const auto& all = static_cast<const renamed_core*>(of)->m_home->renamed();
    auto bytes = static_cast<std::int64_t>(renamed_bytes());
    std::int64_t busy = 0;
    for (renamed_core* each = all.front(); each != nullptr; each = all.after(*each)) {
        for (version* old = each->m_old.front(); old != nullptr; old = each->m_old.after(*old)) {
            if (each->use_of(*old) != region_use::none) {
                ++busy;
            } else if (old != &each->m_users) {
                bytes -= static_cast<std::int64_t>(each->m_cost);
            }
        }
    }
    return busy == 0 ? 0 : std::max<std::int64_t>(bytes, 0);
}

region renamed_core::region_to_wait_for(access_kind kind, domain_core& home) const {
    require_no_other(home);
    region all = region_of_current(kind);
    all.is_empty = all.is_empty || m_home == nullptr;
    return all;
}

void renamed_core::wait_for(const version& one) {
    const wanted_region all{region_of(one, access_kind::write), strides()};
    if (one.bytes != 0) {
        m_home->wait_on({&all, 1});
    }
}

/// Its writer has ended. The user's object, which gets the value, may still be read by tasks.
void renamed_core::has_been_waited_for() {
    if (m_home == nullptr || m_current == &m_users) {
        return;
    }
    wait_for(m_users);
    if (m_home != nullptr) {  // else it has waited for all
        copy_back();
    }
}

void renamed_core::require_value() const {
    if (m_home != nullptr && (m_current != &m_users || use_of(m_users) == region_use::changed)) {
        throw std::logic_error(
            "quern: renamed::value: tasks may still change the object: call "
            "domain::taskwait(quern::on(r)) or taskwait() before");
    }
}

void renamed_core::copy_back() {
    if (m_current == &m_users) {
        return;
    }
    const version& last = *m_current;
    retire(*m_current);
    m_current = take(m_users);
    count_copy_back();
    copy(last, m_users);
}

void renamed_core::settle() noexcept {
    try {
        copy_back();
    } catch (...) {
        m_home->fail(std::current_exception());
    }
    free_all_but(k_kept_spare);
    leave();
}

void renamed_core::wait_for_all_versions() noexcept {
    try {
        wait_for(*m_current);
        for (version* each = m_old.front(); each != nullptr && m_home != nullptr;
             each = m_old.after(*each)) {
            wait_for(*each);
        }
    } catch (const std::bad_alloc&) {
        return;  // wait_on() has waited for all tasks then, and this is settled
    }
}

void renamed_core::end() noexcept {
    if (m_home != nullptr) {
        QUERN_ASSERT(is_owned_here(),
                     "a renamed object was destroyed by a task or thread that did not make it");
        wait_for_all_versions();
        if (m_home != nullptr) {
            settle();
        }
    }
    free_all_but(0);
}

// -- in the domain -----------------------------------------------------------------------------

domain_core::~domain_core() {
    if (parent() != nullptr && checks_accesses()) {
        forget_watched(root().checks(), *this);
    }
    leave_list();
    if (m_owner != nullptr) {
        end_own_branches(*m_owner);
    }
    while (!m_renamed.empty()) {
        m_renamed.front()->leave();
    }
}

void domain_core::settle_renamed() noexcept {
    while (!m_renamed.empty()) {
        m_renamed.front()->settle();
    }
}

}  // namespace quern::detail
