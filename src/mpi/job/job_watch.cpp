// SPDX-License-Identifier: BSL-1.0
// Looks at intervals whether this rank can do anything by itself.
#include "job/job_watch.hpp"

#include "job/job_state.hpp"
#include "job/tcp_queues.hpp"
#include "notes/watched_job.hpp"
#include "progress/engine.hpp"

#include <quern/mpi/detail/job_channel.hpp>
#include <quern/scheduler/detail/periodic_call.hpp>
#include <quern/scheduler/detail/still_process.hpp>
#include <quern/settings/settings.hpp>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace quern::mpi::detail {

namespace {

using namespace std::chrono_literals;
using clock_type = quern::detail::periodic_call::clock;

/// Between two looks, and how long a rank must have been still.
constexpr auto k_interval = 100ms;
constexpr auto k_still = 200ms;

/// So often must operations have been looked at meanwhile: on a machine with much else to do, the
/// workers of this rank may not have run. At least 1 ms passes between two looks.
constexpr std::uint64_t k_fewest_polls = 20;

/// As counted by the name of its poller (pools.cpp).
constexpr const char* k_poller = "MPI";

class watch {
public:
    watch(std::string folder, int rank)
        : m_folder(std::move(folder)),
          m_rank(rank),
          m_socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        const std::ofstream joined(m_folder + "/" + joined_file_of(rank));  // empty
        m_looks.emplace("job-hang", clock_type::now() + k_interval, [this] { return look(); });
    }
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;
    ~watch() { ::close(m_socket); }

    /// From now on MPI is not called.
    void set_finalising() noexcept {
        const std::scoped_lock guard(m_lock);
        m_is_finalising = true;
    }

    /// MPI has been finalised, after which this object is destroyed.
    void tell_finalised() noexcept try {
        m_looks.reset();
        publish(describe_finalised({m_rank, k_finalised}));
        ring(job_bell::kind::waits, k_finalised);
    } catch (const std::exception&) {
        return;  // no memory: there is no report then
    }

    void tell_aborted(int code) const noexcept {
        ring(job_bell::kind::aborts, static_cast<std::uint64_t>(code));
    }

private:
    static constexpr std::uint64_t k_finalised = ~std::uint64_t{0};

    clock_type::time_point look();
    void look_at_finalising();
    void look_at_runtimes();
    void begin_again(const quern::detail::still_process& now);
    int question() const;
    bool publish(const std::string& state);
    void ring(job_bell::kind what, std::uint64_t version) const noexcept;

    const std::string m_folder;
    const int m_rank;
    const int m_socket;
    std::mutex m_lock;  ///< held while it looks
    bool m_is_finalising = false;
    // Of the last look that found something new.
    bool m_was_still = false;
    std::uint64_t m_version = 0;
    std::uint64_t m_polls = 0;
    clock_type::time_point m_since{};
    bool m_is_published = false;
    int m_answered = 0;                                     ///< the last question
    std::optional<quern::detail::periodic_call> m_looks{};  ///< the last member: it uses the others
};

clock_type::time_point watch::look() {
    const std::scoped_lock guard(m_lock);
    try {
        if (m_is_finalising) {
            look_at_finalising();
        } else if (engine::of_process().share_further()) {
            look_at_runtimes();
            engine::of_process().runtime_ends();
        } else {
            begin_again({});
        }
    } catch (const std::exception&) {
        m_was_still = false;  // no memory for a state: the program is unaffected
    }
    return clock_type::now() + k_interval;
}

void watch::begin_again(const quern::detail::still_process& now) {
    if (m_is_published) {
        m_is_published = false;
        m_answered = 0;  // the next state has no words, whatever version it has
        ring(job_bell::kind::runs, m_version);
    }
    m_was_still = now.is_still;
    m_version = now.version;
    m_polls = engine::of_process().counts().polls;
    m_since = clock_type::now();
}

/// What it has sent may still be on its way.
void watch::look_at_finalising() {
    if (m_version != k_finalised || !tcp_queues_are_empty()) {
        begin_again({.is_still = true, .version = k_finalised});
    } else if (!m_is_published && clock_type::now() - m_since >= k_still) {
        m_is_published = publish(describe_finalised({m_rank, k_finalised}));
        ring(job_bell::kind::waits, k_finalised);
    }
}

void watch::look_at_runtimes() {
    engine& all = engine::of_process();
    all.look();
    const engine_counts& counts = all.counts();
    const std::uint64_t ended = counts.ended;
    quern::detail::still_process now = quern::detail::look_whether_still(k_poller);
    now.version += counts.waited + ended;
    now.is_still = now.is_still && tcp_queues_are_empty();
    if (!now.is_still || !m_was_still || now.version != m_version) {
        begin_again(now);
        return;
    }
    const bool is_looked_after = all.outstanding() == 0 || counts.polls - m_polls >= k_fewest_polls;
    if (clock_type::now() - m_since < k_still || !is_looked_after) {
        return;
    }
    const int asked = m_is_published ? question() : m_answered;
    if (m_is_published && asked == m_answered) {
        return;
    }
    const auto state = describe_waits({m_rank, now.version, m_is_published}, ended);
    const quern::detail::still_process after = quern::detail::look_whether_still(k_poller);
    const bool is_true =
        state && after.is_still && after.version + counts.waited + counts.ended == now.version;
    if (is_true && publish(*state)) {
        ring(m_is_published ? job_bell::kind::told : job_bell::kind::waits, now.version);
        m_answered = asked;
        m_is_published = true;
    }
}

/// 0: there is none.
int watch::question() const {
    std::ifstream in(m_folder + "/" + std::string(k_question_file));
    int number = 0;
    in >> number;
    return number;
}

bool watch::publish(const std::string& state) {
    const std::string path = m_folder + "/" + state_file_of(m_rank);
    const std::string unfinished = path + ".new";
    std::ofstream out(unfinished, std::ios::binary);
    out << state;
    out.close();
    std::error_code failed;
    std::filesystem::rename(unfinished, path, failed);
    return out && !failed;
}

/// A bell that cannot be rung is not heard: `quern run` has ended then, and the job ends too.
void watch::ring(job_bell::kind what, std::uint64_t version) const noexcept {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = m_folder + "/" + std::string(k_bells_file);
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const job_bell bell{what, m_rank, version};
    ::sendto(m_socket, &bell, sizeof bell, MSG_NOSIGNAL | MSG_DONTWAIT,
             reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

watch* g_job_watch = nullptr;  ///< of the thread that initialises and finalises

/// Mistakes in settings are told when a runtime is made.
bool are_reports_wanted() {
    try {
        return current_settings().at("hang-report").text != "off";
    } catch (const std::exception&) {
        return false;
    }
}

/// Ranks that MPI_Comm_spawn has started have a world of their own, with the same numbers.
bool is_spawned() {
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    return parent != MPI_COMM_NULL;
}

}  // namespace

void watch_job() noexcept try {
    const char* const folder = std::getenv(k_job_variable);
    if (folder == nullptr || g_job_watch != nullptr || is_spawned() || !are_reports_wanted()) {
        return;
    }
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    g_is_watched.store(true, std::memory_order_relaxed);
    g_job_watch = new watch(folder, rank);
} catch (const std::exception&) {
    g_is_watched.store(false, std::memory_order_relaxed);  // no memory or no thread: no report
}

void job_is_finalising() noexcept {
    if (g_job_watch != nullptr) {
        g_job_watch->set_finalising();
    }
}

void job_is_finalised() noexcept {
    if (g_job_watch != nullptr) {
        g_is_watched.store(false, std::memory_order_relaxed);
        g_job_watch->tell_finalised();
        delete std::exchange(g_job_watch, nullptr);
    }
}

void job_is_aborted(int code) noexcept {
    if (g_job_watch != nullptr) {
        g_job_watch->tell_aborted(code);
    }
}

}  // namespace quern::mpi::detail
