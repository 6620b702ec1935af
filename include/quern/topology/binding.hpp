// SPDX-License-Identifier: BSL-1.0
// Which worker goes to which processing unit. The pool asks for an assignment when it starts, and
// each worker then binds itself; `quern info --binding` shows what every policy would give. Must
// never bind a thread to a unit outside the process's limits, and a refusal by the system is
// reported, not fatal.
#pragma once

#include <quern/topology/cpu_list.hpp>
#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quern::topology {

/// How workers are placed on the allowed processing units (PUs). n workers, P PUs on C cores; "in
/// order" is the machine's order. Worker i of more than P workers is placed as worker i mod P.
enum class binding_policy {
    /// Not bound: the operating system moves workers as it likes.
    none,
    /// Fills a core before the next: the PUs in order. Shares caches best; leaves whole cores and
    /// packages idle.
    compact,
    /// As far apart as possible: neighbouring workers alternate packages, within a package NUMA
    /// nodes, within a node L3 caches, and within one of these go on to the next core. All cores
    /// get a first worker before any gets a second, and so on by SMT rank. Most memory bandwidth
    /// for few workers; neighbours share nothing.
    scatter,
    /// Evenly over cores, neighbours near one another: every core gets n / C workers, and the rest
    /// of m workers goes to cores 0, C/m, 2C/m … in order (rounded down). The workers are then
    /// numbered along the cores, so that worker i and i+1 are on the same or on neighbouring cores.
    /// A core never gets more workers than it has PUs.
    balanced,
    /// Evenly over NUMA nodes, whatever their size, then balanced within each: the counts of two
    /// nodes differ by at most one unless a node is full. Workers are numbered along the nodes.
    numa_balanced,
    /// Worker i goes to the i-th entry of a list written by the user, starting again at its end.
    list,
    /// Balanced over the cores that the user lists, by their position in machine::cores.
    cores,
    /// Balanced over the NUMA nodes that the user lists, by the operating system's numbers.
    nodes,
};

/// The word that parse_binding accepts for it; "list", "cores" or "node" for what takes a list.
std::string_view name_of(binding_policy policy) noexcept;

/// The policies that have a name to ask for.
inline constexpr std::array k_named_policies{binding_policy::none, binding_policy::compact,
                                             binding_policy::scatter, binding_policy::balanced,
                                             binding_policy::numa_balanced};

struct binding {
    binding_policy policy = binding_policy::balanced;
    cpu_list list;  ///< of binding_policy::list, the os indices in the order of workers; of cores
                    ///< and nodes, their numbers; else empty

    friend bool operator==(const binding&, const binding&) = default;
};

/// Reads "compact", "scatter", "balanced", "numa-balanced", "none", a list such as "0,2-5,8",
/// "cores:0-3" or "node:1". The reason of a failure names the accepted values and the nearest
/// match.
outcome<binding> parse_binding(std::string_view text);

/// As parse_binding reads it: "node:1".
std::string name_of(const binding& how);

/// The os indices that workers may be bound to: the machine's PUs that the affinity mask and the
/// cpuset allow, in the machine's order; all of them for a synthetic machine. Where the two have
/// nothing in common the mask wins.
cpu_list allowed_pus(const machine& on, const cpu_limits& limits);

/// Those of the allowed PUs to which the binding may bring a worker: all, unless it has a list.
/// Unavailable when the list names a PU that is not allowed, a core or node that the machine does
/// not have, or nothing that is allowed; the reason says what there is.
outcome<cpu_list> pus_within(const machine& on, std::span<const unsigned> allowed,
                             const binding& how);

/// The PU of each worker as an os index, k_none for an unbound worker. PUs in `allowed` that the
/// machine does not have are ignored. Unavailable when nothing is left of `allowed`, and where
/// pus_within is.
///
///     const auto pus = assign(on, allowed_pus(on, limits), {binding_policy::scatter, {}}, 4);
outcome<std::vector<unsigned>> assign(const machine& on, std::span<const unsigned> allowed,
                                      const binding& how, unsigned workers);

/// Binds the calling thread to one PU, or to a set. Returns nothing on success, otherwise why not,
/// as one line; the thread is then where it was. Not for the PUs of a synthetic machine.
[[nodiscard]] std::optional<std::string> bind_this_thread(unsigned pu);
[[nodiscard]] std::optional<std::string> bind_this_thread(std::span<const unsigned> pus);

/// The affinity mask of the calling thread, ascending, for machines of any size.
outcome<cpu_list> this_thread_affinity();

}  // namespace quern::topology
