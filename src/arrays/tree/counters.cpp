// SPDX-License-Identifier: BSL-1.0
// The counters /primitives/…: sums over the nodes of all trees of the process, those that have
// ended included, so that counts never fall; and /primitives/<name>/…: the same of one primitive,
// for those that trees have used, of calls of trees and of foreign functions. So the counters are
// not more than the table of primitives. Times are estimates, as in statistics_of().
#include "tree/statistics.hpp"

#include <quern/arrays/primitive.hpp>
#include <quern/counters/registry.hpp>

#include <algorithm>
#include <mutex>
#include <optional>

namespace quern::arrays::detail {

namespace {

struct primitive_sums {
    double evaluations = 0;
    double inlined = 0;
    double inclusive_ns = 0;
    double exclusive_ns = 0;

    void add(const node_statistics& one) noexcept {
        evaluations += static_cast<double>(one.evaluations);
        inlined += static_cast<double>(one.inlined);
        inclusive_ns += static_cast<double>(one.inclusive_ns);
        exclusive_ns += static_cast<double>(one.exclusive_ns);
    }
    void add(const primitive_sums& other) noexcept {
        evaluations += other.evaluations;
        inlined += other.inlined;
        inclusive_ns += other.inclusive_ns;
        exclusive_ns += other.exclusive_ns;
    }
};

/// What is counted apart: a primitive, by its place in the table; then calls of trees and of
/// foreign functions.
using kind_number = std::size_t;

kind_number number_of_kinds() noexcept { return all_primitives().size() + 2; }

std::string_view name_of_kind(kind_number of) noexcept {
    const std::span<const primitive> table = all_primitives();
    return of < table.size()
               ? table[of].name
               : name_of(of == table.size() ? node_kind::call_tree : node_kind::call_foreign);
}

/// None for nodes that are not counted.
std::optional<kind_number> kind_of(const node_data& n) noexcept {
    const std::span<const primitive> table = all_primitives();
    switch (n.kind) {
        case node_kind::call:
            return static_cast<kind_number>(n.what - table.data());
        case node_kind::call_tree:
            return table.size();
        case node_kind::call_foreign:
            return table.size() + 1;
        default:
            return std::nullopt;
    }
}

/// Calls f(kind, node) for each node that is counted.
template <class F>
void each_counted(const tree_parts& all, F&& f) {
    for (node_number n = 0; n < all.nodes.size(); ++n) {
        if (const std::optional<kind_number> kind = kind_of(all.nodes[n])) {
            f(*kind, n);
        }
    }
}

/// The finished trees. Never destroyed: static trees of programs end late.
class tree_register {
public:
    static tree_register& get() {
        static auto* const the_one = new tree_register();
        return *the_one;
    }

    /// Returns the kinds that no tree had before.
    std::vector<kind_number> add(const tree_parts& one) {
        std::vector<kind_number> found;
        const std::scoped_lock guard(m_lock);
        m_trees.push_back(&one);
        each_counted(one, [&](kind_number kind, node_number) {
            if (!m_is_known[kind]) {
                m_is_known[kind] = true;
                found.push_back(kind);
            }
        });
        return found;
    }
    void add_to_past(const tree_parts& one) noexcept {
        const std::scoped_lock guard(m_lock);
        keep(one);
    }
    void remove(const tree_parts& one) noexcept {
        const std::scoped_lock guard(m_lock);
        const auto at = std::find(m_trees.begin(), m_trees.end(), &one);
        if (at != m_trees.end()) {
            keep(one);
            m_trees.erase(at);
        }
    }
    /// Of one kind, or of all.
    primitive_sums sums(std::optional<kind_number> of) {
        const std::scoped_lock guard(m_lock);
        primitive_sums all;
        for (kind_number each = 0; each < m_past.size(); ++each) {
            if (!of || each == *of) {
                all.add(m_past[each]);
            }
        }
        for (const tree_parts* const tree : m_trees) {
            each_counted(*tree, [&](kind_number kind, node_number n) {
                if (!of || kind == *of) {
                    all.add(statistics_of(*tree, n));
                }
            });
        }
        return all;
    }

private:
    void keep(const tree_parts& one) noexcept {
        each_counted(
            one, [&](kind_number kind, node_number n) { m_past[kind].add(statistics_of(one, n)); });
    }

    std::mutex m_lock;
    std::vector<const tree_parts*> m_trees{};
    std::vector<primitive_sums> m_past = std::vector<primitive_sums>(number_of_kinds());
    std::vector<bool> m_is_known = std::vector<bool>(number_of_kinds());
};

class primitives_source final : public counters::source {
public:
    /// Of all primitives, or of one kind.
    explicit primitives_source(std::optional<kind_number> of)
        : m_of(of), m_infos(infos(of ? name_of_kind(*of) : "")) {}

    const std::vector<counters::counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<counters::raw_reading> read(const counters::place&) override {
        const primitive_sums all = tree_register::get().sums(m_of);
        const auto of = [](double value) { return counters::raw_reading{.above = value}; };
        return {of(all.evaluations), of(all.inlined), of(all.inclusive_ns), of(all.exclusive_ns)};
    }

private:
    static std::vector<counters::counter_info> infos(std::string_view name) {
        using kind = counters::counter_kind;
        const std::string start = name.empty() ? "/primitives" : "/primitives/" + std::string(name);
        const std::string what =
            name.empty() ? "primitives and calls in trees" : std::string(name) + " in trees";
        return {
            {start + "/count/eval", kind::sum, "", "evaluations of " + what},
            {start + "/count/eval_direct", kind::sum, "", "those in their parent's place"},
            {start + "/time/eval", kind::sum, "ns", "time of evaluations, operands included"},
            {start + "/time/exclusive", kind::sum, "ns", "time of evaluations without operands"},
        };
    }

    std::optional<kind_number> m_of;
    std::vector<counters::counter_info> m_infos;
};

void install_counters_of(std::optional<kind_number> kind) {
    counters::install(std::make_unique<primitives_source>(kind)).keep();
}

}  // namespace

void add_to_counters(const tree_parts& one) {
    static const bool k_is_installed = [] {
        install_counters_of(std::nullopt);
        return true;
    }();
    static_cast<void>(k_is_installed);
    // Without the lock of the register, which a reading takes.
    for (const kind_number each : tree_register::get().add(one)) {
        install_counters_of(each);
    }
}

void keep_in_counters(const tree_parts& one) noexcept { tree_register::get().add_to_past(one); }

tree_parts::~tree_parts() { tree_register::get().remove(*this); }

}  // namespace quern::arrays::detail
