// SPDX-License-Identifier: BSL-1.0
// The session, and what the public headers ask of its job.
#include <quern/localities/session.hpp>

#include "counters_source.hpp"
#include "job.hpp"
#include "job_printing.hpp"
#include "shared_values.hpp"

#include <quern/base/detail/spin_lock.hpp>
#include <quern/localities/detail/ticket.hpp>
#include <quern/mpi/environment.hpp>

#include <mpi.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>

namespace quern::localities {

namespace {

std::atomic<detail::job*> g_job{nullptr};
/// Before there can be a runtime, which looks up the counters of its settings.
[[maybe_unused]] const bool g_has_counters = detail::install_counters();
quern::detail::spin_lock g_lock;  ///< for changes of g_job and g_past
detail::job_totals g_past;        ///< of sessions that have ended

void session_begins(detail::job& its) noexcept {
    const std::scoped_lock lock(g_lock);
    g_job.store(&its, std::memory_order_release);  // pairs with job_for
}

void session_ends(const detail::job& its) noexcept {
    const std::scoped_lock lock(g_lock);
    g_past += its.totals();
    g_job.store(nullptr, std::memory_order_relaxed);
}

/// exit() while a session lives, in a function that has it or in another thread: its destructor
/// will not be called. The default runtime, which ends later, must not wait for parcels.
class abandons_at_exit {
public:
    abandons_at_exit() = default;
    abandons_at_exit(const abandons_at_exit&) = delete;
    abandons_at_exit& operator=(const abandons_at_exit&) = delete;
    ~abandons_at_exit() {
        if (detail::job* const living = g_job.load(std::memory_order_acquire)) {
            living->abandon();
        }
    }
};

/// After the start of the default runtime: what is made last is destroyed first.
void expect_exit() { [[maybe_unused]] static const abandons_at_exit made; }

/// Whether the program has initialised MPI. Throws std::runtime_error if it cannot be used.
bool finds_mpi() {
    int is_initialised = 0;
    int is_finalised = 0;
    MPI_Initialized(&is_initialised);
    MPI_Finalized(&is_finalised);
    if (is_finalised != 0) {
        throw std::runtime_error(
            "quern: localities: MPI has been finalised, by the program or by the end of a session "
            "that had initialised it; for several sessions the program initialises MPI itself, by "
            "a quern::mpi::environment that outlives them");
    }
    return is_initialised != 0;
}

}  // namespace

struct session::parts {
    std::optional<mpi::environment> environment;  ///< none: the program's own
    std::optional<detail::job> job;
    std::shared_ptr<detail::shared_values> values;
    std::optional<detail::job_printing> printing;
    int exceptions = std::uncaught_exceptions();
};

session::session(int& argc, char**& argv) : m_parts(std::make_unique<parts>()) {
    if (g_job.load(std::memory_order_acquire) != nullptr) {
        throw std::logic_error("quern: localities: a second session; there is one at a time");
    }
    if (!finds_mpi()) {
        m_parts->environment.emplace(argc, argv);
    }
    m_parts->job.emplace(runtime::default_instance());
    expect_exit();
    session_begins(*m_parts->job);
    m_parts->values = std::make_shared<detail::shared_values>(*m_parts->job);
    adaptation::detail::carry_values(m_parts->values);  // before others can send theirs
    m_parts->job->meet();
    m_parts->values->begin();
    m_parts->printing.emplace(*m_parts->job, runtime::default_instance());
}

session::~session() {
    adaptation::detail::carry_values_no_more();
    m_parts->values->end();
    m_parts->printing->end_intervals();
    if (std::uncaught_exceptions() > m_parts->exceptions) {
        m_parts->job->abandon();
        session_ends(*m_parts->job);
        static_cast<void>(m_parts.release());  // tasks may still use it
        return;
    }
    m_parts->job->end();
    m_parts->printing->end();
    session_ends(*m_parts->job);
}

int here() { return detail::job_for("here").here(); }
int count() { return detail::job_for("count").count(); }
std::vector<int> all() {
    std::vector<int> numbers(static_cast<std::size_t>(detail::job_for("all").count()));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

namespace detail {

/// A reading may come while the session ends: under the lock the job stays.
job_totals totals_of_job() noexcept {
    const std::scoped_lock lock(g_lock);
    job_totals all = g_past;
    if (const job* const known = g_job.load(std::memory_order_relaxed)) {
        all += known->totals();
    }
    return all;
}

job& job_for(const char* function) {
    job* const known = g_job.load(std::memory_order_acquire);  // pairs with session_begins
    if (known == nullptr) {
        throw std::logic_error(std::string("quern: localities::") + function +
                               " without a session; accepted: while an object of "
                               "quern::localities::session lives");
    }
    return *known;
}

bool can_answer() noexcept {
    const job* const known = g_job.load(std::memory_order_acquire);  // pairs with session_begins
    return known != nullptr && !known->has_closed();
}

bool is_here(const job& of, int locality, const char* function) {
    if (locality < 0 || locality >= of.count()) {
        throw std::out_of_range(std::string("quern: localities::") + function + " of locality " +
                                std::to_string(locality) + "; accepted: 0 to " +
                                std::to_string(of.count() - 1));
    }
    return locality == of.here();
}

pool_ref pool_of_parcels(const job& of) noexcept { return of.pool(); }
int number_of_here(const job& of) noexcept { return of.here(); }

counted_call::counted_call(job& of) noexcept : m_of(&of) { of.has_begun(1); }
counted_call::~counted_call() {
    if (m_of != nullptr) {
        m_of->has_ended(1);
    }
}

counted_pin::counted_pin(job& of) noexcept : m_of(&of), m_call(of) { of.pin(); }
counted_pin::~counted_pin() {
    if (m_of != nullptr) {
        m_of->unpin();
    }
}

code_place place_of_code(const job& of, const void* address) {
    return of.modules().place_of(address);
}
const void* code_at(const job& of, code_place place) { return of.modules().address_of(place); }

std::uint64_t add_call(job& of, std::unique_ptr<waiting_call> call, int locality) {
    return of.calls().add(std::move(call), locality);
}
void forget_call(job& of, std::uint64_t call) noexcept { of.calls().forget(call); }

void post_call(job& of, int to, code_place code, std::uint64_t call, outgoing_parcel&& parcel) {
    of.wait_for_room(to);
    of.post(to, code, call, std::move(parcel));
}

void post_call(job& of, int to, code_place code, std::uint64_t call,
               std::span<const std::byte> bytes) {
    of.wait_for_room(to);
    of.post(to, code, call, bytes);
}

void parcels_have_run(job& of, std::uint64_t count) noexcept { of.parcels_have_run(count); }
void message_has_run(job& of, int from) noexcept {
    of.link_to(from).message_has_run();
    of.has_ended(1);  // last: then the job may end
}

}  // namespace detail
}  // namespace quern::localities
