// SPDX-License-Identifier: BSL-1.0
// While the job runs the root asks the others by calls; when it has ended, only by MPI.
#include "job_printing.hpp"

#include "job.hpp"

#include <quern/counters/detail/job_printing.hpp>
#include <quern/localities/archive.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/localities/session.hpp>
#include <quern/task/async.hpp>

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace quern::localities::detail {

namespace {

using counters::counter_value;
using counters::snapshot;

/// For an answer; a locality that dies meanwhile must not keep the thread for time.
constexpr std::chrono::seconds k_answers_within{2};

/// In place of values that have not come: the same counters, so that rows of a table fit.
void make_missing(std::vector<counter_value>& values, int locality) {
    for (counter_value& each : values) {
        each.state = counters::source_state::not_yet;
        each.why = "locality " + std::to_string(locality) + " has not answered within " +
                   std::to_string(k_answers_within.count()) + " s";
    }
}

std::vector<counter_value> values_here() {
    return counters::detail::read_for_job(runtime::default_instance(), localities::here()).values;
}

void append_values(std::vector<counter_value>& to, std::vector<counter_value> some) {
    std::move(some.begin(), some.end(), std::back_inserter(to));
}

/// One after the other, at the root; elsewhere empty. Collective.
std::vector<std::byte> gather_bytes(std::span<const std::byte> own, std::vector<int>& sizes) {
    const int size = static_cast<int>(own.size());
    MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, root, MPI_COMM_WORLD);
    std::vector<int> places(sizes.size());
    std::exclusive_scan(sizes.begin(), sizes.end(), places.begin(), 0);
    std::vector<std::byte> all(
        static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 0)));
    MPI_Gatherv(own.data(), size, MPI_BYTE, all.data(), sizes.data(), places.data(), MPI_BYTE, root,
                MPI_COMM_WORLD);
    return all;
}

}  // namespace

job_printing::job_printing(job& of, const runtime& prints) : m_of(of), m_prints(prints) {
    if (counters::detail::prints_counters(prints)) {
        counters::detail::print_for_job(
            prints, of.count(),
            of.here() == root ? std::function([this] { return read_all(); }) : nullptr);
    }
}

void job_printing::end_intervals() noexcept { counters::detail::end_intervals(m_prints); }

/// On the thread for time, but asked in tasks of the job's pool: else the default runtime stayed
/// for that thread's sake.
snapshot job_printing::read_all() {
    std::vector<future<std::vector<counter_value>>> asked;
    for (int each = root + 1; each < m_of.count(); ++each) {
        asked.push_back(quern::async(
            m_of.pool(), [each] { return localities::run_at(each, &values_here).get(); }));
    }
    snapshot all = counters::detail::read_for_job(m_prints, root);
    const auto until = std::chrono::steady_clock::now() + k_answers_within;
    m_known.resize(asked.size());
    bool are_known = true;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (asked[i].wait_until(until) == std::future_status::ready) {
            m_known[i] = asked[i].get();
        } else if (m_known[i]) {
            make_missing(*m_known[i], static_cast<int>(i) + 1);
        }
        if (!m_known[i] && !std::exchange(m_has_said, true)) {
            std::fprintf(stderr,
                         "quern: locality %d has not answered within %lld s; the counters of the "
                         "job are printed at intervals when it has\n",
                         static_cast<int>(i) + 1, static_cast<long long>(k_answers_within.count()));
        }
        are_known = are_known && m_known[i];
        append_values(all.values, m_known[i].value_or(std::vector<counter_value>()));
    }
    return are_known ? all : snapshot{};
}

void job_printing::end() try {
    const bool prints = counters::detail::prints_counters(m_prints);
    const bool is_root = m_of.here() == root;
    snapshot own = prints ? counters::detail::read_for_job(m_prints, m_of.here()) : snapshot{};
    writer into;
    localities::detail::write(into, own.values);
    std::vector<int> sizes(is_root ? static_cast<std::size_t>(m_of.count()) : 0);
    const std::vector<std::byte> all = gather_bytes(into.bytes(), sizes);
    if (!prints) {
        return;
    }
    if (!is_root) {
        counters::detail::print_at_end(m_prints, std::nullopt);
        return;
    }
    own.values.clear();
    reader from(all);
    for (int each = 0; each < m_of.count(); ++each) {
        std::vector<counter_value> its;
        localities::detail::read(from, its);
        append_values(own.values, std::move(its));
    }
    counters::detail::print_at_end(m_prints, std::move(own));
} catch (const std::exception& error) {
    std::fprintf(stderr, "quern: counters of the job are not printed: %s\n", error.what());
}

}  // namespace quern::localities::detail
