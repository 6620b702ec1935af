// SPDX-License-Identifier: BSL-1.0
// Names in words for ids, of localities and components, that all localities can look up.
#pragma once

#include <quern/compat/hpx/localities/components.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace hpx {

namespace detail {

/// Of a table that is spread over the localities by name. Each name is a reference.
quern::future<bool> register_id(std::string name, const id_type& id);  ///< false: it is taken
quern::future<id_type> unregister_id(std::string name);  ///< nothing if it is not known
quern::future<id_type> resolve_id(std::string name);     ///< nothing if it is not known
quern::future<id_type> find_id(std::string name);        ///< waits until it is known

/// The name of one of a series. `number` k_own_number: that of the own locality.
std::string name_in_series(const std::string& base, std::size_t number);
inline constexpr std::size_t k_own_number = ~std::size_t{0};

}  // namespace detail

namespace agas {

/// Gives an id a name, until unregister_name(), or the end of the job: false if it is taken. Not
/// known yet: resolve_name() gives an id of nothing, it does not wait. Errors: hpx::exception as
/// async(). Thread safety: any task. Cost: a call of a locality.
inline future<bool> register_name(const std::string& name, const id_type& id) {
    return hpx::detail::arrived(hpx::detail::register_id("agas/" + name, id));
}
inline bool register_name(launch, const std::string& name, const id_type& id,
                          error_code& ec = throws) {
    return hpx::detail::translated(ec, [&] { return agas::register_name(name, id).get(); });
}
inline future<id_type> unregister_name(const std::string& name) {
    return hpx::detail::arrived(hpx::detail::unregister_id("agas/" + name));
}
inline id_type unregister_name(launch, const std::string& name, error_code& ec = throws) {
    return hpx::detail::translated(ec, [&] { return agas::unregister_name(name).get(); });
}
inline future<id_type> resolve_name(const std::string& name) {
    return hpx::detail::arrived(hpx::detail::resolve_id("agas/" + name));
}
inline id_type resolve_name(launch, const std::string& name, error_code& ec = throws) {
    return hpx::detail::translated(ec, [&] { return agas::resolve_name(name).get(); });
}

}  // namespace agas

/// The same for a series of ids with one name and numbers; without a number that of the own
/// locality. false: it is taken.
inline future<bool> register_with_basename(const std::string& base, const id_type& id,
                                           std::size_t number = detail::k_own_number) {
    return detail::arrived(detail::register_id(detail::name_in_series(base, number), id));
}
inline future<bool> register_with_basename(const std::string& base, future<id_type> id,
                                           std::size_t number = detail::k_own_number) {
    return id.then([base, number](future<id_type> ready) {
        return hpx::register_with_basename(base, ready.get(), number);
    });
}
inline future<id_type> unregister_with_basename(const std::string& base,
                                                std::size_t number = detail::k_own_number) {
    return detail::arrived(detail::unregister_id(detail::name_in_series(base, number)));
}

/// Waits until it is registered: the future is ready then.
inline future<id_type> find_from_basename(const std::string& base,
                                          std::size_t number = detail::k_own_number) {
    return detail::arrived(detail::find_id(detail::name_in_series(base, number)));
}
inline std::vector<future<id_type>> find_from_basename(const std::string& base,
                                                       const std::vector<std::size_t>& numbers) {
    std::vector<future<id_type>> all;
    all.reserve(numbers.size());
    for (const std::size_t each : numbers) {
        all.push_back(hpx::find_from_basename(base, each));
    }
    return all;
}
inline std::vector<future<id_type>> find_all_from_basename(const std::string& base,
                                                           std::size_t count) {
    std::vector<future<id_type>> all;
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        all.push_back(hpx::find_from_basename(base, i));
    }
    return all;
}

// As clients.
template <class Client>
    requires traits::is_client_v<Client> Client
    unregister_with_basename(const std::string& base, std::size_t number = detail::k_own_number) {
        return Client(hpx::unregister_with_basename(base, number));
    }
template <class Client>
    requires traits::is_client_v<Client> Client
    find_from_basename(const std::string& base, std::size_t number = detail::k_own_number) {
        return Client(hpx::find_from_basename(base, number));
    }
template <class Client>
    requires traits::is_client_v<Client> std::vector<Client> find_all_from_basename(
        const std::string& base, std::size_t count) {
        std::vector<Client> all;
        all.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(hpx::find_from_basename<Client>(base, i));
        }
        return all;
    }

}  // namespace hpx
