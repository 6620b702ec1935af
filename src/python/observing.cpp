// SPDX-License-Identifier: BSL-1.0
// Settings, counters, traces and what is known of runtime and machine.
#include "bindings.hpp"
#include "running.hpp"

#include <nanobind/stl/string.h>

#include <quern/counters/counter.hpp>
#include <quern/settings/settings.hpp>
#include <quern/topology/machine.hpp>
#include <quern/trace/page.hpp>
#include <quern/trace/perfetto.hpp>
#include <quern/trace/recorder.hpp>
#include <quern/version.hpp>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace quern::python {

namespace {

nb::str text(std::string_view of) { return nb::str(of.data(), of.size()); }

nb::dict read_counters(const std::string& pattern) {
    runtime& of = runtime_here();
    counters::snapshot read;
    {
        const without_gil away;
        counters::counter_set set(of, counters::baseline::start);
        set.add(pattern);
        read = set.evaluate();
    }
    nb::dict all;
    for (const counters::counter_value& each : read.values) {
        all[text(each.name)] = each.ok() ? nb::object(nb::float_(each.value)) : nb::none();
    }
    return all;
}

nb::list list_settings() {
    const settings now = current_settings();
    nb::list all;
    for (const setting& row : now.rows()) {
        const setting_value& set = now.at(row.name);
        nb::dict one;
        one["name"] = text(row.name);
        one["value"] = text(set.text);
        one["origin"] = text(set.origin);
        one["accepted"] = text(row.accepted());
        one["help"] = text(row.help);
        all.append(one);
    }
    return all;
}

void write_setting(const std::string& name, const std::string& value) {
    current_settings().at(name);  // an unknown name is the first thing to say
    if (is_started()) {
        throw std::logic_error("quern.settings: '" + name +
                               "' cannot be changed while the runtime runs; set it before the "
                               "first task, or call quern.stop() first");
    }
    set_setting(name, value, "quern.settings");
}

/// with quern.trace("run.html"): …
class tracing {
public:
    explicit tracing(std::string file) : m_file(std::move(file)) {
        if (!m_file.ends_with(".html") && !m_file.ends_with(".pftrace")) {
            throw std::invalid_argument("quern.trace: '" + m_file +
                                        "'; accepted: a file that ends in .html, for a page, or in "
                                        ".pftrace, for ui.perfetto.dev");
        }
    }

    void begin() {
        if (m_recorder) {
            throw std::logic_error("quern.trace: it records already");
        }
        runtime& of = runtime_here();
        m_settings = current_settings();
        m_out.open(m_file, std::ios::binary);
        if (!m_out) {
            PyErr_SetFromErrnoWithFilename(PyExc_OSError, m_file.c_str());
            throw nb::python_error();
        }
        const without_gil away;
        m_recorder.emplace(of, trace::recorder_options{.chosen = &*m_settings});
    }

    void end() {
        if (!m_recorder) {
            return;
        }
        {
            const without_gil away;
            const trace::recording run = m_recorder->stop();
            m_recorder.reset();
            m_file.ends_with(".html") ? trace::write_page(run, m_out)
                                      : trace::write_perfetto(run, m_out);
            m_out.close();
        }
        if (!m_out) {
            throw std::runtime_error("quern.trace: '" + m_file + "' could not be written");
        }
    }

private:
    std::string m_file;
    std::ofstream m_out;
    std::optional<settings> m_settings;
    std::optional<trace::recorder> m_recorder;
};

}  // namespace

void bind_observing(nb::module_& m) {
    m.attr("version") = QUERN_VERSION_STRING;
    m.def("counters", read_counters, nb::arg("pattern"));
    m.def("list_settings", list_settings);
    m.def("read_setting", [](const std::string& name) { return current_settings().at(name).text; });
    m.def("write_setting", write_setting);
    nb::class_<tracing> type(m, "tracing");
    type.def(nb::init<std::string>(), nb::arg("file"));
    type.def("begin", &tracing::begin);
    type.def("end", &tracing::end);
}

}  // namespace quern::python
