// SPDX-License-Identifier: BSL-1.0
// The counters /primitives/…: sums over the nodes of all trees of the process, those that have
// ended included, so that counts never fall. Times are estimates, as in statistics_of().
#include "tree/statistics.hpp"

#include <quern/counters/registry.hpp>

#include <algorithm>
#include <mutex>

namespace quern::arrays::detail {

namespace {

struct primitive_sums {
    double evaluations = 0;
    double inlined = 0;
    double inclusive_ns = 0;
    double exclusive_ns = 0;

    void add(const tree_parts& all) noexcept {
        for (node_number n = 0; n < all.nodes.size(); ++n) {
            const node_kind kind = all.nodes[n].kind;
            if (kind == node_kind::call || kind == node_kind::call_tree ||
                kind == node_kind::call_foreign) {
                const node_statistics one = statistics_of(all, n);
                evaluations += static_cast<double>(one.evaluations);
                inlined += static_cast<double>(one.inlined);
                inclusive_ns += static_cast<double>(one.inclusive_ns);
                exclusive_ns += static_cast<double>(one.exclusive_ns);
            }
        }
    }
};

/// The finished trees. Never destroyed: static trees of programs end late.
class tree_register {
public:
    static tree_register& get() {
        static auto* const the_one = new tree_register();
        return *the_one;
    }

    void add(const tree_parts& one) {
        const std::scoped_lock guard(m_lock);
        m_trees.push_back(&one);
    }
    void add_to_past(const tree_parts& one) noexcept {
        const std::scoped_lock guard(m_lock);
        m_past.add(one);
    }
    void remove(const tree_parts& one) noexcept {
        const std::scoped_lock guard(m_lock);
        const auto at = std::find(m_trees.begin(), m_trees.end(), &one);
        if (at != m_trees.end()) {
            m_past.add(one);
            m_trees.erase(at);
        }
    }
    primitive_sums sums() {
        const std::scoped_lock guard(m_lock);
        primitive_sums all = m_past;
        for (const tree_parts* const each : m_trees) {
            all.add(*each);
        }
        return all;
    }

private:
    std::mutex m_lock;
    std::vector<const tree_parts*> m_trees{};
    primitive_sums m_past{};
};

class primitives_source final : public counters::source {
public:
    const std::vector<counters::counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<counters::raw_reading> read(const counters::place&) override {
        const primitive_sums all = tree_register::get().sums();
        const auto of = [](double value) { return counters::raw_reading{.above = value}; };
        return {of(all.evaluations), of(all.inlined), of(all.inclusive_ns), of(all.exclusive_ns)};
    }

private:
    using kind = counters::counter_kind;
    const std::vector<counters::counter_info> m_infos{
        {"/primitives/count/eval", kind::sum, "", "evaluations of primitives and calls in trees"},
        {"/primitives/count/eval_direct", kind::sum, "", "those in their parent's place"},
        {"/primitives/time/eval", kind::sum, "ns", "time of evaluations, operands included"},
        {"/primitives/time/exclusive", kind::sum, "ns", "time of evaluations without operands"},
    };
};

}  // namespace

void add_to_counters(const tree_parts& one) {
    static const bool k_is_installed = [] {
        counters::install(std::make_unique<primitives_source>()).keep();
        return true;
    }();
    static_cast<void>(k_is_installed);
    tree_register::get().add(one);
}

void keep_in_counters(const tree_parts& one) noexcept { tree_register::get().add_to_past(one); }

tree_parts::~tree_parts() { tree_register::get().remove(*this); }

}  // namespace quern::arrays::detail
