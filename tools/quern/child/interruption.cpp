// SPDX-License-Identifier: BSL-1.0
// The signals are blocked, and arrive at a descriptor.
#include "child/interruption.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace quern::tool {

namespace {

sigset_t signals_that_are_not_ignored() {
    sigset_t mine;
    ::sigemptyset(&mine);
    for (const int each : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction how {};
        ::sigaction(each, nullptr, &how);
        if (how.sa_handler != SIG_IGN) {
            ::sigaddset(&mine, each);
        }
    }
    return mine;
}

}  // namespace

interruption::interruption()
    : m_mine(signals_that_are_not_ignored()),
      m_arrivals(require(::signalfd(-1, &m_mine, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd")) {
    ::sigprocmask(SIG_BLOCK, &m_mine, &m_before);
}

interruption::~interruption() {
    signal();  // else one that has arrived would end this process now
    ::sigprocmask(SIG_SETMASK, &m_before, nullptr);
}

int interruption::signal() {
    signalfd_siginfo arrived{};
    while (::read(m_arrivals.number(), &arrived, sizeof arrived) == sizeof arrived) {
        if (m_signal == 0) {
            m_signal = static_cast<int>(arrived.ssi_signo);
            m_is_from_terminal = arrived.ssi_code == SI_KERNEL;
        }
    }
    return m_signal;
}

}  // namespace quern::tool
