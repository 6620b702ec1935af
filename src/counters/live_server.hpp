// SPDX-License-Identifier: BSL-1.0
// The thread that answers those who look in. It sleeps in poll() until somebody connects, serves
// them one after another without ever waiting for one, and holds no lock but while it looks at the
// runtimes. Started and stopped by live.cpp.
#pragma once

#include "live_answers.hpp"

#include <quern/base/intrusive_list.hpp>
#include <quern/scheduler/runtime.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
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
    ~live_server() = default;  ///< Requires: never started, or joined.

    /// Starts the thread; it makes its socket if `is_live`. Throws std::system_error.
    void start(bool is_live);

    /// Serves metrics to those who connect to that socket too. Thread safe, once.
    void serve_metrics(int listening, unsigned port) noexcept;
    unsigned metrics_port() const noexcept { return m_metrics_port; }

    /// The end, in two steps: the name goes, so that another server can take it; then the thread.
    /// Requires for the first: the lock `live` is held; for the second: it is not.
    void withdraw() noexcept;
    void join() noexcept;

    /// Closes everything. Safe in the child of a fork(), where the thread is not.
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

    void run() noexcept;
    bool ends_soon() const noexcept;
    void open_socket();
    bool serve_round();
    void accept_from(const shared_fd& listening, bool is_http);
    void serve(client& c, short events);
    void take_in(client& c);
    void answer(client& c);
    void answer_line(client& c);
    void answer_http(client& c);
    static void send_out(client& c);
    int drop_the_stuck() noexcept;
    static void drop(client& c) noexcept;

    static constexpr std::size_t k_clients = 16;  ///< at once; one more replaces one of these

    shared_fd m_wake;
    shared_fd m_listening;
    shared_fd m_metrics;
    std::array<client, k_clients> m_clients;
    std::size_t m_turn = 0;  ///< which client the next one replaces, if none is free
    std::atomic<bool> m_stop{false};
    bool m_is_live = false;
    unsigned m_metrics_port = 0;  ///< guarded by the lock `live`
    std::string m_path;           ///< of the socket; guarded by the lock `live`
    live_answers m_answers;
    std::thread m_thread;
};

}  // namespace quern::detail
