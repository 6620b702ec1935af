// SPDX-License-Identifier: BSL-1.0
// HPX programs with several localities: the job from init to its end, ids, and what is thrown. In a
// library for each MPI library, quern_localities_hpx_<name>, with localities_names.cpp; its headers
// make init() begin a job.
#include "localities_names.hpp"

#include <quern/compat/hpx/init.hpp>
#include <quern/compat/hpx/localities/calls.hpp>
#include <quern/compat/hpx/localities/collectives.hpp>
#include <quern/compat/hpx/localities/components.hpp>
#include <quern/localities/detail/running_object.hpp>
#include <quern/localities/session.hpp>

#include <cereal/details/util.hpp>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace hpx {

namespace {

/// Not destroyed by exit(), which waits for no other locality.
quern::localities::session* g_session_of_program = nullptr;

void begin_job(int& argc, char**& argv) {
    g_session_of_program = new quern::localities::session(argc, argv);
}
void end_job() {
    delete std::exchange(g_session_of_program, nullptr);
    detail::forget_names();
}
/// Waits for all of them; one that throws is thrown here after that.
void run_at_others(void (*f)()) {
    std::vector<quern::future<void>> calls;
    for (const int each : quern::localities::all()) {
        if (each != quern::localities::here()) {
            calls.push_back(quern::localities::run_at(each, f));
        }
    }
    std::exception_ptr failed;
    for (quern::future<void>& each : calls) {
        try {
            each.get();
        } catch (...) {
            failed = std::current_exception();
        }
    }
    if (failed) {
        std::rethrow_exception(failed);
    }
}
bool is_root_of_job() { return quern::localities::here() == quern::localities::root; }

/// The number of localities. Throws hpx::exception(invalid_status).
int count_in_job() {
    try {
        return quern::localities::count();
    } catch (const std::logic_error&) {
        throw exception(error::invalid_status,
                        "there are localities only between the begin and the end of hpx::init");
    }
}

/// Gives a reference what it would read from an archive.
struct values_of_reference {
    quern::localities::detail::object_reference::travelling of;

    template <class... Values>
    void operator()(Values&... into) {
        std::tie(into...) =
            std::tuple(of.name.home, of.name.serial, of.lender, of.locality, of.moves, of.type);
    }
};

std::string type_text(const std::type_info& of) { return cereal::util::demangle(of.name()); }

[[noreturn]] void refuse_target(const id_type& to) {
    if (to.is_locality()) {
        throw exception(error::bad_parameter, "there is no " + to.text() + "; accepted: 0 to " +
                                                  std::to_string(count_in_job() - 1));
    }
    throw exception(error::bad_parameter, "an id_type that refers to nothing is called");
}

/// The code of an error by the name that ends the text of hpx::exception, ": HPX(no_state)", which
/// is cut off.
error take_code(std::string& text) {
    constexpr std::string_view k_begin = "HPX(";
    const std::size_t at = text.rfind(k_begin);
    if (at == std::string::npos) {
        return error::unknown_error;
    }
    const std::string name = text.substr(at);
    text.resize(at >= 2 ? at - 2 : 0);
    for (int code = 0; code <= static_cast<int>(error::bad_component_type); ++code) {
        if (detail::error_category().message(code) == name) {
            return static_cast<error>(code);
        }
    }
    return error::unknown_error;
}

}  // namespace

namespace detail {

bool use_localities() noexcept {
    set_job_of_localities({&begin_job, &end_job, &is_root_of_job, &run_at_others});
    return true;
}

void refuse_component_type(const std::type_info& is, const std::type_info& wanted) {
    throw exception(
        error::bad_component_type,
        "a component of type " + type_text(is) + " is called as one of type " + type_text(wanted));
}

component_reference reference_of_running(quern::localities::object_name name) {
    if (name.serial == 0) {
        throw exception(error::invalid_status,
                        "get_id() of a component that is being made, or was not made by hpx::new_");
    }
    values_of_reference values{[&] {
        try {
            return quern::localities::detail::lend_running(name);
        } catch (const std::logic_error&) {
            throw exception(error::invalid_status,
                            "get_id() of a component outside of its actions, or while it ends");
        }
    }()};
    component_reference made;
    made.load(values);
    return made;
}

int require_locality(const id_type& to) {
    if (!to.is_locality() || to.locality() >= count_in_job()) {
        refuse_target(to);
    }
    return static_cast<int>(to.locality());
}

void require_component(const id_type& to, const std::type_info& wanted) {
    if (to.is_locality()) {
        throw exception(error::bad_component_type,
                        to.text() + " is called as a component of type " + type_text(wanted));
    }
    if (!to) {
        refuse_target(to);
    }
}

void require_same_locality(int other) {
    if (other != quern::localities::here()) {
        throw exception(error::bad_parameter, "get_ptr of a component that is at locality " +
                                                  std::to_string(quern::localities::here()) +
                                                  ", from locality " + std::to_string(other));
    }
}

void throw_arrived(const quern::localities::remote_error& from) {
    const std::string& type = from.report().type;
    std::string text = from.report().message;
    if (type == "hpx::exception") {
        const error code = take_code(text);
        throw exception(code, text);
    }
    if (type == "std::runtime_error") {
        throw std::runtime_error(text);
    }
    if (type == "std::logic_error") {
        throw std::logic_error(text);
    }
    if (type == "std::invalid_argument") {
        throw std::invalid_argument(text);
    }
    if (type == "std::out_of_range") {
        throw std::out_of_range(text);
    }
    if (type == "std::domain_error") {
        throw std::domain_error(text);
    }
    if (type == "std::length_error") {
        throw std::length_error(text);
    }
    if (type == "std::range_error") {
        throw std::range_error(text);
    }
    if (type == "std::overflow_error") {
        throw std::overflow_error(text);
    }
    if (type == "std::underflow_error") {
        throw std::underflow_error(text);
    }
    if (type == "std::bad_alloc") {
        throw std::bad_alloc();
    }
    throw from;
}

}  // namespace detail

std::string id_type::text() const {
    if (is_locality()) {
        return "locality " + std::to_string(m_locality);
    }
    if (!m_component) {
        return "nothing";
    }
    return "component " + std::to_string(m_component.name().serial) + " of locality " +
           std::to_string(m_component.name().home);
}

std::uint32_t naming::get_locality_id_from_id(const id_type& id) noexcept {
    if (id.is_locality()) {
        return static_cast<std::uint32_t>(id.locality());
    }
    return id ? static_cast<std::uint32_t>(id.component().name().home) : invalid_locality_id;
}

std::uint32_t get_locality_id(error_code& ec) noexcept {
    detail::succeed(ec);
    try {
        return static_cast<std::uint32_t>(quern::localities::here());
    } catch (const std::logic_error&) {
        return naming::invalid_locality_id;
    }
}
std::uint32_t get_num_localities(launch, error_code& ec) {
    return detail::translated(ec, [] { return static_cast<std::uint32_t>(count_in_job()); });
}
future<std::uint32_t> get_num_localities() {
    return hpx::make_ready_future<std::uint32_t>(hpx::get_num_localities(launch::sync));
}
std::uint32_t get_initial_num_localities() { return hpx::get_num_localities(launch::sync); }
std::string get_locality_name() { return "locality#" + std::to_string(hpx::get_locality_id()); }
future<std::string> get_locality_name(const id_type& id) {
    return hpx::get_colocation_id(id).then(detail::in_place(), [](future<id_type> at) {
        return "locality#" + std::to_string(at.get().locality());
    });
}

id_type find_locality(std::uint32_t number) {
    return id_type::of_locality(detail::require_locality(id_type::of_locality(number)));
}
id_type find_here(error_code& ec) {
    return detail::translated(ec, [] {
        count_in_job();
        return id_type::of_locality(hpx::get_locality_id());
    });
}
id_type find_root_locality(error_code& ec) {
    return detail::translated(ec, [] { return hpx::find_locality(0); });
}
std::vector<id_type> find_all_localities(error_code& ec) {
    return detail::translated(ec, [] {
        const int count = count_in_job();
        std::vector<id_type> all;
        all.reserve(static_cast<std::size_t>(count));
        for (int each = 0; each < count; ++each) {
            all.push_back(id_type::of_locality(each));
        }
        return all;
    });
}
std::vector<id_type> find_remote_localities(error_code& ec) {
    std::vector<id_type> all = hpx::find_all_localities(ec);
    std::erase(all, id_type::of_locality(hpx::get_locality_id()));
    return all;
}

future<id_type> get_colocation_id(const id_type& id) {
    try {
        if (!id.component()) {
            return hpx::make_ready_future<id_type>(
                id_type::of_locality(detail::require_locality(id)));
        }
        return detail::arrived(id.component().call([](const detail::component_holder&) {
            return quern::localities::here();
        }),
                               [](int number) { return id_type::of_locality(number); });
    } catch (...) {
        return hpx::make_exceptional_future<id_type>(std::current_exception());
    }
}
id_type get_colocation_id(launch, const id_type& id, error_code& ec) {
    return detail::translated(ec, [&] { return hpx::get_colocation_id(id).get(); });
}

namespace collectives {

communicator::communicator(const std::string& basename, detail::sites wanted) {
    const auto all = static_cast<std::size_t>(count_in_job());
    const std::size_t own = hpx::get_locality_id();
    const std::size_t sites = wanted.count.is_default() ? all : wanted.count.argument;
    const std::size_t here = wanted.here.is_default() ? own : wanted.here.argument;
    const std::size_t root = wanted.root.is_default() ? 0 : wanted.root.argument;
    if (sites == 0 || sites > all || here != own || here >= sites || root >= sites) {
        throw exception(error::bad_parameter,
                        "a communicator '" + basename + "' of " + std::to_string(sites) +
                            " sites, this site " + std::to_string(here) + ", root " +
                            std::to_string(root) +
                            "; accepted: each locality is one site, this one " +
                            std::to_string(own) + " of " + std::to_string(all));
    }
    std::vector<int> members;
    for (std::size_t each = 0; each < sites; ++each) {
        members.push_back(static_cast<int>(each));
    }
    m_parts = std::make_shared<const shared_parts>(
        shared_parts{quern::localities::communicator("hpx/" + basename, members), here, root});
}

const communicator::shared_parts& communicator::parts() const {
    if (!m_parts) {
        throw exception(error::bad_parameter, "an operation of an empty communicator");
    }
    return *m_parts;
}

std::pair<num_sites_arg, this_site_arg> communicator::get_info() const {
    return {num_sites_arg(parts().sites.members().size()), this_site_arg(parts().here)};
}

void detail::require_root(const communicator& of, const char* operation) {
    if (!of.is_root()) {
        throw exception(error::bad_parameter, std::string(operation) + " at site " +
                                                  std::to_string(of.get_info().second.argument) +
                                                  "; accepted: the root, site " +
                                                  std::to_string(of.root()));
    }
}

const quern::localities::communicator& communicator::its(detail::sites named) const {
    if (!named.here.is_default() && named.here.argument != parts().here) {
        throw exception(error::bad_parameter,
                        "an operation of site " + std::to_string(named.here.argument) +
                            ", called by site " + std::to_string(parts().here) +
                            "; accepted: each locality is one site");
    }
    return parts().sites;
}

}  // namespace collectives

}  // namespace hpx
