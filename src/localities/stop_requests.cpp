// SPDX-License-Identifier: BSL-1.0
// Stop tokens of calls, at both ends.
#include "stop_requests.hpp"

#include "job.hpp"

#include <mutex>
#include <string>

namespace quern::localities::detail {

namespace {

/// In the table of calls for one without an answer.
class posted_call final : public waiting_call {
public:
    void has_value(arrived_parcel& answer) override { answer.read("the end of a call"); }
    void has_failed(std::exception_ptr) noexcept override {}
};

}  // namespace

void lent_tokens::tell_stop::operator()() const noexcept {
    of->post(runs_at, k_stop, call, std::as_bytes(std::span(&token, 1)));
}

void lent_tokens::watch(job& of, int runs_at, std::uint64_t call) {
    for (std::size_t token = 0; token < m_tokens.size(); ++token) {
        m_watches.emplace_back(m_tokens[token], tell_stop{&of, runs_at, call, token});
    }
}

void lend_tokens(waiting_call& call, token_list&& tokens) {
    if (!tokens.is_empty()) {
        call.lent = std::make_shared<lent_tokens>(std::move(tokens));
    }
}

std::uint64_t add_posted_call(job& of, token_list&& tokens, int locality) {
    if (tokens.is_empty()) {
        return 0;
    }
    auto call = std::make_unique<posted_call>();
    detail::lend_tokens(*call, std::move(tokens));
    return of.calls().add(std::move(call), locality) | k_tells_end;
}

void stoppable_calls::add(int caller, std::uint64_t call, const sources& of_tokens) {
    std::map<key, sources> added;  // made without the lock
    added.try_emplace({caller, call}, of_tokens);
    const std::scoped_lock lock(m_lock);
    m_calls.merge(added);
}

void stoppable_calls::remove(int caller, std::uint64_t call) noexcept {
    std::map<key, sources>::node_type removed;  // ends without the lock
    const std::scoped_lock lock(m_lock);
    removed = m_calls.extract({caller, call});
}

std::optional<std::stop_source> stoppable_calls::find(int caller, std::uint64_t call,
                                                      std::uint64_t token) const noexcept {
    const std::scoped_lock lock(m_lock);
    const auto known = m_calls.find({caller, call});
    if (known == m_calls.end() || token >= known->second.size()) {
        return std::nullopt;
    }
    return known->second[token];
}

/// A stop may run functions of the program, which may take long: without a lock.
void take_stop_message(arrived_parcel& parcel) {
    job& of = parcel.of();
    if (parcel.code() == k_watch) {
        if (const auto lent = of.calls().lent(parcel.number(), parcel.from())) {
            lent->watch(of, parcel.from(), parcel.number());
        }
        return;
    }
    std::uint64_t token = 0;
    parcel.take_front(&token, sizeof token);
    if (auto source = of.stoppable().find(parcel.from(), parcel.number(), token)) {
        source->request_stop();
    }
}

/// The tokens come in the order of their numbers, and then again. A call that has been written and
/// runs at its caller's locality all the same has the caller's own ones.
std::stop_token arrived_parcel::token(std::uint32_t number) {
    const std::uint64_t own = m_header.call & ~k_tells_end;
    if (own != 0 && m_header.code > k_error && m_caller == m_job.here()) {
        const auto lent = m_job.calls().lent(own, m_job.here());
        if (lent && number < lent->tokens().size()) {
            return lent->tokens()[number];
        }
    } else if (own != 0 && m_header.code > k_error && number <= m_sources.size()) {
        if (number == m_sources.size()) {
            m_sources.emplace_back();
        }
        return m_sources[number].get_token();
    }
    throw archive_error("the stop token " + std::to_string(number) +
                        " of a call is announced, and it has none of that number");
}

void arrived_parcel::watch_tokens() {
    const std::uint64_t own = m_header.call & ~k_tells_end;
    m_job.stoppable().add(m_caller, own, m_sources);
    m_job.post(m_caller, k_watch, own, std::span<const std::byte>());
}

void arrived_parcel::drop_tokens() noexcept {
    const std::uint64_t own = m_header.call & ~k_tells_end;
    if (!m_sources.empty()) {
        m_job.stoppable().remove(m_caller, own);
    }
    if (tells_end()) {
        detail::answer_call(m_job, m_caller, own, k_value, outgoing_parcel());
    }
}

}  // namespace quern::localities::detail
