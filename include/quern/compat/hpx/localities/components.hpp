// SPDX-License-Identifier: BSL-1.0
// Components: objects that hpx::new_ makes at any locality, and whose actions any locality calls.
#pragma once

#include <quern/compat/hpx/localities/calls.hpp>
#include <quern/sync/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpx {

namespace components {

/// The base class of a component that asks for its own id. Any class can be a component.
template <class Derived>
class component_base : public known_component {
public:
    using wrapped_type = Derived;
    using wrapping_type = Derived;

    /// An id of this component, which may be kept. Requires: called in an action of this component;
    /// in a constructor it throws hpx::exception(invalid_status).
    id_type get_id() const { return id_type(detail::reference_of_running(name_of_component())); }
    id_type get_unmanaged_id() const { return get_id(); }
};
template <class Derived>
using simple_component_base = component_base<Derived>;
template <class Derived>
using managed_component_base = component_base<Derived>;
template <class Derived>
using abstract_component_base = component_base<Derived>;

/// Runs the actions of a component one after the other: those that wait keep the lock, other than
/// in HPX, so a component must not wait for its own actions.
template <class Base>
class locking_hook : public Base {
public:
    using Base::Base;
    locking_hook() = default;
    locking_hook(const locking_hook& other) : Base(other) {}
    locking_hook& operator=(const locking_hook& other) {
        Base::operator=(other);
        return *this;
    }
    quern::mutex& lock_of_actions() noexcept { return m_lock; }

private:
    quern::mutex m_lock;
};

/// A component's class, where HPX wants to be told what it is.
template <class T>
class component : public T {
public:
    using T::T;
};
template <class T>
using simple_component = component<T>;
template <class T>
using managed_component = component<T>;

template <class Derived, class Server>
class client_base;

}  // namespace components

namespace detail {
template <class T>
concept says_it_is_client = requires {
    typename T::hpx_client;
};
}  // namespace detail
namespace traits {
template <class T>
struct is_client : std::bool_constant<hpx::detail::says_it_is_client<T>> {};
template <class T>
inline constexpr bool is_client_v = is_client<T>::value;
}  // namespace traits

namespace detail {

/// Makes a component where it is called.
template <class T, class... Args>
struct component_maker {
    component_reference operator()(Args&&... args) const {
        return detail::make_component_here<T>(std::move(args)...);
    }
};
template <class T, class... Args>
struct components_maker {
    std::vector<component_reference> operator()(std::uint64_t count, Args&&... args) const {
        std::vector<component_reference> made;
        for (std::uint64_t i = 0; i < count; ++i) {
            made.push_back(detail::make_component_here<T>(std::as_const(args)...));
        }
        return made;
    }
};

/// Makes it where a component is.
template <class Maker>
struct colocated_maker {
    template <class... Args>
    auto operator()(const component_holder&, Args&&... args) const {
        return Maker()(std::move(args)...);
    }
};

/// The function of a maker, called at a locality or where a component is.
template <class Maker, class... Args>
auto make_at_target(const id_type& to, Args&&... args) {
    if (to.component()) {
        return to.component().call(colocated_maker<Maker>(), std::forward<Args>(args)...);
    }
    return quern::localities::run_at(detail::require_locality(to), Maker(),
                                     std::forward<Args>(args)...);
}

template <class T, class... Args>
future<id_type> new_component(const id_type& to, Args&&... args) {
    using maker = component_maker<T, std::decay_t<Args>...>;
    try {
        return detail::arrived(detail::make_at_target<maker>(to, std::forward<Args>(args)...),
                               [](component_reference made) { return id_type(std::move(made)); });
    } catch (...) {
        return hpx::make_exceptional_future<id_type>(std::current_exception());
    }
}
inline std::vector<id_type> ids_of(std::vector<component_reference>&& made) {
    std::vector<id_type> ids;
    ids.reserve(made.size());
    for (component_reference& each : made) {
        ids.emplace_back(std::move(each));
    }
    return ids;
}
template <class T, class... Args>
future<std::vector<id_type>> new_components(const id_type& to, std::size_t count, Args&&... args) {
    using maker = components_maker<T, std::decay_t<Args>...>;
    try {
        return detail::arrived(
            detail::make_at_target<maker>(to, std::uint64_t{count}, std::forward<Args>(args)...),
            [](std::vector<component_reference> made) { return ids_of(std::move(made)); });
    } catch (...) {
        return hpx::make_exceptional_future<std::vector<id_type>>(std::current_exception());
    }
}

/// The component's class of new_<T> and new_<Client>.
template <class T>
struct server_of {
    using type = T;
};
template <class T>
    requires traits::is_client_v<T>
struct server_of<T> {
    using type = typename T::server_component_type;
};
template <class T>
using made_by_new = std::conditional_t<traits::is_client_v<T>, T, future<id_type>>;

}  // namespace detail

/// Where a component is: a place for new_.
inline id_type colocated(const id_type& with) { return with; }

/// Components dealt out in blocks over localities: a place for new_<T[]>.
class distribution_policy {
public:
    distribution_policy() = default;
    explicit distribution_policy(std::vector<id_type> over) : m_over(std::move(over)) {}
    distribution_policy operator()(std::vector<id_type> over) const {
        return distribution_policy(std::move(over));
    }
    distribution_policy operator()(const id_type& at) const { return distribution_policy({at}); }
    /// The own one, unless some were named.
    std::vector<id_type> localities() const {
        return m_over.empty() ? std::vector<id_type>{hpx::find_here()} : m_over;
    }

private:
    std::vector<id_type> m_over{};
};
inline const distribution_policy default_layout{};

/// Makes a component T(args...) at a locality, or where another component is, and gives the future
/// of its id; of a client's class, a client. Arguments travel. Errors, from the future: as async().
template <class T, class... Args>
    requires(!std::is_array_v<T>)
detail::made_by_new<T> new_(const id_type& at, Args&&... args) {
    return detail::made_by_new<T>(detail::new_component<typename detail::server_of<T>::type>(
        at, std::forward<Args>(args)...));
}
template <class T, class... Args>
    requires(!std::is_array_v<T> && !traits::is_client_v<T>)
id_type new_(launch, const id_type& at, Args&&... args) {
    return detail::new_component<T>(at, std::forward<Args>(args)...).get();
}
template <class T, class... Args>
    requires(!std::is_array_v<T>)
detail::made_by_new<T> new_(const distribution_policy& over, Args&&... args) {
    return hpx::new_<T>(over.localities().front(), std::forward<Args>(args)...);
}

/// Several with the same arguments: new_<T[]>(at, count, args...).
template <class T, class... Args>
    requires std::is_unbounded_array_v<T>
auto new_(const id_type& at, std::size_t count, Args&&... args) {
    using one = std::remove_extent_t<T>;
    using server = typename detail::server_of<one>::type;
    auto made = detail::new_components<server>(at, count, std::forward<Args>(args)...);
    if constexpr (traits::is_client_v<one>) {
        std::vector<one> clients;
        for (id_type& each : made.get()) {
            clients.emplace_back(std::move(each));
        }
        return clients;
    } else {
        return made;
    }
}
template <class T, class... Args>
    requires std::is_unbounded_array_v<T>
auto new_(const distribution_policy& over, std::size_t count, const Args&... args) {
    using one = std::remove_extent_t<T>;
    using server = typename detail::server_of<one>::type;
    const std::vector<id_type> places = over.localities();
    std::vector<future<std::vector<id_type>>> parts;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const std::size_t share = count * (i + 1) / places.size() - count * i / places.size();
        parts.push_back(detail::new_components<server>(places[i], share, args...));
    }
    auto collect = [parts = std::move(parts)]() mutable {
        using element = std::conditional_t<traits::is_client_v<one>, one, id_type>;
        std::vector<element> all;
        for (auto& part : parts) {
            for (id_type& each : part.get()) {
                all.emplace_back(std::move(each));
            }
        }
        return all;
    };
    if constexpr (traits::is_client_v<one>) {
        return collect();
    } else {
        return hpx::async(std::move(collect));
    }
}

/// The same at this locality; arguments need not travel.
template <class T, class... Args>
detail::made_by_new<T> local_new(Args&&... args) {
    return detail::made_by_new<T>(hpx::make_ready_future<id_type>(
        detail::make_component_here<typename detail::server_of<T>::type>(
            std::forward<Args>(args)...)));
}
template <class T, class... Args>
id_type local_new(launch, Args&&... args) {
    return id_type(detail::make_component_here<typename detail::server_of<T>::type>(
        std::forward<Args>(args)...));
}

namespace detail {

/// Throws hpx::exception(bad_parameter) if `other` is not the own locality.
void require_same_locality(int other);

/// The address of a component that is at `from`, the caller's locality. Throws hpx::exception:
/// bad_component_type; bad_parameter where it is elsewhere.
template <class T>
struct address_of_component {
    std::uint64_t operator()(const component_holder& of, int from) const {
        T& one = of.as<T>();
        detail::require_same_locality(from);
        return reinterpret_cast<std::uintptr_t>(&one);
    }
};

}  // namespace detail

/// A component that is at this locality, and an id that keeps it. Calls through it are the
/// program's own: no lock is taken. Throws hpx::exception: bad_component_type; bad_parameter where
/// it is elsewhere. Cost: a call of the component.
template <class T>
future<std::shared_ptr<T>> get_ptr(const id_type& of) {
    try {
        detail::require_component(of, typeid(T));
        return detail::arrived(of.component().call(detail::address_of_component<T>(),
                                                   static_cast<int>(hpx::get_locality_id())),
                               [of](std::uint64_t address) {
                                   T* const one =
                                       reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
                                   return std::shared_ptr<T>(one, [of](T*) {});
                               });
    } catch (...) {
        return hpx::make_exceptional_future<std::shared_ptr<T>>(std::current_exception());
    }
}
template <class T>
std::shared_ptr<T> get_ptr(launch, const id_type& of, error_code& ec = throws) {
    return detail::translated(ec, [&] { return hpx::get_ptr<T>(of).get(); });
}

namespace components {
using hpx::colocated;
using hpx::local_new;
using hpx::new_;
}  // namespace components

}  // namespace hpx

// What HPX must be told, and Quern need not.
#define HPX_REGISTER_COMPONENT(...)
#define HPX_REGISTER_COMPONENT_MODULE(...)
#define HPX_REGISTER_COMPONENT_MODULE_DYNAMIC(...)
#define HPX_REGISTER_MINIMAL_COMPONENT_FACTORY(...)
#define HPX_REGISTER_DERIVED_COMPONENT_FACTORY(...)
#define HPX_DEFINE_GET_COMPONENT_TYPE(...)
#define HPX_DEFINE_GET_COMPONENT_TYPE_TEMPLATE(...)
#define HPX_DEFINE_COMPONENT_NAME(...)
#define HPX_DISTRIBUTED_METADATA(...)
#define HPX_DISTRIBUTED_METADATA_DECLARATION(...)
#define HPX_COMPONENT_EXPORT
#define HPX_EXPORT
