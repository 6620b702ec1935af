// SPDX-License-Identifier: BSL-1.0
// renamed<T>: an object of which each writer gets a version of its own, so that writers do not wait
// for earlier readers.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/dependences/access.hpp>
#include <quern/dependences/detail/renamed_core.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace quern {

/// How versions of a T are made. Both may be left out.
template <class T>
struct version_options {
    /// Makes a T that `out` may get: of the right size, with any content. Called by the owner.
    /// Without it: T(), and for a container one of as many elements.
    std::function<T()> make = {};
    /// What a version takes of `renaming-bytes`. 0: sizeof(T), and the elements of a container. To
    /// be given when T refers to other memory.
    std::size_t bytes = 0;
};

namespace detail {

template <class T>
class versions_of final : public renamed_core {
public:
    versions_of(T* users, version_options<T> how) : m_users(users), m_how(std::move(how)) {
        check();
    }
    versions_of(T&& value, version_options<T> how)
        : m_own(std::move(value)), m_users(&*m_own), m_how(std::move(how)) {
        check();
    }
    ~versions_of() { end(); }
    versions_of(const versions_of&) = delete;
    versions_of& operator=(const versions_of&) = delete;

    const T& users() const noexcept { return *m_users; }

private:
    static constexpr bool k_is_sized =
        a_container<T> &&
        (std::constructible_from<T, std::size_t> || requires(T & t) { t.resize(std::size_t{1}); });

    void check() const {
        if (m_how.make == nullptr && !k_is_sized && !std::default_initializable<T>) {
            throw std::invalid_argument(
                "quern: renamed: T has no default constructor: say in version_options::make how a "
                "version is made");
        }
    }

    struct made_version : version {
        explicit made_version(auto&& maker) : value(maker()) {}
        T value;
    };

    static void set(version& one, T& object) {
        one.object = &object;
        if constexpr (a_container<T>) {
            one.begin = reinterpret_cast<std::uintptr_t>(std::ranges::data(object));
            one.bytes = std::ranges::size(object) * sizeof(*std::ranges::data(object));
        } else {
            one.begin = reinterpret_cast<std::uintptr_t>(&object);
            one.bytes = sizeof(T);
        }
    }

    T made() const {
        if (m_how.make != nullptr) {
            return m_how.make();
        }
        if constexpr (a_container<T> && std::constructible_from<T, std::size_t>) {
            return T(std::ranges::size(*m_users));
        } else if constexpr (k_is_sized) {
            T one{};
            one.resize(std::ranges::size(*m_users));
            return one;
        } else if constexpr (std::default_initializable<T>) {
            return T{};
        } else {
            throw std::logic_error("quern: renamed: no version can be made");  // see check()
        }
    }

    std::size_t cost() const override {
        if (m_how.bytes != 0) {
            return m_how.bytes;
        }
        version users;
        set(users, *m_users);
        return sizeof(T) + (a_container<T> ? users.bytes : 0);
    }
    void find_users(version& of) const override { set(of, *m_users); }
    version* make() override {
        auto one = std::make_unique<made_version>([this] { return made(); });
        set(*one, one->value);
        version users;
        set(users, *m_users);
        if (one->bytes != users.bytes) {
            throw std::invalid_argument(
                "quern: renamed: version_options::make has made " + std::to_string(one->bytes) +
                " bytes of elements; the object has " + std::to_string(users.bytes));
        }
        return one.release();
    }
    void destroy(version& one) noexcept override { delete static_cast<made_version*>(&one); }
    void copy(const version& from, version& to) override {
        const T& source = *static_cast<const T*>(from.object);
        T& target = *static_cast<T*>(to.object);
        if constexpr (a_container<T>) {
            std::ranges::copy(source, std::ranges::data(target));  // each element stays where it is
        } else {
            target = source;
        }
    }

    std::optional<T> m_own;
    T* const m_users;
    const version_options<T> m_how;
};

template <class T, bool IsRead>
struct view_of_renamed {
    using type = std::conditional_t<IsRead, const T&, T&>;
};
template <a_container T, bool IsRead>
struct view_of_renamed<T, IsRead> {
    using element = std::remove_reference_t<std::ranges::range_reference_t<T>>;
    using type = std::span<std::conditional_t<IsRead, const element, element>>;
};

/// An access to a renamed object. `NeedsValue`: of a write, that the value before it counts.
template <class T, access_kind Kind, bool NeedsValue>
struct renamed_access : access_base {
    using view_type = typename view_of_renamed<T, Kind == access_kind::read>::type;
    using kept = nothing_kept;

    explicit renamed_access(renamed_core& to) noexcept : of(&to) {}

    static auto view(kept& keeps, const region& version) noexcept {
        return access<view_type>::view(keeps, version);
    }

    strided_region resolve(kept&, domain_core& home) const {
        region found = of->resolve(Kind, NeedsValue, home);
        found.is_out = !NeedsValue;
        return found;
    }
    /// The task, which resolve() was perhaps called for, was not spawned.
    void undo(domain_core& home, std::int64_t task) const noexcept { of->undo(home, task); }
    region region_to_wait_for(domain_core& home) const {
        return of->region_to_wait_for(Kind, home);
    }
    void has_been_waited_for() const { of->has_been_waited_for(); }

    renamed_core* of;
};

}  // namespace detail

/// An object for the accesses of tasks, of which several versions may exist at a time:
///
///   in(r)     reads the version that is current when the task is created
///   out(r)    makes a fresh version current while tasks use the present one; else writes in place
///   inout(r)  the same beside readers of the present version, of which it gets a copy;
///   behind a task that writes the version, inout(r) writes in place
///
/// so no task waits for earlier readers or, with `out`, for earlier writers. Tasks get the values
/// that the serial program would give them. A body gets a reference to its version, and for a
/// container a span of its elements; children of the task declare accesses to that. The copy for
/// `inout` is a task "copy of renamed". concurrent(r) and commutative(r) change the current version
/// in place.
///
/// The user's object holds the last version after taskwait(), after taskwait(on(r)), and after the
/// end of the domain or of r: the value is copied back, a container's elements one by one. Between
/// the first task and then, neither the program nor a task may use the object but through r. The
/// content of a fresh version is arbitrary, so `out` must write all of it. A container may get
/// another size only after taskwait(). After an error the object holds some version.
///
/// Owner: the task or thread that made it and the domain; the tasks of one domain at a time use it.
/// The destructor waits for these tasks; from another task or thread it aborts. A task must not
/// leave it behind.
///
/// Memory: versions beside the user's object are reused and count against `renaming-bytes` (a
/// setting and a knob; of the process, never exceeded). Where that is too little, the creator lets
/// other tasks run until half of the budget is free. If nothing runs any more, it keeps a
/// dependence: `out` waits for the readers of the oldest version, `inout` for those of the current
/// one. A creator that is ahead by 32 KiB of versions, and at least two more than there are
/// workers, takes the oldest version again in the same way while tasks run: more would be in no
/// cache. If none can run because readers are suspended, it makes more. 0 renames nothing. After
/// taskwait() one version is kept for the next tasks.
///
/// Errors: std::logic_error for an access by a task or thread that did not make r, or in a second
/// domain before the taskwait() of the first, or to a container that was given another size;
/// std::invalid_argument for a task that names r twice, a T that needs version_options::make, and
/// at spawn for a budget, not 0, that is smaller than a version.
///
/// Cost: in(r) about as in(object); out(r) and inout(r) one lookup in a hash more, and for a
/// version another one for each old version that is still used, at most 16.
///
/// Source: renaming as in SMPSs (Perez, Badia, Labarta, CLUSTER 2008): versions, copies for inout,
/// a limit of memory with two watermarks.
///
///     std::vector<double> block(1000);
///     double sum = 0;
///     {
///         quern::domain work;
///         quern::renamed buffer(block);
///         for (int step = 0; step < 10; ++step) {
///             work.spawn(quern::out(buffer), [step](auto to) {
///                 std::fill(to.begin(), to.end(), step);  // while earlier readers read
///             });
///             work.spawn(quern::in(buffer), quern::commutative(sum), [](auto from, double& s) {
///                 s += from[0];
///             });
///         }
///         work.taskwait(quern::on(buffer));  // block[0] == 9
///     }  // sum == 45
template <class T>
class renamed {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>, "quern: renamed: T is an object");
    static_assert(std::copyable<T> && !std::ranges::view<T>,
                  "quern: renamed: a copy of T is a copy of its data");

public:
    /// A name for the user's object, which must live longer. Throws std::invalid_argument.
    explicit renamed(T& object, version_options<T> how = {}) : m_core(&object, std::move(how)) {}
    /// Keeps the object itself.
    explicit renamed(T&& value, version_options<T> how = {})
        : m_core(std::move(value), std::move(how)) {}
    renamed(const renamed&) = delete;
    renamed& operator=(const renamed&) = delete;
    ~renamed() = default;

    /// The object. Throws std::logic_error unless the last version was copied back to it and no
    /// later task may change it, or if the caller has not made r.
    const T& value() const {
        m_core.require_owner("renamed::value");
        m_core.require_value();
        return m_core.users();
    }

    // How in(r) and so on make an access. Throws std::logic_error.
    template <detail::access_kind Kind>
    auto access_of() & {
        m_core.require_owner("an access of a renamed object");
        return detail::renamed_access<T, Kind, true>(m_core);
    }
    template <detail::access_kind Kind>
        requires(Kind == detail::access_kind::read)
    auto access_of() const& {
        m_core.require_owner("an access of a renamed object");
        return detail::renamed_access<T, Kind, true>(m_core);
    }
    template <detail::access_kind Kind>
    void access_of() const&& = delete;
    auto access_of_out() {
        m_core.require_owner("an access of a renamed object");
        return detail::renamed_access<T, detail::access_kind::write, false>(m_core);
    }

private:
    mutable detail::versions_of<T> m_core;
};

/// A fresh version, when tasks use the present one.
template <class T>
auto out(renamed<T>& of) {
    return of.access_of_out();
}

/// Children have no name for a version.
template <class T, detail::access_kind Kind, bool NeedsValue>
void weak(const detail::renamed_access<T, Kind, NeedsValue>& of) = delete;

}  // namespace quern
