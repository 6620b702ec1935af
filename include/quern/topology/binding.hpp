// SPDX-License-Identifier: BSL-1.0
// Assigns workers to processing units. The pool asks for an assignment when it starts, and each
// worker then binds itself; `quern info --binding` shows the result of every policy. Must never
// bind a thread to a unit outside the process's limits. A refusal by the system is reported and not
// fatal.
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
/// order" is the machine's order. Worker i of more than P workers is placed like worker i mod P.
enum class binding_policy {
    /// Not bound: the operating system moves workers.
    none,
    /// Fills one core before the next: the PUs in order. Shares caches best; leaves whole cores and
    /// packages idle.
    compact,
    /// As far apart as possible: consecutive workers alternate packages, within a package NUMA
    /// nodes, within a node L3 caches, and within a cache cores. Every core gets a first worker
    /// before any gets a second, and so on by SMT rank. Most memory bandwidth for few workers;
    /// consecutive workers share nothing.
    scatter,
    /// Evenly over cores, consecutive workers close together: every core gets n / C workers, and
    /// the rest of m workers goes to cores 0, C/m, 2C/m … in order (rounded down). Workers are
    /// numbered along the cores, so worker i and i+1 are on the same or adjacent cores. A core
    /// never gets more workers than it has PUs.
    balanced,
    /// Evenly over NUMA nodes of any size, then balanced within each: the counts of two nodes
    /// differ by at most one unless a node is full. Workers are numbered along the nodes.
    numa_balanced,
    /// Worker i goes to the i-th entry of a user-given list, modulo its length.
    list,
    /// Balanced over the user-given cores, by their position in machine::cores.
    cores,
    /// Balanced over the user-given NUMA nodes, by the operating system's numbers.
    nodes,
};

/// The word that parse_binding accepts for it; "list", "cores" or "node" for those with a list.
std::string_view name_of(binding_policy policy) noexcept;

/// The policies that are selected only by name.
inline constexpr std::array k_named_policies{binding_policy::none, binding_policy::compact,
                                             binding_policy::scatter, binding_policy::balanced,
                                             binding_policy::numa_balanced};

struct binding {
    binding_policy policy = binding_policy::balanced;
    cpu_list list;  ///< binding_policy::list: os indices in the order of workers; cores and nodes:
                    ///< their numbers; else empty

    friend bool operator==(const binding&, const binding&) = default;
};

/// Parses "compact", "scatter", "balanced", "numa-balanced", "none", a list such as "0,2-5,8",
/// "cores:0-3" or "node:1". A failure names the accepted values and the nearest match.
outcome<binding> parse_binding(std::string_view text);

/// In the notation of parse_binding: "node:1".
std::string name_of(const binding& how);

/// The os indices that workers may be bound to: the machine's PUs that the affinity mask and the
/// cpuset allow, in the machine's order; all of them for a synthetic machine. If the two are
/// disjoint, the mask wins.
cpu_list allowed_pus(const machine& on, const cpu_limits& limits);

/// The allowed PUs that the binding may use: all, unless it has a list. Unavailable if the list
/// names a disallowed PU, or a core or node that does not exist, or contains nothing allowed; the
/// reason lists what exists.
outcome<cpu_list> pus_within(const machine& on, std::span<const unsigned> allowed,
                             const binding& how);

/// The PU of each worker as an os index, k_none for an unbound worker. PUs in `allowed` that the
/// machine does not have are ignored. Unavailable if none remain, and when pus_within is.
///
///     const auto pus = assign(on, allowed_pus(on, limits), {binding_policy::scatter, {}}, 4);
outcome<std::vector<unsigned>> assign(const machine& on, std::span<const unsigned> allowed,
                                      const binding& how, unsigned workers);

/// Binds the calling thread to one PU, or to a set. Returns nothing on success, else the reason in
/// one line; the thread's binding is then unchanged. Not for the PUs of a synthetic machine.
[[nodiscard]] std::optional<std::string> bind_this_thread(unsigned pu);
[[nodiscard]] std::optional<std::string> bind_this_thread(std::span<const unsigned> pus);

/// The affinity mask of the calling thread, ascending, for machines of any size.
outcome<cpu_list> this_thread_affinity();

}  // namespace quern::topology
