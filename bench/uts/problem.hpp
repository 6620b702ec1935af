// SPDX-License-Identifier: BSL-1.0
// uts: counts the nodes of an unbalanced tree, a task for each node and no cut-off: the tree T3 of
// the Unbalanced Tree Search benchmark, 4 million nodes, 1572 deep. Size: the children of the root;
// T3 has 2000. A smaller tree, for short runs, has the first of them, with all that is below.
#pragma once

#include "../../apps/uts/tree.hpp"
#include "../tasks/tasks.hpp"

namespace bench::uts {

using ::uts::child_of;
using ::uts::children_of;
using ::uts::node;
using ::uts::tree;

inline constexpr const tree& k_t3 = ::uts::k_trees[1];

/// Nodes of the tree below and with `n`.
inline std::uint64_t search(const tree& t, const node& n) {
    const std::uint32_t children = children_of(t, n);
    std::uint64_t nodes = 1;
    for (std::uint32_t i = 0; i < children; ++i) {
        nodes += search(t, child_of(n, i));
    }
    return nodes;
}

/// The same, a task for each.
template <class Tasks>
inline std::uint64_t search(Tasks here, const tree& t, const node& n) {
    const std::uint32_t children = children_of(t, n);
    if (children == 0) {
        return 1;
    }
    return 1 + here.sum(children, [&t, &n](auto there, long i) {
        return search(there, t, child_of(n, static_cast<std::uint32_t>(i)));
    });
}

class problem {
public:
    explicit problem(long children) : m_tree(k_t3), m_root(root_of(k_t3)) {
        m_tree.root_branching = static_cast<double>(children);
        m_nodes = m_tree.root_branching == k_t3.root_branching ? k_t3.expected.nodes : count();
    }

    std::uint64_t count() const { return search(m_tree, m_root); }

    template <class Tasks>
    std::uint64_t solve(Tasks here) const {
        return search(here, m_tree, m_root);
    }

    void check(std::uint64_t nodes) const { expect_equal("nodes of the tree", nodes, m_nodes); }

private:
    tree m_tree;
    node m_root;
    std::uint64_t m_nodes;
};

}  // namespace bench::uts
