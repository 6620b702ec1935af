// SPDX-License-Identifier: BSL-1.0
// Answers clients that look into this process, on the thread for time: it is called when one of its
// sockets is ready, serves all clients that are ready without ever waiting for one, and holds no
// lock but while it looks at the runtimes. Started and stopped by live.cpp.
#pragma once

#include "live/answers.hpp"

#include <quern/base/detail/intrusive_list.hpp>
#include <quern/scheduler/detail/periodic_call.hpp>
#include <quern/scheduler/runtime.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::detail {

/// A file descriptor that another thread may ask for, and the child of a fork() closes.
class shared_fd {
public:
    shared_fd() = default;
    shared_fd(const shared_fd&) = delete;
    shared_fd& operator=(const shared_fd&) = delete;
    ~shared_fd() { close(); }

    int get() const noexcept { return m_fd.load(std::memory_order_acquire); }
    /// Requires: it has none. release: what was done to the descriptor before is seen by get().
    void set(int fd) noexcept { m_fd.store(fd, std::memory_order_release); }
    void close() noexcept;

private:
    std::atomic<int> m_fd{-1};
};

class live_server : public list_link {
public:
    live_server() = default;
    live_server(const live_server&) = delete;
    live_server& operator=(const live_server&) = delete;
    ~live_server() = default;  ///< Requires: never started, or stopped.

    /// Makes its socket soon, if `is_live`. Throws std::system_error.
    void start(bool is_live);

    /// Serves metrics to those who connect to that socket too. Thread safe, once.
    void serve_metrics(int listening, unsigned port) noexcept;
    unsigned metrics_port() const noexcept { return m_metrics_port; }

    /// The end, in two steps: the name goes, so that another server can take it; then the calls.
    /// Requires for the first: the lock `live` is held; for the second: it is not.
    void withdraw() noexcept;
    void stop() noexcept { m_serves.reset(); }

    /// Closes everything. Safe in the child of a fork(), where the thread for time is not.
    void close_all() noexcept;

    /// Guarded by the lock `live`.
    std::vector<runtime*> runtimes;

private:
    struct client {
        shared_fd fd;
        bool is_http = false;
        bool ends = false;                              ///< after what is to be sent
        std::string in;                                 ///< requests that have not been answered
        std::string out;                                ///< what is to be sent: at most one answer
        std::chrono::steady_clock::time_point moved{};  ///< when it last took some of that
        live_session session;
    };

    static constexpr std::size_t k_clients = 16;  ///< at once; one more replaces one of these
    static constexpr std::size_t k_own = 2;       ///< sockets that listen
    using clock = quern::detail::periodic_call::clock;
    using descriptors = std::array<pollfd, k_own + k_clients>;

    clock::time_point serve_all();
    void open_socket();
    descriptors awaited() const noexcept;
    void serve_ready();
    void accept_from(const shared_fd& listening, bool is_http);
    void serve(client& c, short events);
    void take_in(client& c);
    void answer(client& c);
    void answer_line(client& c);
    void answer_http(client& c);
    static void send_out(client& c);
    clock::time_point drop_the_stuck() noexcept;
    static void drop(client& c) noexcept;

    shared_fd m_listening;
    shared_fd m_metrics;
    std::array<client, k_clients> m_clients;
    std::size_t m_turn = 0;       ///< which client the next one replaces, if none is free
    bool m_opens_socket = false;  ///< and has not tried yet
    bool m_withdrawn = false;     ///< guarded by the lock `live`
    unsigned m_metrics_port = 0;  ///< guarded by the lock `live`
    std::string m_path;           ///< of the socket; guarded by the lock `live`
    live_answers m_answers;
    std::optional<periodic_call> m_serves;  ///< the last member: it uses the others
};

}  // namespace quern::detail
