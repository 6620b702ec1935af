// SPDX-License-Identifier: BSL-1.0
// Accesses whose number is known only at run time.
#pragma once

#include <quern/dependences/access.hpp>

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

namespace quern {

/// Any number of accesses, given to spawn() in the place of one. The body gets no view of them.
/// Copied by spawn(), so one list may be filled again and again.
///
///     std::vector<std::vector<double>> blocks(10, std::vector<double>(100));
///     double sum = 0;
///     quern::access_list all;
///     for (const auto& each : blocks) {
///         all.add(quern::in(each));
///     }
///     quern::domain work;
///     work.spawn(all, quern::out(sum), [&blocks](double& s) { s = blocks[9][99]; });
class access_list : public detail::access_base {
public:
    using view_type = void;
    using kept = detail::nothing_kept;

    /// Any access but a reduction or one to a renamed object. Throws std::bad_alloc.
    template <detail::an_access A>
    void add(const A& access) {
        static_assert(
            requires(typename A::kept & keeps) { access.named(keeps); },
            "quern: access_list: in, out, inout, concurrent, commutative, weak of them");
        static_assert(
            !requires { A::in_place(detail::region()); },
            "quern: access_list: a reduction is given to spawn() by itself");
        typename A::kept keeps{};
        const detail::strided_region where = access.named(keeps);
        m_all.push_back({where, where.shape != nullptr ? *where.shape : detail::strides()});
    }
    void clear() noexcept { m_all.clear(); }
    bool empty() const noexcept { return m_all.empty(); }
    std::size_t size() const noexcept { return m_all.size(); }

    /// Of its members.
    std::span<const detail::wanted_region> regions() const noexcept { return m_all; }

    // As one access it has no region.
    detail::strided_region resolve(kept&, detail::domain_core&) const noexcept { return nothing(); }
    detail::strided_region named(kept&) const noexcept { return nothing(); }
    static std::tuple<> view(kept&, const detail::region&) noexcept { return {}; }

private:
    static detail::strided_region nothing() noexcept {
        detail::region none;
        none.is_empty = true;
        return none;
    }

    std::vector<detail::wanted_region> m_all;
};

}  // namespace quern
