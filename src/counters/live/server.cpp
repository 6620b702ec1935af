// SPDX-License-Identifier: BSL-1.0
// Serves clients: accepts connections, reads requests, sends answers, drops stuck clients.
#include "live/server.hpp"

#include "live/place.hpp"

#include <quern/base/detail/process.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <utility>

namespace quern::detail {

namespace {

constexpr std::size_t k_longest_request = 4096;  // bytes; a longer one is refused

/// A client that reads nothing of its answer for so long is dropped. (guessed)
constexpr std::chrono::seconds k_patience{5};

/// Users that may attach a debugger may inspect this process.
bool may_look_in(int connected) noexcept {
    constexpr uid_t k_root = 0;
    return is_peer(connected, ::geteuid()) || is_peer(connected, k_root);
}

/// Reports only a folder that the user has chosen. The default folders may be missing on a small
/// system.
void tell_of_unusable_folder() {
    const std::string chosen = chosen_live_folder();
    if (!chosen.empty()) {
        std::fprintf(stderr, "quern: live-folder is '%s': %s; no one can look into this program\n",
                     chosen.c_str(), fault_of_folder(chosen, ::geteuid()).c_str());
    }
}

}  // namespace

void shared_fd::close() noexcept {
    if (const int fd = m_fd.exchange(-1, std::memory_order_acq_rel); fd >= 0) {
        ::close(fd);
    }
}

/// Opens the socket after a delay, so that a process that makes many short runtimes does not pay
/// for their sockets.
void live_server::start(bool is_live) {
    constexpr std::chrono::milliseconds k_soon{20};  // (guessed)
    m_opens_socket = is_live;
    m_serves.emplace("looking in", clock::now() + k_soon, [this] { return serve_all(); });
}

void live_server::serve_metrics(int listening, unsigned port) noexcept {
    m_metrics_port = port;
    m_metrics.set(listening);
    m_serves->hurry(clock::now());  // so that the thread listens there too
}

void live_server::withdraw() noexcept {
    m_withdrawn = true;
    if (!m_path.empty()) {
        ::unlink(m_path.c_str());
    }
}

void live_server::close_all() noexcept {
    m_listening.close();
    m_metrics.close();
    for (client& each : m_clients) {
        each.fd.close();
    }
}

live_server::clock::time_point live_server::serve_all() {
    if (std::exchange(m_opens_socket, false)) {
        open_socket();
    }
    try {
        serve_ready();
    } catch (const std::exception&) {  // no memory for an answer: no client gets one now
        for (client& each : m_clients) {
            drop(each);
        }
    }
    const clock::time_point due = drop_the_stuck();
    m_serves->await(awaited());
    return due;
}

/// The socket is named after the process id, which is unique in a container. If another process
/// already answers there, it is of another container that shares the folder. This process then
/// has no socket and cannot be inspected.
void live_server::open_socket() try {
    const std::string folder = make_live_folder();
    if (folder.empty()) {
        tell_of_unusable_folder();
        return;
    }
    const std::string name = std::to_string(::getpid());
    const std::string path = folder + "/" + name;
    const std::scoped_lock lock(lock_of(process_lock::live));
    if (m_withdrawn || probe_socket(path) == socket_state::answers) {
        return;
    }
    if (const int listening = listen_at(folder, name); listening >= 0) {
        m_listening.set(listening);
        m_path = path;
    }
} catch (const std::exception&) {
    return;  // no memory: the program is unaffected
}

live_server::descriptors live_server::awaited() const noexcept {
    descriptors all{};
    all[0] = {m_listening.get(), POLLIN, 0};
    all[1] = {m_metrics.get(), POLLIN, 0};
    for (std::size_t i = 0; i < k_clients; ++i) {
        // No further request is read before the last answer has been sent, so unread answers do not
        // accumulate.
        const short wanted = m_clients[i].out.empty() ? POLLIN : POLLOUT;
        all[k_own + i] = {m_clients[i].fd.get(), wanted, 0};
    }
    return all;
}

void live_server::serve_ready() {
    descriptors all = awaited();
    if (::poll(all.data(), all.size(), 0) <= 0) {
        return;
    }
    for (std::size_t i = 0; i < k_clients; ++i) {
        if (all[k_own + i].revents != 0) {
            serve(m_clients[i], all[k_own + i].revents);
        }
    }
    if (all[0].revents != 0) {
        accept_from(m_listening, false);
    }
    if (all[1].revents != 0) {
        accept_from(m_metrics, true);
    }
}

void live_server::accept_from(const shared_fd& listening, bool is_http) {
    client* free = nullptr;
    for (client& each : m_clients) {
        free = free == nullptr && each.fd.get() < 0 ? &each : free;
    }
    if (free == nullptr) {
        free = &m_clients[m_turn++ % k_clients];
        drop(*free);
    }
    // Under the lock: no fork() may happen between opening the descriptor and storing it.
    const std::scoped_lock lock(lock_of(process_lock::live));
    const int fd = ::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        return;
    }
    free->fd.set(fd);
    free->is_http = is_http;
    free->moved = std::chrono::steady_clock::now();
    if (!is_http && !may_look_in(fd)) {
        free->out = live_answers::refusal("it belongs to another user");
        free->ends = true;
    }
}

void live_server::serve(client& c, short events) {
    if ((events & POLLIN) != 0) {
        take_in(c);
    } else if ((events & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
        drop(c);
    }
    if (!c.out.empty()) {
        send_out(c);
    }
    while (c.fd.get() >= 0 && c.out.empty() && c.in.find('\n') != std::string::npos) {
        answer(c);
        if (c.out.empty()) {
            return;  // the request is incomplete
        }
        send_out(c);
    }
}

/// Returns when the next client may have to be dropped.
live_server::clock::time_point live_server::drop_the_stuck() noexcept {
    const auto now = clock::now();
    auto due = clock::time_point::max();
    for (client& each : m_clients) {
        if (!each.out.empty() && now - each.moved >= k_patience) {
            drop(each);
        } else if (!each.out.empty()) {
            due = std::min(due, each.moved + k_patience);
        }
    }
    return due;
}

void live_server::take_in(client& c) {
    std::array<char, 1024> piece;
    const ssize_t size = ::recv(c.fd.get(), piece.data(), piece.size(), 0);
    if (size <= 0) {
        if (size == 0 || (errno != EAGAIN && errno != EINTR)) {
            drop(c);
        }
        return;
    }
    if (c.ends) {
        return;  // its further input is ignored
    }
    c.in.append(piece.data(), static_cast<std::size_t>(size));
    answer(c);
}

/// Answers the first request, if it is complete.
void live_server::answer(client& c) {
    if (c.is_http) {
        answer_http(c);
    } else {
        answer_line(c);
    }
    c.moved = std::chrono::steady_clock::now();
    if (c.out.empty() && c.in.size() > k_longest_request) {
        c.out = live_answers::refusal("the request is longer than a line of 4096 bytes");
        c.ends = true;
    }
}

void live_server::answer_line(client& c) {
    const std::size_t end = c.in.find('\n');
    if (end != std::string::npos) {
        const std::string request = c.in.substr(0, end);
        c.in.erase(0, end + 1);
        c.out = m_answers.answer(request, c.session);
    }
}

void live_server::answer_http(client& c) {
    if (c.in.find("\r\n\r\n") != std::string::npos) {
        c.out = m_answers.answer_http(c.in.substr(0, c.in.find("\r\n")));
        c.ends = true;
    }
}

void live_server::send_out(client& c) {
    const ssize_t sent = ::send(c.fd.get(), c.out.data(), c.out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        return drop(c);
    }
    if (sent > 0) {
        c.out.erase(0, static_cast<std::size_t>(sent));
        c.moved = std::chrono::steady_clock::now();
    }
    if (c.out.empty()) {
        c.out = std::string();  // frees the memory of a long answer
        if (c.ends) {
            drop(c);
        }
    }
}

/// Under the lock: no fork() may happen between clearing the descriptor's place and closing it.
void live_server::drop(client& c) noexcept {
    {
        const std::scoped_lock lock(lock_of(process_lock::live));
        c.fd.close();
    }
    c.in = std::string();
    c.out = std::string();
    c.session = {};
    c.ends = false;
}

}  // namespace quern::detail
