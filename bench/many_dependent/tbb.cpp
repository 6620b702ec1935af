// SPDX-License-Identifier: BSL-1.0
// A flow graph has no accesses: the edges are found here, before the graph runs.
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <deque>
#include <memory>
#include <vector>

#include <oneapi/tbb/flow_graph.h>

namespace bench::many_dependent {

namespace {

using node = tbb::flow::continue_node<tbb::flow::continue_msg>;

class flow {
public:
    template <class Body>
    node& add(Body body) {
        return m_nodes.emplace_back(m_flow, body);
    }

    /// A node that no edge leads to begins when the graph runs.
    void add_first(node& n) { m_first.push_back(&n); }

    /// Can be called again.
    void run() {
        for (node* each : m_first) {
            each->try_put(tbb::flow::continue_msg());
        }
        m_flow.wait_for_all();
    }

private:
    tbb::flow::graph m_flow;
    std::deque<node> m_nodes;
    std::vector<node*> m_first;
};

/// The last tasks with an access to a number.
struct last_accesses {
    node* writer = nullptr;
    std::vector<node*> readers;
};

std::shared_ptr<flow> graph_of_many(long tasks, table& t) {
    auto made = std::make_shared<flow>();
    std::vector<last_accesses> last(t.size());
    for (long i = 0; i < tasks; ++i) {
        const value& from = t[read_by(i)];
        value& to = t[changed_by(i)];
        node& n = made->add([&from, &to](tbb::flow::continue_msg) { step(from, to); });
        last_accesses& read = last[read_by(i)];
        last_accesses& changed = last[changed_by(i)];
        bool is_first = true;
        const auto after = [&](node* before) {
            if (before != nullptr) {
                tbb::flow::make_edge(*before, n);
                is_first = false;
            }
        };
        after(read.writer);
        after(changed.writer);
        for (node* each : changed.readers) {
            after(each);
        }
        read.readers.push_back(&n);
        changed.writer = &n;
        changed.readers.clear();
        if (is_first) {
            made->add_first(n);
        }
    }
    return made;
}

std::shared_ptr<flow> graph_of_chain(long tasks, value& v) {
    auto made = std::make_shared<flow>();
    node* last = nullptr;
    for (long i = 0; i < tasks; ++i) {
        node& n = made->add([&v](tbb::flow::continue_msg) { link(v); });
        if (last == nullptr) {
            made->add_first(n);
        } else {
            tbb::flow::make_edge(*last, n);
        }
        last = &n;
    }
    return made;
}

value many(long tasks) {
    table t{};
    graph_of_many(tasks, t)->run();
    return sum_of(t);
}

value chain(long tasks) {
    value v = 0;
    graph_of_chain(tasks, v)->run();
    return v;
}

/// As in all others, the time includes making the graph.
const contender flow_graph{"many_dependent", "flow_graph", [](const arguments& a) {
                               return tbb_job(a, [n = a.size, answer = serial_sum(a.size)] {
                                   return compared([n] { return many(n); }, answer);
                               });
                           }};
const contender flow_chain{"dependent_chain", "flow_graph", [](const arguments& a) {
                               return tbb_job(a, [n = a.size, answer = serial_chain(a.size)] {
                                   return compared([n] { return chain(n); }, answer);
                               });
                           }};

/// For graphs that are run repeatedly.
const contender flow_graph_made{
    "many_dependent", "flow_graph_made", [](const arguments& a) {
        auto t = std::make_shared<table>();
        return tbb_job(a, [t, made = graph_of_many(a.size, *t), answer = serial_sum(a.size)] {
            return compared(
                [&] {
                    t->fill(0);
                    made->run();
                    return sum_of(*t);
                },
                answer);
        });
    }};
const contender flow_chain_made{
    "dependent_chain", "flow_graph_made", [](const arguments& a) {
        auto v = std::make_shared<value>();
        return tbb_job(a, [v, made = graph_of_chain(a.size, *v), answer = serial_chain(a.size)] {
            return compared(
                [&] {
                    *v = 0;
                    made->run();
                    return *v;
                },
                answer);
        });
    }};

}  // namespace

}  // namespace bench::many_dependent
