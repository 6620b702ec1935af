// SPDX-License-Identifier: BSL-1.0
// Waits in one poll for the starter's end, reports of ranks, and signals to this process. After the
// first failure and after a signal the starter has a few seconds to end the job; then all processes
// of the job are killed.
#include "job/ranks.hpp"

#include "child/interruption.hpp"
#include "command.hpp"
#include "job/mpi_library.hpp"
#include "job/network.hpp"
#include "job/rank_keeper.hpp"
#include "job/rank_states.hpp"
#include "job/remains.hpp"
#include "job/starter.hpp"

#include <quern/topology/detail/text.hpp>

#include <fmt/format.h>

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

namespace quern::tool {

namespace {

using watch = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr unsigned k_most_ranks = 4096;
// A job ends within 5 s of the death of a rank: Open MPI takes 1 to 2 s, MPICH less.
constexpr milliseconds k_patience{3000};  // for the starter to end the job by itself
constexpr milliseconds k_grace{1000};     // then, from SIGTERM to SIGKILL

/// Shows a line of this program between those of the job.
template <class... A>
void say(fmt::format_string<A...> text, A&&... values) {
    fmt::print(stderr, "quern: {}\n", fmt::format(text, std::forward<A>(values)...));
    std::fflush(stderr);
}

int receiver_in(const std::string& folder) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = fmt::format("{}/{}", folder, k_reports_file);
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int receiver =
        require(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket");
    require(::bind(receiver, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
    return receiver;
}

/// The starter has ended the rank of that report, or may have.
bool is_ended_by_starter(const rank_report& report) {
    return report.what == rank_report::kind::signalled &&
           (report.value == SIGTERM || report.value == SIGKILL);
}

/// A running job.
class job {
public:
    job(unsigned ranks, std::vector<std::string> starter, const std::string& folder)
        : m_count(ranks),
          m_receiver(receiver_in(folder)),
          m_states(ranks, folder),
          m_words(std::move(starter)) {
        adopt_orphans();
    }
    job(const job&) = delete;
    job& operator=(const job&) = delete;
    ~job() {
        ::close(m_process);
        ::close(m_receiver);
    }

    int run();

private:
    void start();
    void wait();
    void read_reports();
    void take(const rank_report& report);
    void name_first(const rank_report& report);
    const rank_report* first_to_leave(const rank_report& failed) const;
    void interrupt();
    void press();  ///< the time for the job to end is over
    int conclude(int status);

    bool is_failure(const rank_report& report) const {
        return report.what == rank_report::kind::not_started ||
               report.what == rank_report::kind::signalled ||
               (report.what == rank_report::kind::exited && report.value != 0);
    }
    void limit(milliseconds from_now) {
        m_limit = std::min(m_limit.value_or(watch::time_point::max()), watch::now() + from_now);
    }

    interruption m_interrupted;
    unsigned m_count;
    std::chrono::system_clock::time_point m_begin = std::chrono::system_clock::now();
    int m_receiver;
    rank_states m_states;
    std::vector<std::string> m_words;
    pid_t m_starter = 0;
    int m_process = -1;       // the starter's, for poll
    bool m_is_apart = false;  // the starter has a process group of its own
    std::optional<watch::time_point> m_limit{};
    bool m_is_pressed = false;
    bool m_is_killed = false;
    int m_signals = 0;  // to this process
    std::optional<rank_report> m_failure{};
    std::vector<rank_report> m_left_early{};  // ranks that ended with status 0 before the failure
    bool m_is_left = false;                   // one of these has been named as what ended the job
    std::vector<pid_t> m_ranks{};
    unsigned m_ended = 0;  // ranks
    unsigned m_left = 0;   // processes that lived longer than their rank
};

/// In a process group of its own, so that no signal reaches it twice; with a terminal in this one,
/// so that it may read from it.
void job::start() {
    m_is_apart = ::isatty(STDIN_FILENO) == 0;
    const started_child starter = start_child({.words = m_words,
                                               .has_own_group = m_is_apart,
                                               .signal_at_our_end = SIGTERM,
                                               .signals = &m_interrupted.mask_before()});
    if (starter.error != 0) {
        throw std::runtime_error(
            fmt::format("'{}' cannot be started: {}", m_words[0], std::strerror(starter.error)));
    }
    m_starter = starter.id;
    m_process = require(static_cast<int>(::syscall(SYS_pidfd_open, m_starter, 0)), "pidfd_open");
}

void job::take(const rank_report& report) {
    if (report.what == rank_report::kind::started) {
        m_ranks.push_back(report.process);
        return;
    }
    if (++m_ended == m_count) {
        limit(k_patience);  // what they have left behind may keep the starter waiting
    }
    if (!is_failure(report)) {
        m_left_early.push_back(report);
        return;
    }
    if (m_failure || m_signals != 0) {  // ended by the starter
        return;
    }
    m_failure = report;
    limit(k_patience);
    name_first(report);
}

/// Of the ranks that ended with status 0, the first that had not finalised MPI. One that has not
/// told is taken for one if the starter has ended the other.
const rank_report* job::first_to_leave(const rank_report& failed) const {
    for (const rank_report& each : m_left_early) {
        const auto has_finalised = m_states.has_finalised(each.rank);
        if (!has_finalised.value_or(!is_ended_by_starter(failed))) {
            return &each;
        }
    }
    return nullptr;
}

/// Says which rank has failed first: not always the first that ends with an error, since the
/// starter ends the others.
void job::name_first(const rank_report& report) {
    m_states.read(false);
    if (const auto& aborted = m_states.first_abortion(); aborted) {
        say("rank {} has called MPI_Abort with code {}; the job ends", aborted->rank,
            aborted->code);
    } else if (const rank_report* const left = first_to_leave(report)) {
        m_is_left = true;
        say("rank {} (process {}) had ended before, with exit status 0; a rank that ends without "
            "MPI_Finalize ends the job",
            left->rank, left->process);
    } else if (report.what == rank_report::kind::not_started) {
        say("rank {}: the program cannot be started: {}", report.rank, std::strerror(report.value));
    } else if (report.what == rank_report::kind::exited) {
        say("rank {} (process {}) ended with exit status {}", report.rank, report.process,
            report.value);
    } else {
        say("rank {} (process {}) was ended by signal {} ({}); the job ends", report.rank,
            report.process, report.value, ::strsignal(report.value));
    }
}

void job::read_reports() {
    rank_report report{};
    while (::recv(m_receiver, &report, sizeof report, 0) == sizeof report) {
        take(report);
    }
}

/// The first signal is passed on, and the starter ends the job; the second one ends it at once.
void job::interrupt() {
    const int signal = m_interrupted.signal();
    if (++m_signals > 1) {
        m_is_pressed = true;
        m_limit = watch::now();
        return;
    }
    if (m_is_apart || !m_interrupted.is_from_terminal()) {
        ::kill(m_starter, signal);
    }
    limit(k_patience);
}

void job::press() {
    if (m_ended == m_count && !m_failure && m_signals == 0) {
        m_left += end_children(k_grace, m_starter);
        m_limit.reset();  // it may still have output of the ranks to pass on
        return;
    }
    if (m_is_pressed) {
        m_is_killed = true;
        ::kill(m_starter, SIGKILL);
        end_children(k_grace);
        return;
    }
    say("the job has not ended by itself: it is ended");
    m_is_pressed = true;
    ::kill(m_starter, SIGTERM);
    m_limit = watch::now() + k_grace;
}

void job::wait() {
    std::array<pollfd, 4> polled{{{m_process, POLLIN, 0},
                                  {m_receiver, POLLIN, 0},
                                  {m_interrupted.arrivals(), POLLIN, 0},
                                  {m_states.descriptor(), POLLIN, 0}}};
    while (!m_is_killed) {
        int timeout = -1;
        if (m_limit) {
            const auto left = std::chrono::ceil<milliseconds>(*m_limit - watch::now());
            timeout = static_cast<int>(std::max<milliseconds::rep>(left.count(), 0));
        }
        const int ready = ::poll(polled.data(), polled.size(), timeout);
        if (ready < 0 && errno != EINTR) {
            require(ready, "poll");
        }
        read_reports();
        m_states.read(!m_failure && m_signals == 0);
        if (ready > 0 && polled[0].revents != 0) {
            return;
        }
        if (ready > 0 && polled[2].revents != 0) {
            interrupt();
        }
        if (m_limit && watch::now() >= *m_limit) {
            press();
        }
    }
}

/// Which of its ranks failed is known if one has said so before the starter ended the others. Hydra
/// may end others and then say that all is well.
int job::conclude(int status) {
    const int of_starter = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (!m_failure && m_signals == 0 && (of_starter != 0 || m_ended != m_count)) {
        rank_report of_other{};
        of_other.what = rank_report::kind::signalled;
        of_other.value = SIGTERM;
        m_states.read(false);
        if (m_states.first_abortion() || first_to_leave(of_other) != nullptr) {
            name_first(of_other);
        }
    }
    if (m_is_left) {
        return of_starter != 0 ? of_starter : k_failure;
    }
    if (const auto& aborted = m_states.first_abortion(); aborted && m_signals == 0) {
        constexpr int k_bits = 0xff;  // of a status that the system passes on
        return (aborted->code & k_bits) != 0 ? aborted->code & k_bits : k_failure;
    }
    if (WIFSIGNALED(status) && !m_failure && m_signals == 0) {
        say("{} was ended by signal {} ({}); the job ends", m_words[0], WTERMSIG(status),
            ::strsignal(WTERMSIG(status)));
    }
    if (m_failure) {
        return m_failure->what == rank_report::kind::signalled     ? 128 + m_failure->value
               : m_failure->what == rank_report::kind::not_started ? k_failure
                                                                   : m_failure->value;
    }
    return m_signals != 0 ? 128 + m_interrupted.signal() : of_starter;
}

int job::run() {
    start();
    wait();
    const int status = wait_for_child(m_starter).status;
    read_reports();
    m_left += end_children(k_grace);
    if (m_left != 0 && !m_failure && m_signals == 0 && status == 0) {
        say("{} processes that the job had left behind were ended", m_left);
    }
    if (m_failure || m_signals != 0 || status != 0) {
        remove_segments(m_ranks, m_begin);
    }
    return conclude(status);
}

}  // namespace

unsigned rank_count(const std::string& text) {
    const auto count = topology::detail::parse_number<unsigned>(text);
    if (!count || *count == 0 || *count > k_most_ranks) {
        throw usage_error(
            fmt::format("quern run: -n is '{}'; accepted: a whole number of ranks from 1 to {}",
                        text, k_most_ranks));
    }
    return *count;
}

int run_ranks(const rank_options& options, const std::string& path,
              const std::vector<std::string>& words) {
    const unsigned ranks = rank_count(options.count);
    const mpi_choice mpi = options.library.empty() ? mpi_library_of(path, words)
                                                   : mpi_library_named(options.library, path);
    const bool is_networked = !options.network.empty();
    const std::uint64_t rate = is_networked ? rate_of(options.network) : 0;
    divide_threads(ranks);
    if (is_networked) {
        enter_network(rate);
    }
    const job_folder folder;
    write_command(folder.path(), std::filesystem::absolute(path).string(), words);
    set_library_variables(mpi.library, is_networked, folder.path());
    return job(ranks, starter_words(mpi, ranks, folder.path()), folder.path()).run();
}

}  // namespace quern::tool
