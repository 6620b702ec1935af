// SPDX-License-Identifier: BSL-1.0
// hpx::id_type: nothing, a locality or a component; and the functions that give those of
// localities.
#pragma once

#include <quern/compat/hpx/future.hpp>
#include <quern/compat/hpx/launch.hpp>
#include <quern/compat/hpx/localities/holder.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace hpx {

namespace detail {
/// Sets the functions by which init() and start() begin and end the job. Called before main.
bool use_localities() noexcept;
inline const bool k_uses_localities = use_localities();
}  // namespace detail

/// Refers to nothing, to a locality, or to a component. A component lives as long as any id_type
/// refers to it, at any locality. Travels as an argument of an action.
///
/// Thread safety: as a shared_ptr. Cost of a copy: of a locality that of a number, of a component
/// two locks.
class id_type {
public:
    enum class management_type { unknown_deleter = -1, unmanaged, managed, managed_move_credit };

    id_type() noexcept = default;
    explicit id_type(detail::component_reference of) noexcept : m_component(std::move(of)) {}
    /// That of a locality, which need not exist: a call of one that does not is an error.
    static id_type of_locality(std::int64_t number) noexcept {
        id_type one;
        one.m_locality = number;
        return one;
    }

    explicit operator bool() const noexcept { return is_locality() || m_component; }
    bool is_locality() const noexcept { return m_locality >= 0; }
    std::int64_t locality() const noexcept { return m_locality; }
    const detail::component_reference& component() const noexcept { return m_component; }

    management_type get_management_type() const noexcept {
        return m_component ? management_type::managed : management_type::unmanaged;
    }
    void make_unmanaged() noexcept {}

    friend bool operator==(const id_type& a, const id_type& b) noexcept {
        return (a <=> b) == std::strong_ordering::equal;
    }
    friend std::strong_ordering operator<=>(const id_type& a, const id_type& b) noexcept {
        const auto by_locality = a.m_locality <=> b.m_locality;
        return std::is_neq(by_locality) ? by_locality
                                        : a.m_component.name() <=> b.m_component.name();
    }
    friend std::ostream& operator<<(std::ostream& to, const id_type& one) {
        return to << one.text();
    }
    /// "locality 1", "component 3 of locality 1" or "nothing", in braces.
    std::string text() const;

    template <class Archive>
    void save(Archive& into) const {
        into(m_locality);
        if (!is_locality()) {
            into(m_component);
        }
    }
    template <class Archive>
    void load(Archive& from) {
        from(m_locality);
        m_component = {};
        if (!is_locality()) {
            from(m_component);
        }
    }

private:
    std::int64_t m_locality = -1;
    detail::component_reference m_component;
};

inline const id_type invalid_id{};

namespace naming {

using hpx::id_type;
using hpx::invalid_id;
inline constexpr std::uint32_t invalid_locality_id = ~std::uint32_t{0};

/// Of a locality its number; of a component that of the locality where it was made.
std::uint32_t get_locality_id_from_id(const id_type& id) noexcept;
inline id_type get_id_from_locality_id(std::uint32_t number) noexcept {
    return id_type::of_locality(number);
}
inline bool is_locality(const id_type& id) noexcept { return id.is_locality(); }

}  // namespace naming

/// The number of the calling process's locality; naming::invalid_locality_id outside of init() and
/// start().
std::uint32_t get_locality_id(error_code& ec = throws) noexcept;
/// Throws hpx::exception(invalid_status) outside of init() and start(), as all below.
std::uint32_t get_num_localities(launch, error_code& ec = throws);
future<std::uint32_t> get_num_localities();
std::uint32_t get_initial_num_localities();
/// "locality#1".
std::string get_locality_name();
future<std::string> get_locality_name(const id_type& id);

id_type find_here(error_code& ec = throws);
id_type find_root_locality(error_code& ec = throws);
std::vector<id_type> find_all_localities(error_code& ec = throws);
std::vector<id_type> find_remote_localities(error_code& ec = throws);
/// The one with a number. Throws hpx::exception(bad_parameter) if there is none.
id_type find_locality(std::uint32_t number);

/// The locality where the component is; of a locality itself.
future<id_type> get_colocation_id(const id_type& id);
id_type get_colocation_id(launch, const id_type& id, error_code& ec = throws);

}  // namespace hpx

template <>
struct std::hash<hpx::id_type> {
    std::size_t operator()(const hpx::id_type& one) const noexcept {
        return std::hash<std::int64_t>()(one.locality()) ^
               std::hash<quern::localities::object_name>()(one.component().name());
    }
};
