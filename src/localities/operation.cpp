// SPDX-License-Identifier: BSL-1.0
// A collective operation at one member: letters that come, and the task that waits for them.
#include <quern/localities/detail/operation.hpp>

#include "communicators.hpp"
#include "job.hpp"

#include <quern/base/detail/assert.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>
#include <quern/sync/detail/gate.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <optional>
#include <stdexcept>

namespace quern::localities::detail {

namespace {

struct collective_names {
    const char* operation;
    const char* message;
};

collective_names names_of(collective what) noexcept {
    static constexpr std::array<collective_names, 10> k_names{{
        {"barrier", "barrier: a message"},
        {"broadcast", "broadcast: a message"},
        {"reduce", "reduce: a message"},
        {"all_reduce", "all_reduce: a message"},
        {"gather", "gather: a message"},
        {"all_gather", "all_gather: a message"},
        {"scatter", "scatter: a message"},
        {"all_to_all", "all_to_all: a message"},
        {"inclusive_scan", "inclusive_scan: a message"},
        {"exclusive_scan", "exclusive_scan: a message"},
    }};
    const auto number = static_cast<std::size_t>(what);
    return number < k_names.size() ? k_names[number]
                                   : collective_names{"an operation", "an operation: a message"};
}

std::string words_for(const communicator_core& of, collective_kind kind) {
    std::string words = detail::word_for(kind.what);
    if (kind.root >= 0) {
        words += " with root " + std::to_string(of.members()[static_cast<std::size_t>(kind.root)]);
    }
    return words;
}

/// For reports, which read a copy of it: no pointers to what may be gone.
struct operation_words {
    std::array<char, 24> key{};
    std::uint64_t number = 0;
    std::int32_t wanted = -1;  ///< the locality whose letter its task waits for
    collective what = collective::barrier;
};

constexpr quern::detail::wait_kind k_operation_wait{
    "a collective operation", sizeof(operation_words),
    [](const void* copy, quern::detail::wait_findings& into) noexcept {
        const auto& of = *static_cast<const operation_words*>(copy);
        std::snprintf(into.words.data(), into.words.size(),
                      "%s %u of '%.23s': locality %d has not sent", detail::word_for(of.what),
                      static_cast<unsigned>(of.number), of.key.data(), static_cast<int>(of.wanted));
    }};

constexpr int k_no_member = -1;

}  // namespace

const char* word_for(collective what) noexcept { return names_of(what).operation; }
const char* word_for_message(collective what) noexcept { return names_of(what).message; }

/// What has come, perhaps before the operation has begun here.
struct operation::arrivals {
    struct item {
        letter_header header;
        std::unique_ptr<letter> value;
    };

    const std::uint64_t number;
    collective_kind kind{};           ///< once it has begun
    quern::detail::spin_lock lock{};  ///< of what follows
    std::vector<item> letters{};      ///< not yet taken; few
    std::optional<error_report> error{};
    int wanted = k_no_member;  ///< the member whose letter the task waits for
    operation_words words{};
    quern::detail::task_gate has_come{false};

    /// Returns whom to wake.
    quern::detail::waiter* stop_waiting() noexcept {
        wanted = k_no_member;
        return has_come.open();
    }
};

operation::operation(std::shared_ptr<communicator_core> of, std::uint64_t number)
    : m_core(std::move(of)), m_arrivals(new arrivals{.number = number}) {}
operation::~operation() = default;

int operation::place() const noexcept { return m_core->place(); }
int operation::size() const noexcept { return static_cast<int>(m_core->members().size()); }
const char* operation::name() const noexcept { return detail::word_for(m_arrivals->kind.what); }
int operation::root() const noexcept { return m_arrivals->kind.root; }
std::uint64_t operation::number() const noexcept { return m_arrivals->number; }
job& operation::its_job() const noexcept { return m_core->its_job(); }
int operation::locality_of(int member) const noexcept {
    return m_core->members()[static_cast<std::size_t>(member)];
}
letter_header operation::header() const noexcept {
    return {m_core->name(), number(), place(), m_arrivals->kind};
}

void operation::begins(collective_kind what) noexcept { m_arrivals->kind = what; }

void operation::ends() noexcept { m_core->end(*this); }

void operation::receives(const letter_header& header, std::unique_ptr<letter> one) {
    quern::detail::waiter* woken = nullptr;
    {
        const std::scoped_lock lock(m_arrivals->lock);
        m_arrivals->letters.push_back({header, std::move(one)});
        if (m_arrivals->wanted == header.from) {
            woken = m_arrivals->stop_waiting();
        }
    }
    quern::detail::wake_all(woken);
}

void operation::has_failed(error_report&& elsewhere) {
    quern::detail::waiter* woken = nullptr;
    {
        const std::scoped_lock lock(m_arrivals->lock);
        if (!m_arrivals->error) {
            m_arrivals->error = std::move(elsewhere);
        }
        woken = m_arrivals->stop_waiting();
    }
    quern::detail::wake_all(woken);
}

/// Null: it has not come, and the gate is closed until it has. Called with the lock.
std::unique_ptr<letter> operation::take_if_here(int from, const std::type_info& type) {
    auto& letters = m_arrivals->letters;
    const auto at = std::find_if(letters.begin(), letters.end(),
                                 [from](const auto& each) { return each.header.from == from; });
    if (at == letters.end()) {
        if (m_arrivals->error) {
            throw remote_error(*m_arrivals->error);
        }
        m_arrivals->wanted = from;
        m_arrivals->has_come.close();
        return nullptr;
    }
    const collective_kind its = at->header.kind;
    std::unique_ptr<letter> one = std::move(at->value);
    letters.erase(at);
    const auto refuse = [&](const std::string& is, const std::string& own) {
        throw std::logic_error("quern: localities::communicator '" + m_core->key() +
                               "': its operation number " + std::to_string(number()) + " is " + is +
                               " at locality " + std::to_string(locality_of(from)) + ", and " +
                               own + " at locality " + std::to_string(its_job().here()) +
                               "; accepted: all members call the same operations with the same "
                               "types in the same order");
    };
    if (its != m_arrivals->kind) {
        refuse(words_for(*m_core, its), words_for(*m_core, m_arrivals->kind));
    }
    if (one->type() != type) {
        refuse("of " + cereal::util::demangle(one->type().name()),
               "of " + cereal::util::demangle(type.name()));
    }
    return one;
}

std::unique_ptr<letter> operation::take(int from, const std::type_info& type) {
    for (;;) {
        {
            const std::scoped_lock lock(m_arrivals->lock);
            if (std::unique_ptr<letter> one = take_if_here(from, type)) {
                return one;
            }
        }
        wait_for_letter(from);
    }
}

void operation::wait_for_letter(int from) noexcept {
    operation_words& words = m_arrivals->words;
    m_core->key().copy(words.key.data(), words.key.size() - 1);
    words.number = number();
    words.wanted = locality_of(from);
    words.what = m_arrivals->kind.what;
    quern::detail::wait_for(m_arrivals->has_come, {&k_operation_wait, &words});
}

void operation::fail() {
    const error_report own = detail::report_of_current_exception(its_job().here());
    bool is_known = false;
    {
        const std::scoped_lock lock(m_arrivals->lock);
        is_known = m_arrivals->error.has_value();
    }
    for (int each = 0; !is_known && each < size(); ++each) {
        if (each != place()) {
            send_as<failure_delivery>(each, own);
        }
    }
    throw remote_error(own);
}

void deliver(const letter_header& header, std::unique_ptr<letter> one) {
    job& of = detail::job_for("communicator");
    if (const auto its = of.communicators().find(header.to)->find(header.number)) {
        its->receives(header, std::move(one));
    }
}

void failure_delivery::operator()(const letter_header& header, error_report error) const {
    job& of = detail::job_for("communicator");
    if (const auto its = of.communicators().find(header.to)->find(header.number)) {
        its->has_failed(std::move(error));
    }
}

}  // namespace quern::localities::detail
