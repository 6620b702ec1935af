// SPDX-License-Identifier: BSL-1.0
// Clients that query a process, and their misbehaviour; metrics over HTTP.
#include "live_case.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#if defined(__SANITIZE_ADDRESS__)
// In the child of a fork, memory held by the parent's other threads looks leaked.
extern "C" int __lsan_is_turned_off() { return 1; }  // NOLINT: the sanitizer's name
#endif

namespace {

using quern::runtime;
using quern::runtime_options;
using quern::counters::ask;
using quern::counters::cannot_ask;
using quern_test::can_be_asked;
using quern_test::eventually;
using quern_test::fork_and_wait;
using quern_test::has;
using quern_test::live_test;

/// The sanitizers do not allow threads in the child of a fork.
constexpr bool k_children_have_threads = !quern::detail::k_tsan && !quern::detail::k_asan;

/// A client's connection that can send anything.
class raw_client {
public:
    explicit raw_client(const std::string& path)
        : m_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        connect_to(address);
    }
    explicit raw_client(unsigned port) : m_fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        connect_to(address);
    }
    raw_client(const raw_client&) = delete;
    raw_client& operator=(const raw_client&) = delete;
    ~raw_client() { ::close(m_fd); }

    bool connected() const { return m_connected; }

    /// The longest wait of say().
    void set_limit_of_sending(std::chrono::microseconds time) const {
        const timeval limit{0, static_cast<suseconds_t>(time.count())};
        ::setsockopt(m_fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    }

    /// Whether the other side has closed the connection. Reads nothing.
    bool is_dropped() const {
        pollfd end{m_fd, POLLOUT, 0};
        return ::poll(&end, 1, 0) == 1 && (end.revents & POLLHUP) != 0;
    }

    void say(std::string_view text) const {
        static_cast<void>(!::send(m_fd, text.data(), text.size(), MSG_NOSIGNAL));
    }

    /// Waits until the other side closes.
    std::string hear() const {
        std::string all;
        char piece[1024];
        for (ssize_t n = 0; (n = ::recv(m_fd, piece, sizeof piece, 0)) > 0;) {
            all.append(piece, static_cast<std::size_t>(n));
        }
        return all;
    }

private:
    template <class Address>
    void connect_to(const Address& to) {
        m_connected = ::connect(m_fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
    }

    int m_fd;
    bool m_connected = false;
};

// Holds: looking in: Clients that are silent, say too much or leave disturb neither the program nor
//     other clients.
TEST_F(live_test, clients_that_say_nothing_too_much_or_go_away_disturb_nobody) {
    const auto end = play([&] {
        const runtime rt(runtime_options::with_workers(1));
        const pid_t self = ::getpid();
        eventually([&] { return can_be_asked(self); });
        std::vector<std::unique_ptr<raw_client>> silent;
        for (int i = 0; i < 40; ++i) {
            silent.push_back(std::make_unique<raw_client>(socket_of(self)));
            if (!can_be_asked(self)) {
                return 1;
            }
        }
        const raw_client too_much(socket_of(self));
        too_much.say(std::string(10'000, 'x'));
        const bool refused = has(too_much.hear(), "longer than a line");
        {
            const raw_client gone(socket_of(self));
            gone.say("snapshot\nsnapshot\nsnapshot\n");
        }
        return refused && can_be_asked(self) ? 0 : 2;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

/// Kilobytes.
long resident_memory() {
    long pages = 0;
    if (std::FILE* const file = std::fopen("/proc/self/statm", "re")) {
        if (std::fscanf(file, "%*d %ld", &pages) != 1) {
            pages = 0;
        }
        std::fclose(file);
    }
    return pages * (::sysconf(_SC_PAGESIZE) / 1024);
}

TEST_F(live_test, a_client_that_reads_nothing_takes_little_memory_and_is_dropped) {
    const auto end = play([&] {
        const runtime rt(runtime_options::with_workers(1));
        const pid_t self = ::getpid();
        eventually([&] { return can_be_asked(self); });
        const long before = resident_memory();
        const raw_client deaf(socket_of(self));
        deaf.set_limit_of_sending(std::chrono::milliseconds(200));
        const std::string questions = [] {
            std::string many;
            for (int i = 0; i < 1000; ++i) {
                many += "snapshot\n";
            }
            return many;
        }();
        for (int i = 0; i < 100; ++i) {
            deaf.say(questions);  // gives up when the program stops reading
        }
        const long after = resident_memory();
        std::printf("%ld kB before, %ld kB after", before, after);
        if (after - before > 4096) {
            return 1;
        }
        return eventually([&] { return deaf.is_dropped(); }, std::chrono::seconds(30)) &&
                       can_be_asked(self)
                   ? 0
                   : 2;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

// Holds: looking in: Runtimes may start and end while clients ask.
TEST_F(live_test, runtimes_may_come_and_go_while_somebody_asks) {
    const auto end = play([] {
        std::atomic<bool> stop{false};
        std::thread curious([&stop] {
            while (!stop.load()) {
                for (const char* request : {"hello", "snapshot", "tasks"}) {
                    try {
                        ask(::getpid(), request);
                    } catch (const cannot_ask&) {  // between two runtimes
                        std::this_thread::yield();
                    }
                }
            }
        });
        const runtime stays(runtime_options::with_workers(1));
        for (int i = 0; i < quern_test::scaled(60, 10); ++i) {
            const runtime rt(runtime_options::with_workers(2));
            auto part = quern::async(rt, [] { quern::this_task::yield(); });
            quern_test::spin_for(std::chrono::milliseconds(i % 3));
            part.get();
        }
        stop.store(true);
        curious.join();
        return 0;
    });
    EXPECT_EQ(end.status, 0) << end.output;
}

/// A port that is free at present.
unsigned free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const bool bound = ::bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                       ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    ::close(fd);
    return bound ? ntohs(address.sin_port) : 0;
}

std::string fetch(unsigned port, const std::string& path) {
    const raw_client client(port);
    client.say("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return client.hear();
}

// Holds: looking in: metrics-port: OpenMetrics text over HTTP at 127.0.0.1.
TEST_F(live_test, metrics_are_served_over_http) {
    const unsigned port = free_port();
    const auto end = play(
        [port] {
            const runtime rt(runtime_options::with_workers(2));
            quern::async(rt, [] {}).get();
            const std::string metrics = fetch(port, "/metrics");
            std::puts(metrics.c_str());
            const runtime second(runtime_options::with_workers(1));
            const std::string of_two = fetch(port, "/metrics");
            const std::string elsewhere = fetch(port, "/");
            return has(metrics, "HTTP/1.1 200 OK\r\n") &&
                           has(metrics, "# TYPE quern_tasks counter\n") &&
                           has(metrics, "\n# UNIT quern_idle_seconds seconds\n") &&
                           has(metrics, "# TYPE quern_contexts_made counter\n") &&
                           has(metrics, "quern_tasks_total{runtime=\"0\",pool=") &&
                           has(metrics, "quern_threads_count_cumulative_total{instance=") &&
                           !has(metrics, "stolen_from_staged") &&
                           has(of_two, "quern_threads_idle_rate_ratio{runtime=\"0\",") &&
                           has(of_two, "quern_threads_count_cumulative_total{runtime=\"1\",") &&
                           !has(of_two, "quern_runtime_memory_total_bytes{runtime=\"1\"") &&
                           of_two.find("# EOF") == of_two.size() - 6 &&
                           metrics.ends_with("# EOF\n") && has(elsewhere, "HTTP/1.1 404 Not Found")
                       ? 0
                       : 1;
        },
        {{"QUERN_METRICS_PORT", std::to_string(port)}, {"QUERN_LIVE", "off"}});
    EXPECT_EQ(end.status, 0) << end.output;
}

// Holds: looking in: metrics-port: a port that is taken is told, and the program runs.
TEST_F(live_test, a_port_that_is_taken_is_said_and_does_no_harm) {
    const unsigned port = free_port();
    const auto end = play(
        [port] {
            const runtime rt(runtime_options::with_workers(1));
            if (!has(fetch(port, "/metrics"), "# EOF")) {
                return 1;
            }
            return fork_and_wait([] {
                if (!k_children_have_threads) {
                    return 0;
                }
                const runtime own(runtime_options::with_workers(1));
                return quern::async(own, [] { return 0; }).get();
            });
        },
        {{"QUERN_METRICS_PORT", std::to_string(port)}});
    EXPECT_EQ(end.status, 0) << end.output;
    if (k_children_have_threads) {
        EXPECT_TRUE(has(end.output, "quern: metrics-port is '" + std::to_string(port) +
                                        "' (environment QUERN_METRICS_PORT): Address already in "
                                        "use; no metrics are served there"))
            << end.output;
    }
}

}  // namespace
