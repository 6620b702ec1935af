// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <array>
#include <deque>
#include <memory>

#include <oneapi/tbb/flow_graph.h>

namespace bench::metg {

namespace {

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

/// A node for each task; outputs are in a table.
class flow {
public:
    explicit flow(graph& g) : m_outputs(static_cast<std::size_t>(g.tasks())) {
        for (int step = 0; step < g.steps(); ++step) {
            for (int point = 0; point < g.width(); ++point) {
                m_nodes.emplace_back(m_flow, [this, &g, step, point](tbb::flow::continue_msg) {
                    execute(g, step, point);
                });
                connect(g, step, point);
            }
        }
    }

    /// Can be called again.
    void run() {
        for (node* first : m_first) {
            first->try_put(tbb::flow::continue_msg());
        }
        m_flow.wait_for_all();
    }

private:
    static std::size_t index(const graph& g, int step, int point) {
        return static_cast<std::size_t>(step * g.width() + point);
    }

    void connect(const graph& g, int step, int point) {
        const inputs& in = g.inputs_for(step, point);
        for (int i = 0; i < in.count; ++i) {
            tbb::flow::make_edge(m_nodes[index(g, step - 1, in.points[i])], m_nodes.back());
        }
        if (in.count == 0) {
            m_first.push_back(&m_nodes.back());
        }
    }

    void execute(graph& g, int step, int point) {
        const inputs& in = g.inputs_for(step, point);
        std::array<const output*, inputs::k_most> all{};
        for (int i = 0; i < in.count; ++i) {
            all[static_cast<std::size_t>(i)] = &m_outputs[index(g, step - 1, in.points[i])];
        }
        m_outputs[index(g, step, point)] =
            g.execute(step, point, {all.data(), static_cast<std::size_t>(in.count)});
    }

    tbb::flow::graph m_flow;
    std::deque<node> m_nodes;
    std::vector<node*> m_first;
    std::vector<output> m_outputs;
};

const auto inside = [](const arguments& a, auto f) { return tbb_job(a, f); };

/// As in all others, the time includes making the graph.
const auto flow_graph =
    contenders("flow_graph", inside, [](graph& g) { return [&g] { flow(g).run(); }; });
/// For graphs that are run repeatedly.
const auto flow_graph_made = contenders("flow_graph_made", inside, [](graph& g) {
    return [made = std::make_shared<flow>(g)] { made->run(); };
});

}  // namespace

}  // namespace bench::metg
