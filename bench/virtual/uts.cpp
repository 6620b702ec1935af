// SPDX-License-Identifier: BSL-1.0
// The row "uts": the trees of bench/uts, with the tasks of quern_context in bench/tasks/quern.hpp.
#include "row.hpp"

#include "../../apps/uts/tree.hpp"

#include <stdexcept>

namespace virtual_time {
namespace {

/// As k_small in bench/uts/problem.hpp.
constexpr ::uts::tree k_small = {"small", ::uts::shape::binomial, 500, 0, 8, 0.124875,
                                 4,       {267'869, 234'447, 488}};

const ::uts::tree& tree_of(long size) {
    for (const ::uts::tree* t : {&::uts::k_trees[1], &k_small}) {
        if (t->root_branching == static_cast<double>(size)) {
            return *t;
        }
    }
    throw std::invalid_argument("uts: the size is " + std::to_string(size) +
                                ", and must be 500 or 2000");
}

struct search {
    const ::uts::tree* tree;
    picoseconds each;

    std::uint64_t visit(fork_place place, const ::uts::node& n) const {
        simulation::compute(each);
        const std::uint32_t children = children_of(*tree, n);
        return children == 0 ? 1 : 1 + from(place, n, 0, children);
    }

    /// The children of `parent` from `index` on.
    std::uint64_t from(fork_place place, const ::uts::node& parent, std::uint32_t index,
                       std::uint32_t children) const {
        const auto one = [this, &parent, index](fork_place there) {
            const ::uts::node n = child_of(parent, index);
            return visit(there, n);
        };
        if (index + 1 == children) {
            return one(place);
        }
        return fork_join(
            place,
            [this, &parent, index, children](fork_place there) {
                return from(there, parent, index + 1, children);
            },
            one);
    }
};

}  // namespace

row_result simulate_uts(const setup& s) {
    const ::uts::tree& tree = tree_of(s.size);
    const ::uts::node root = root_of(tree);
    row_result result = run_rounds(
        s, tree.expected.nodes,
        [&, what = search{&tree, s.work}](fork_place place) { return what.visit(place, root); });
    result.value *= 1e3 / static_cast<double>(tree.expected.nodes);
    return result;
}

}  // namespace virtual_time
