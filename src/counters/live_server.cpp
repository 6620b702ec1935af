// SPDX-License-Identifier: BSL-1.0
// The life of the thread that answers, and its clients.
#include "live_server.hpp"

#include "live_place.hpp"

#include <quern/base/process.hpp>
#include <quern/scheduler/census.hpp>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <system_error>

namespace quern::detail {

namespace {

constexpr std::size_t k_longest_request = 4096;  // bytes; a longer one is no request

/// One that takes nothing of its answer for so long is dropped. (guessed)
constexpr std::chrono::seconds k_patience{5};

/// Whoever may attach a debugger may look in.
bool may_look_in(int connected) noexcept {
    constexpr uid_t k_root = 0;
    return is_peer(connected, ::geteuid()) || is_peer(connected, k_root);
}

/// The usual folders may be missing on a small system; one that the user has named should be there.
void tell_of_unusable_folder() {
    const std::string chosen = chosen_live_folder();
    if (!chosen.empty()) {
        std::fprintf(stderr, "quern: live-folder is '%s': %s; nobody can look into this program\n",
                     chosen.c_str(), fault_of_folder(chosen, ::geteuid()).c_str());
    }
}

/// Signals are for the program's own threads; those that tell of a fault in this one stay open.
class signals_blocked {
public:
    signals_blocked() noexcept {
        sigset_t all;
        sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
            sigdelset(&all, fault);
        }
        pthread_sigmask(SIG_BLOCK, &all, &m_before);
    }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }

private:
    sigset_t m_before;
};

}  // namespace

void shared_fd::close() noexcept {
    if (const int fd = m_fd.exchange(-1, std::memory_order_acq_rel); fd >= 0) {
        ::close(fd);
    }
}

void live_server::start(bool is_live) {
    m_is_live = is_live;
    const int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    m_wake.set(wake);
    const signals_blocked in_the_thread;
    m_thread = std::thread([this] { run(); });
}

void live_server::serve_metrics(int listening, unsigned port) noexcept {
    m_metrics_port = port;
    m_metrics.set(listening);
    ::eventfd_write(m_wake.get(), 1);  // so that it listens there too
}

void live_server::withdraw() noexcept {
    m_stop.store(true, std::memory_order_release);  // pairs with run
    if (!m_path.empty()) {
        ::unlink(m_path.c_str());
    }
}

void live_server::join() noexcept {
    ::eventfd_write(m_wake.get(), 1);
    m_thread.join();
}

void live_server::close_all() noexcept {
    m_wake.close();
    m_listening.close();
    m_metrics.close();
    for (client& each : m_clients) {
        each.fd.close();
    }
}

void live_server::run() noexcept {
    const harmless_thread wakes_no_task;
    ::pthread_setname_np(::pthread_self(), "quern-live");
    if (!ends_soon() && m_is_live) {
        open_socket();
    }
    while (!m_stop.load(std::memory_order_acquire)) {  // pairs with withdraw
        try {
            if (!serve_round()) {
                return;
            }
        } catch (const std::exception&) {  // no memory for an answer: nobody gets one now
            for (client& each : m_clients) {
                drop(each);
            }
        }
    }
}

/// Whether the end comes before anybody could have found out that there is something to look into:
/// who makes many runtimes, one after another, shall not pay for their sockets.
bool live_server::ends_soon() const noexcept {
    constexpr int k_soon = 20;  // milliseconds (guessed)
    pollfd end{m_wake.get(), POLLIN, 0};
    ::poll(&end, 1, k_soon);
    return m_stop.load(std::memory_order_acquire);  // pairs with withdraw
}

/// The number of this process is its own, so what listens there already is a process of another
/// container that shares the folder: then nobody can look into this one.
void live_server::open_socket() try {
    const std::string folder = make_live_folder();
    if (folder.empty()) {
        tell_of_unusable_folder();
        return;
    }
    const std::string name = std::to_string(::getpid());
    const std::string path = folder + "/" + name;
    const std::scoped_lock lock(lock_of(process_lock::live));
    if (m_stop.load(std::memory_order_relaxed) || probe_socket(path) == socket_state::answers) {
        return;
    }
    if (const int listening = listen_at(folder, name); listening >= 0) {
        m_listening.set(listening);
        m_path = path;
    }
} catch (const std::exception&) {
    return;  // no memory: the program is no worse for it
}

/// Sleeps until something happens, and answers it. False when nothing can happen any more.
bool live_server::serve_round() {
    constexpr std::size_t k_own = 3;
    const int limit = drop_the_stuck();
    std::array<pollfd, k_own + k_clients> all{};
    all[0] = {m_wake.get(), POLLIN, 0};
    all[1] = {m_listening.get(), POLLIN, 0};
    all[2] = {m_metrics.get(), POLLIN, 0};
    for (std::size_t i = 0; i < k_clients; ++i) {
        // No further request is read before the answer to the last one has gone: what a client does
        // not read, it does not get.
        const short wanted = m_clients[i].out.empty() ? POLLIN : POLLOUT;
        all[k_own + i] = {m_clients[i].fd.get(), wanted, 0};
    }
    if (::poll(all.data(), all.size(), limit) < 0) {
        return errno == EINTR;
    }
    if (all[0].revents != 0) {
        eventfd_t count = 0;
        ::eventfd_read(m_wake.get(), &count);
    }
    for (std::size_t i = 0; i < k_clients; ++i) {
        if (all[k_own + i].revents != 0) {
            serve(m_clients[i], all[k_own + i].revents);
        }
    }
    if (all[1].revents != 0) {
        accept_from(m_listening, false);
    }
    if (all[2].revents != 0) {
        accept_from(m_metrics, true);
    }
    return true;
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
    // Under the lock: no fork() may come between the descriptor and its place here.
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
            return;  // the request goes on
        }
        send_out(c);
    }
}

/// Milliseconds until the next one may have to be dropped, or -1.
int live_server::drop_the_stuck() noexcept {
    const auto now = std::chrono::steady_clock::now();
    int limit = -1;
    for (client& each : m_clients) {
        if (!each.out.empty() && now - each.moved >= k_patience) {
            drop(each);
        } else if (!each.out.empty()) {
            limit = static_cast<int>(std::chrono::milliseconds(k_patience).count());
        }
    }
    return limit;
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
        return;  // whatever else it says
    }
    c.in.append(piece.data(), static_cast<std::size_t>(size));
    answer(c);
}

/// The first request, if it is complete.
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
        c.out = std::string();  // a long answer keeps no memory
        if (c.ends) {
            drop(c);
        }
    }
}

/// Under the lock: no fork() may come between the place that forgets the descriptor and its end.
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
