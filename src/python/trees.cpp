// SPDX-License-Identifier: BSL-1.0
// The class Tree: how the decorator @quern.tree builds and calls a tree of nodes.
#include "bindings.hpp"

#include "running.hpp"
#include "values.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <quern/arrays/errors.hpp>
#include <quern/arrays/primitive.hpp>
#include <quern/arrays/tree.hpp>
#include <quern/scheduler/sites.hpp>
#include <quern/task/blocking_region.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace quern::python {

namespace {

using arrays::inlining_rule;
using arrays::node_kind;
using node = arrays::tree::node;
using place = std::tuple<int, int, int, int>;

constexpr std::array<std::pair<std::string_view, node_kind>, 20> k_kinds{{
    {"constant", node_kind::constant},
    {"load", node_kind::load},
    {"store", node_kind::store},
    {"block", node_kind::block},
    {"branch", node_kind::branch},
    {"loop", node_kind::loop},
    {"for_each", node_kind::for_each},
    {"parallel_for", node_kind::parallel_for},
    {"leave", node_kind::leave},
    {"next", node_kind::next},
    {"result", node_kind::result},
    {"call", node_kind::call},
    {"both", node_kind::both},
    {"either", node_kind::either},
    {"negation", node_kind::negation},
    {"make_tuple", node_kind::make_tuple},
    {"make_slice", node_kind::make_slice},
    {"item", node_kind::item},
    {"call_tree", node_kind::call_tree},
    {"call_foreign", node_kind::call_foreign},
}};

constexpr std::array<std::pair<std::string_view, inlining_rule>, 6> k_rules{{
    {"settings", inlining_rule::settings},
    {"never", inlining_rule::never},
    {"always", inlining_rule::always},
    {"baseline", inlining_rule::baseline},
    {"adaptive", inlining_rule::adaptive},
    {"quern", inlining_rule::quern},
}};

template <class Table>
auto named(const Table& table, std::string_view name, const char* what) {
    std::string accepted;
    for (const auto& [each, meaning] : table) {
        if (each == name) {
            return meaning;
        }
        accepted.append(accepted.empty() ? "" : ", ").append(each);
    }
    throw std::invalid_argument(std::string("quern: ") + what + " '" + std::string(name) +
                                "'; accepted: " + accepted);
}

arrays::source_range range_of(const place& where) {
    const auto [line, column, end_line, end_column] = where;
    return {.line = line, .column = column, .end_line = end_line, .end_column = end_column};
}

/// A Python exception on its way through a tree. No std::exception: its message is not to be
/// changed on the way.
struct raised_in_python {
    std::shared_ptr<void> exception;
};

[[noreturn]] void pass_on_raised() {
    PyObject* type = nullptr;
    PyObject* raised = nullptr;
    PyObject* traceback = nullptr;
    PyErr_Fetch(&type, &raised, &traceback);
    PyErr_NormalizeException(&type, &raised, &traceback);
    if (traceback != nullptr) {
        PyException_SetTraceback(raised, traceback);
    }
    raised_in_python error{keep(raised)};
    Py_XDECREF(type);
    Py_XDECREF(raised);
    Py_XDECREF(traceback);
    throw error;
}

arrays::value call_with_gil(PyObject* function, std::span<const arrays::value> arguments) {
    const with_gil entered;
    try {
        const nb::object given = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(arguments.size())));
        Py_ssize_t i = 0;
        for (const arrays::value& each : arguments) {
            PyTuple_SET_ITEM(given.ptr(), i++, to_python(each).release().ptr());
        }
        const nb::object result = nb::steal(PyObject_Call(function, given.ptr(), nullptr));
        if (!result.is_valid()) {
            pass_on_raised();
        }
        return to_value(result);
    } catch (nb::python_error& error) {
        error.restore();
        pass_on_raised();
    }
}

/// In a task, on any worker; on a spare thread if Python functions wait on this one.
arrays::value call_python(PyObject* function, std::span<const arrays::value> arguments) {
    if (has_waiting_frames()) {
        const blocking_region elsewhere;
        return call_with_gil(function, arguments);
    }
    return call_with_gil(function, arguments);
}

/// Whether a tree calls Python: known when all trees that it calls are finished.
struct python_calls {
    bool own = false;
    std::optional<bool> any{};  ///< with those of the trees that it calls
    std::vector<std::weak_ptr<python_calls>> callees{};
};

bool calls_python(python_calls& of) {
    if (!of.any) {
        of.any = of.own;  // a tree that calls itself asks again meanwhile
        for (const auto& each : of.callees) {
            const auto callee = each.lock();
            of.any = *of.any || (callee != nullptr && calls_python(*callee));
        }
    }
    return *of.any;
}

class tree_object {
public:
    tree_object(const std::string& name, const std::string& file,
                std::vector<std::string> parameters)
        : m_tree(std::make_shared<arrays::tree>(name, file, std::move(parameters))),
          m_name(name),
          m_file(file) {}

    std::uint32_t variable(const std::string& name) { return m_tree->variable(name); }

    node constant(nb::handle of, const place& where) {
        return m_tree->add_constant(to_value(of), noted(where));
    }

    node add(const std::string& kind, std::vector<node> operands, const place& where,
             const std::string& name, std::uint32_t slot) {
        return m_tree->add(named(k_kinds, kind, "a node of kind"), std::move(operands),
                           noted(where), name, slot);
    }

    node call_of(const tree_object& other, std::vector<node> operands, const place& where) {
        m_calls->callees.push_back(other.m_calls);
        return m_tree->add_call_of(other.m_tree, std::move(operands), noted(where));
    }

    node foreign(nb::handle function, const std::string& name, std::vector<node> operands,
                 const place& where) {
        if (PyCallable_Check(function.ptr()) == 0) {
            throw arrays::type_error("quern: what '" + name + "' stands for cannot be called");
        }
        m_calls->own = true;
        return m_tree->add_foreign(
            [kept = keep(function.ptr())](std::span<const arrays::value> arguments) {
                return call_python(static_cast<PyObject*>(kept.get()), arguments);
            },
            name, std::move(operands), noted(where));
    }

    void finish(node root) {
        m_tree->finish(root);
        m_site = register_site(
            {.language = "Python", .function = m_name, .file = m_file, .line = m_line});
    }

    nb::object run(nb::tuple arguments, const std::string& inlining) {
        const inlining_rule rule = named(k_rules, inlining, "inlining");
        arrays::values given;
        given.reserve(arguments.size());
        for (const nb::handle each : arguments) {
            given.push_back(to_value(each));
        }
        try {
            return to_python(run_native({.site = m_site, .calls_python = calls_python(*m_calls)},
                                        m_past, [tree = m_tree, values = std::move(given), rule] {
                                            return (*tree)(values, rule);
                                        }));
        } catch (const raised_in_python& error) {
            auto* const raised = static_cast<PyObject*>(error.exception.get());
            PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised)), raised);
            throw nb::python_error();
        }
    }

    nb::list statistics() const {
        nb::list all;
        for (std::size_t i = 0; i < m_tree->nodes(); ++i) {
            const arrays::node_statistics of = m_tree->statistics(static_cast<node>(i));
            nb::dict one;
            one["node"] = i;
            one["evaluations"] = of.evaluations;
            one["inlined"] = of.inlined;
            one["inclusive_ns"] = of.inclusive_ns;
            one["exclusive_ns"] = of.exclusive_ns;
            all.append(one);
        }
        return all;
    }

    const arrays::tree& tree() const noexcept { return *m_tree; }

private:
    arrays::source_range noted(const place& where) {
        const arrays::source_range range = range_of(where);
        if (range.line > 0 && (m_line == 0 || range.line < m_line)) {
            m_line = range.line;
        }
        return range;
    }

    std::shared_ptr<arrays::tree> m_tree;
    std::string m_name;
    std::string m_file;
    int m_line = 0;  ///< the first
    std::shared_ptr<python_calls> m_calls = std::make_shared<python_calls>();
    const void* m_site = nullptr;
    call_history m_past;
};

nb::dict primitives() {
    nb::dict all;
    for (const arrays::primitive& each : arrays::all_primitives()) {
        const nb::str name(each.name.data(), each.name.size());
        all[name] = nb::str(each.parameters.data(), each.parameters.size());
    }
    return all;
}

nb::object call_primitive(const std::string& name, nb::args arguments) {
    const arrays::primitive* const found = arrays::find_primitive(name);
    if (found == nullptr) {
        arrays::call(name, {});  // throws, with the nearest name
    }
    arrays::values given;
    for (const nb::handle each : arguments) {
        given.push_back(to_value(each));
    }
    static call_history past;
    return to_python(
        run_native({}, past, [found, values = std::move(given)] { return found->run(values); }));
}

}  // namespace

void bind_trees(nb::module_& m) {
    nb::class_<tree_object> type(m, "Tree");
    type.def(nb::init<const std::string&, const std::string&, std::vector<std::string>>(),
             nb::arg("name"), nb::arg("file"), nb::arg("parameters"));
    type.def("variable", &tree_object::variable, nb::arg("name"));
    type.def("constant", &tree_object::constant, nb::arg("value").none(), nb::arg("where"));
    type.def("node", &tree_object::add, nb::arg("kind"), nb::arg("operands"), nb::arg("where"),
             nb::arg("name") = "", nb::arg("slot") = 0);
    type.def("call_of", &tree_object::call_of, nb::arg("other"), nb::arg("operands"),
             nb::arg("where"));
    type.def("foreign", &tree_object::foreign, nb::arg("callable"), nb::arg("name"),
             nb::arg("operands"), nb::arg("where"));
    type.def("finish", &tree_object::finish, nb::arg("root"));
    type.def("run", &tree_object::run, nb::arg("args"), nb::arg("inlining") = "settings");
    type.def("statistics", &tree_object::statistics);
    type.def("reset_statistics", [](const tree_object& self) { self.tree().reset_statistics(); });
    type.def("explain", [](const tree_object& self) { return self.tree().explain(); });
    type.def("dot", [](const tree_object& self) { return self.tree().to_dot(); });
    type.def("newick", [](const tree_object& self) { return self.tree().to_newick(); });
    type.def("json", [](const tree_object& self) { return self.tree().to_json(); });
    type.def("nodes", [](const tree_object& self) { return self.tree().nodes(); });
    m.def("primitives", primitives);
    m.def("call_primitive", call_primitive);
}

}  // namespace quern::python
