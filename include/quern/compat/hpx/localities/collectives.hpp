// SPDX-License-Identifier: BSL-1.0
// hpx::collectives: operations of several sites together. A site is a locality: this_site must be
// the own one. The order of calls tells operations of one communicator apart, as generations do in
// HPX, which are accepted.
#pragma once

#include <quern/compat/hpx/localities/calls.hpp>
#include <quern/localities/communicator.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpx::collectives {

namespace detail {

/// A number with a meaning; `Kind` tells apart what it means.
template <int Kind>
struct site_number {
    constexpr site_number() noexcept = default;
    template <std::integral N>
    explicit constexpr site_number(N number) noexcept
        : argument(static_cast<std::size_t>(number)) {}
    constexpr operator std::size_t() const noexcept { return argument; }
    constexpr bool is_default() const noexcept { return argument == ~std::size_t{0}; }

    std::size_t argument = ~std::size_t{0};
};

}  // namespace detail

using num_sites_arg = detail::site_number<0>;
using this_site_arg = detail::site_number<1>;
using that_site_arg = detail::site_number<2>;
using generation_arg = detail::site_number<3>;
using root_site_arg = detail::site_number<4>;
using tag_arg = detail::site_number<5>;

namespace detail {

struct sites {
    num_sites_arg count{};
    this_site_arg here{};
    generation_arg generation{};
    root_site_arg root{};

    void take(num_sites_arg one) noexcept { count = one; }
    void take(this_site_arg one) noexcept { here = one; }
    void take(generation_arg one) noexcept { generation = one; }
    void take(root_site_arg one) noexcept { root = one; }

    template <class... Numbers>
    static sites of(Numbers... all) noexcept {
        sites made;
        (made.take(all), ...);
        return made;
    }
};

template <class T>
concept number = std::same_as<T, num_sites_arg> || std::same_as<T, this_site_arg> ||
    std::same_as<T, generation_arg> || std::same_as<T, root_site_arg>;

}  // namespace detail

/// Sites that do operations together: each makes one with the same name and numbers. Copies are the
/// same. Thread safety: operations of one communicator at one locality must have an order.
class communicator {
public:
    communicator() = default;
    /// Throws hpx::exception(bad_parameter) for numbers that are not those of localities.
    communicator(const std::string& basename, detail::sites wanted);

    std::pair<num_sites_arg, this_site_arg> get_info() const;
    bool is_root() const { return parts().here == parts().root; }
    std::size_t root() const { return parts().root; }
    /// Throws hpx::exception(bad_parameter): another site than the own one is named.
    const quern::localities::communicator& its(detail::sites named = {}) const;
    explicit operator bool() const noexcept { return m_parts != nullptr; }
    void free() { m_parts.reset(); }

private:
    struct shared_parts {
        quern::localities::communicator sites;
        std::size_t here;
        std::size_t root;
    };
    const shared_parts& parts() const;
    std::shared_ptr<const shared_parts> m_parts;
};

template <detail::number... Numbers>
communicator create_communicator(const std::string& basename, Numbers... numbers) {
    return communicator(basename, detail::sites::of(numbers...));
}
template <detail::number... Numbers>
communicator create_communicator(launch, const std::string& basename, Numbers... numbers) {
    return communicator(basename, detail::sites::of(numbers...));
}

namespace detail {

/// The communicator of one operation without one.
inline communicator once(const std::string& basename, const char* operation, sites of) {
    std::string name = basename + "/" + operation;
    if (!of.generation.is_default()) {
        name += "/" + std::to_string(of.generation.argument);
    }
    return communicator(name, of);
}

/// The same for what the root calls, which is therefore this site if none is named.
inline communicator once_as_root(const std::string& basename, const char* operation, sites of) {
    if (of.root.is_default()) {
        of.root = root_site_arg(of.here.is_default() ? hpx::get_locality_id() : of.here.argument);
    }
    return once(basename, operation, of);
}

inline int root_of(const communicator& of) { return static_cast<int>(of.root()); }
/// Throws hpx::exception(bad_parameter) at another site than the root.
void require_root(const communicator& of, const char* operation);

template <class T, class Op>
T fold(std::vector<T>&& all, Op& op) {
    T sum = std::move(all.front());
    for (std::size_t i = 1; i < all.size(); ++i) {
        sum = T(std::invoke(op, std::move(sum), std::move(all[i])));
    }
    return sum;
}

/// An operation on values of which the first may be missing.
template <class T, class Op>
auto on_optional(Op op) {
    return [op = std::move(op)](std::optional<T> a, std::optional<T> b) mutable {
        return a && b ? std::optional<T>(std::invoke(op, std::move(*a), std::move(*b)))
                      : (a ? std::move(a) : std::move(b));
    };
}

template <class T>
concept basename_like = std::convertible_to<T, std::string>;

}  // namespace detail

/// All values combined by op, in the order of the sites, at all of them. Here and below: the future
/// has hpx::exception or a remote_error if an op throws, or if sites call different operations.
/// With a basename, reduce_here, gather_here, broadcast_to and scatter_to throw
/// hpx::exception(bad_parameter) themselves at another site than the root.
/// Costs: those of quern::localities::communicator; without a communicator one is made for it.
template <class T, class Op, detail::number... Numbers>
future<std::decay_t<T>> all_reduce(const communicator& of, T&& value, Op&& op, Numbers... numbers) {
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...))
            .all_reduce(std::decay_t<T>(std::forward<T>(value)), std::forward<Op>(op)));
}
template <class T, class Op, detail::number... Numbers>
future<std::decay_t<T>> all_reduce(const std::string& basename, T&& value, Op&& op,
                                   Numbers... numbers) {
    return all_reduce(detail::once(basename, "all_reduce", detail::sites::of(numbers...)),
                      std::forward<T>(value), std::forward<Op>(op));
}

/// At the root, which calls reduce_here; the others call reduce_there. The values come one from
/// each site.
template <class T, class Op, detail::number... Numbers>
future<std::decay_t<T>> reduce_here(const communicator& of, T&& value, Op&& op,
                                    Numbers... numbers) {
    using element = std::decay_t<T>;
    detail::require_root(of, "reduce_here");
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...))
            .gather(element(std::forward<T>(value)), detail::root_of(of)),
        [op = std::decay_t<Op>(std::forward<Op>(op))](std::vector<element> all) mutable {
            return detail::fold(std::move(all), op);
        });
}
template <class T, detail::number... Numbers>
future<void> reduce_there(const communicator& of, T&& value, Numbers... numbers) {
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...))
            .gather(std::decay_t<T>(std::forward<T>(value)), detail::root_of(of)));
}
template <class T, class Op, detail::number... Numbers>
future<std::decay_t<T>> reduce_here(const std::string& basename, T&& value, Op&& op,
                                    Numbers... numbers) {
    return reduce_here(detail::once_as_root(basename, "reduce", detail::sites::of(numbers...)),
                       std::forward<T>(value), std::forward<Op>(op));
}
template <class T, detail::number... Numbers>
future<void> reduce_there(const std::string& basename, T&& value, Numbers... numbers) {
    return reduce_there(detail::once(basename, "reduce", detail::sites::of(numbers...)),
                        std::forward<T>(value));
}

/// The values of all sites, in their order.
template <class T, detail::number... Numbers>
future<std::vector<std::decay_t<T>>> all_gather(const communicator& of, T&& value,
                                                Numbers... numbers) {
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...)).all_gather(std::decay_t<T>(std::forward<T>(value))));
}
template <class T, detail::number... Numbers>
future<std::vector<std::decay_t<T>>> all_gather(const std::string& basename, T&& value,
                                                Numbers... numbers) {
    return all_gather(detail::once(basename, "all_gather", detail::sites::of(numbers...)),
                      std::forward<T>(value));
}
template <class T, detail::number... Numbers>
future<std::vector<std::decay_t<T>>> gather_here(const communicator& of, T&& value,
                                                 Numbers... numbers) {
    detail::require_root(of, "gather_here");
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...))
            .gather(std::decay_t<T>(std::forward<T>(value)), detail::root_of(of)));
}
template <class T, detail::number... Numbers>
future<void> gather_there(const communicator& of, T&& value, Numbers... numbers) {
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...))
            .gather(std::decay_t<T>(std::forward<T>(value)), detail::root_of(of)));
}
template <class T, detail::number... Numbers>
future<std::vector<std::decay_t<T>>> gather_here(const std::string& basename, T&& value,
                                                 Numbers... numbers) {
    return gather_here(detail::once_as_root(basename, "gather", detail::sites::of(numbers...)),
                       std::forward<T>(value));
}
template <class T, detail::number... Numbers>
future<void> gather_there(const std::string& basename, T&& value, Numbers... numbers) {
    return gather_there(detail::once(basename, "gather", detail::sites::of(numbers...)),
                        std::forward<T>(value));
}

/// The root's value, at all sites: the root calls broadcast_to, the others broadcast_from.
template <class T, detail::number... Numbers>
future<std::decay_t<T>> broadcast_to(const communicator& of, T&& value, Numbers... numbers) {
    detail::require_root(of, "broadcast_to");
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...))
            .broadcast(std::decay_t<T>(std::forward<T>(value)), detail::root_of(of)));
}
template <class T, detail::number... Numbers>
future<T> broadcast_from(const communicator& of, Numbers... numbers) {
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...)).broadcast(T(), detail::root_of(of)));
}
template <class T, detail::number... Numbers>
future<std::decay_t<T>> broadcast_to(const std::string& basename, T&& value, Numbers... numbers) {
    return broadcast_to(detail::once_as_root(basename, "broadcast", detail::sites::of(numbers...)),
                        std::forward<T>(value));
}
template <class T, detail::number... Numbers>
future<T> broadcast_from(const std::string& basename, Numbers... numbers) {
    return broadcast_from<T>(detail::once(basename, "broadcast", detail::sites::of(numbers...)));
}

/// Of the root's values each site gets that of its place.
template <class T, detail::number... Numbers>
future<T> scatter_to(const communicator& of, std::vector<T> values, Numbers... numbers) {
    detail::require_root(of, "scatter_to");
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...)).scatter(std::move(values), detail::root_of(of)));
}
template <class T, detail::number... Numbers>
future<T> scatter_from(const communicator& of, Numbers... numbers) {
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...)).scatter(std::vector<T>(), detail::root_of(of)));
}
template <class T, detail::number... Numbers>
future<T> scatter_to(const std::string& basename, std::vector<T> values, Numbers... numbers) {
    return scatter_to(detail::once_as_root(basename, "scatter", detail::sites::of(numbers...)),
                      std::move(values));
}
template <class T, detail::number... Numbers>
future<T> scatter_from(const std::string& basename, Numbers... numbers) {
    return scatter_from<T>(detail::once(basename, "scatter", detail::sites::of(numbers...)));
}

/// Value k goes to site k; the result has value k from site k.
template <class T, detail::number... Numbers>
future<std::vector<T>> all_to_all(const communicator& of, std::vector<T> values,
                                  Numbers... numbers) {
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...)).all_to_all(std::move(values)));
}
template <class T, detail::number... Numbers>
future<std::vector<T>> all_to_all(const std::string& basename, std::vector<T> values,
                                  Numbers... numbers) {
    return all_to_all(detail::once(basename, "all_to_all", detail::sites::of(numbers...)),
                      std::move(values));
}

/// The values up to the own one combined by op.
template <class T, class Op, detail::number... Numbers>
future<std::decay_t<T>> inclusive_scan(const communicator& of, T&& value, Op&& op,
                                       Numbers... numbers) {
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...))
            .inclusive_scan(std::decay_t<T>(std::forward<T>(value)), std::forward<Op>(op)));
}
template <class T, class Op, detail::number... Numbers>
future<std::decay_t<T>> inclusive_scan(const std::string& basename, T&& value, Op&& op,
                                       Numbers... numbers) {
    return inclusive_scan(detail::once(basename, "inclusive_scan", detail::sites::of(numbers...)),
                          std::forward<T>(value), std::forward<Op>(op));
}

/// `first` and the values before the own one combined by op; without `first` T() at site 0.
template <class T, class Init, class Op, detail::number... Numbers>
    requires(!detail::number<std::remove_cvref_t<Op>> && !detail::number<Init>)
future<std::decay_t<T>> exclusive_scan(const communicator& of, T&& value, Init&& first, Op&& op,
                                       Numbers... numbers) {
    using element = std::decay_t<T>;
    return hpx::detail::arrived(of.its(detail::sites::of(numbers...))
                                    .exclusive_scan(element(std::forward<T>(value)),
                                                    element(std::forward<Init>(first)),
                                                    std::forward<Op>(op)));
}
template <class T, class Op, detail::number... Numbers>
future<std::decay_t<T>> exclusive_scan(const communicator& of, T&& value, Op&& op,
                                       Numbers... numbers) {
    using element = std::decay_t<T>;
    return hpx::detail::arrived(
        of.its(detail::sites::of(numbers...))
            .exclusive_scan(std::optional<element>(std::forward<T>(value)),
                            std::optional<element>(),
                            detail::on_optional<element>(std::decay_t<Op>(std::forward<Op>(op)))),
        [](std::optional<element> before) { return before ? std::move(*before) : element(); });
}
template <class T, class Op, detail::number... Numbers>
future<std::decay_t<T>> exclusive_scan(const std::string& basename, T&& value, Op&& op,
                                       Numbers... numbers) {
    return exclusive_scan(detail::once(basename, "exclusive_scan", detail::sites::of(numbers...)),
                          std::forward<T>(value), std::forward<Op>(op));
}

// The same, and waits: launch::sync before the other arguments.
template <class... Ts>
auto all_reduce(launch, Ts&&... ts) {
    return collectives::all_reduce(std::forward<Ts>(ts)...).get();
}
template <class... Ts>
auto reduce_here(launch, Ts&&... ts) {
    return collectives::reduce_here(std::forward<Ts>(ts)...).get();
}
template <class... Ts>
auto reduce_there(launch, Ts&&... ts) {
    return collectives::reduce_there(std::forward<Ts>(ts)...).get();
}
template <class... Ts>
auto all_gather(launch, Ts&&... ts) {
    return collectives::all_gather(std::forward<Ts>(ts)...).get();
}
template <class... Ts>
auto gather_here(launch, Ts&&... ts) {
    return collectives::gather_here(std::forward<Ts>(ts)...).get();
}
template <class... Ts>
auto gather_there(launch, Ts&&... ts) {
    return collectives::gather_there(std::forward<Ts>(ts)...).get();
}
template <class... Ts>
auto broadcast_to(launch, Ts&&... ts) {
    return collectives::broadcast_to(std::forward<Ts>(ts)...).get();
}
template <class... Ts>
auto scatter_to(launch, Ts&&... ts) {
    return collectives::scatter_to(std::forward<Ts>(ts)...).get();
}
template <class... Ts>
auto all_to_all(launch, Ts&&... ts) {
    return collectives::all_to_all(std::forward<Ts>(ts)...).get();
}
template <class... Ts>
auto inclusive_scan(launch, Ts&&... ts) {
    return collectives::inclusive_scan(std::forward<Ts>(ts)...).get();
}
template <class... Ts>
auto exclusive_scan(launch, Ts&&... ts) {
    return collectives::exclusive_scan(std::forward<Ts>(ts)...).get();
}
template <class T, class... Ts>
T broadcast_from(launch, Ts&&... ts) {
    return collectives::broadcast_from<T>(std::forward<Ts>(ts)...).get();
}
template <class T, class... Ts>
T scatter_from(launch, Ts&&... ts) {
    return collectives::scatter_from<T>(std::forward<Ts>(ts)...).get();
}

}  // namespace hpx::collectives
