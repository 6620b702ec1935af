// SPDX-License-Identifier: BSL-1.0
// uts: counts the nodes of an unbalanced tree, a task for each node and no cut-off: the tree T3 of
// the Unbalanced Tree Search benchmark, 4 million nodes, 1572 deep. Size: the children of the root:
// 2000 for T3, 500 for a smaller tree with the same parameters.
#pragma once

#include "../../apps/uts/tree.hpp"
#include "../tasks/tasks.hpp"

namespace bench::uts {

using ::uts::child_of;
using ::uts::children_of;
using ::uts::node;
using ::uts::tree;

/// Another root, for short runs. The serial search counted its figures.
inline constexpr tree k_small = {"small", ::uts::shape::binomial, 500, 0, 8, 0.124875,
                                 4,       {267'869, 234'447, 488}};

inline const tree& tree_of(long size) {
    for (const tree* t : {&::uts::k_trees[1], &k_small}) {
        if (t->root_branching == static_cast<double>(size)) {
            return *t;
        }
    }
    throw std::invalid_argument("uts: the size is 500 or 2000");
}

/// Nodes of the tree with root `n`.
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
    explicit problem(long size) : m_tree(tree_of(size)), m_root(root_of(m_tree)) {}

    std::uint64_t count() const { return search(m_tree, m_root); }

    template <class Tasks>
    std::uint64_t solve(Tasks here) const {
        return search(here, m_tree, m_root);
    }

    void check(std::uint64_t nodes) const {
        expect_equal("nodes of the tree", nodes, m_tree.expected.nodes);
    }

private:
    const tree& m_tree;
    node m_root;
};

}  // namespace bench::uts
