// SPDX-License-Identifier: BSL-1.0
// How a parcel is read and answered where it has come.
#include "job.hpp"

#include <quern/localities/remote_error.hpp>
#include <quern/sync/latch.hpp>
#include <quern/task/exceptions.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

namespace quern::localities::detail {

namespace {

mpi::detail::port_action count_down(latch& left) noexcept {
    return {[](void* argument) noexcept { static_cast<latch*>(argument)->count_down(); }, &left};
}

void take_answer(arrived_parcel& answer) noexcept {
    const auto call = answer.of().calls().take(answer.call(), answer.from());
    if (!call) {
        std::fprintf(stderr, "quern: locality %d has answered a call that does not wait (%llu)\n",
                     answer.from(), static_cast<unsigned long long>(answer.call()));
        std::abort();
    }
    try {
        if (answer.code() == k_value) {
            call->has_value(answer);
        } else {
            error_report what;
            answer.read("an error", what);
            call->has_failed(std::make_exception_ptr(remote_error(std::move(what))));
        }
    } catch (...) {
        call->has_failed(std::current_exception());
    }
}

}  // namespace

/// As an exception that leaves a task of post().
void fail_without_answer(const job& of) noexcept {
    if (get_exception_handler() != nullptr) {
        quern::detail::report_exception(std::current_exception(), exception_origin::posted_task);
        return;
    }
    const error_report what = detail::report_of_current_exception(of.here());
    std::fprintf(stderr, "quern: an exception has left a function called by post_to or post: %s\n",
                 remote_error(what).what());
    std::terminate();
}

namespace {

void answer_error(const arrived_parcel& parcel) noexcept {
    outgoing_parcel answer;
    // As one value: the archives of this library and those of the program may be compiled
    // otherwise.
    localities::detail::write(answer.bytes,
                              detail::report_of_current_exception(parcel.of().here()));
    detail::post_answer(parcel, k_error, std::move(answer));
}

}  // namespace

void perform(arrived_parcel& parcel) noexcept {
    if (parcel.code() <= k_error) {
        detail::take_answer(parcel);
        return;
    }
    if (parcel.code() == k_object) {
        parcel.of().objects().receive(parcel);
        return;
    }
    if (parcel.code() <= k_stop) {
        detail::take_stop_message(parcel);
        return;
    }
    try {
        const auto address =
            reinterpret_cast<std::uintptr_t>(detail::code_at(parcel.of(), parcel.code()));
        reinterpret_cast<action_function>(address)(parcel);
    } catch (...) {
        detail::has_failed(parcel);
    }
    parcel.call_has_ended();
}

void has_failed(const arrived_parcel& parcel) noexcept {
    parcel.call() != 0 ? detail::answer_error(parcel) : detail::fail_without_answer(parcel.of());
}

void post_answer(const arrived_parcel& to, code_place what, outgoing_parcel&& parcel) {
    detail::answer_call(to.of(), to.caller(), to.call(), what, std::move(parcel));
}

void post_answer(const arrived_parcel& to, code_place what, std::span<const std::byte> bytes) {
    job& of = to.of();
    if (to.caller() != of.here()) [[likely]] {
        of.post(to.caller(), what, to.call(), bytes);
        return;
    }
    outgoing_parcel parcel;
    parcel.bytes.put(bytes.data(), bytes.size());
    detail::answer_call(of, of.here(), to.call(), what, std::move(parcel));
}

void answer_call(job& of, int locality, std::uint64_t call, code_place what,
                 outgoing_parcel&& parcel) {
    if (locality != of.here()) {
        of.post(locality, what, call, std::move(parcel));
        return;
    }
    const auto kept = detail::store(parcel);
    arrived_parcel answer(of, locality, what, call, *kept);
    detail::take_answer(answer);
}

std::unique_ptr<stored_parcel> store(const outgoing_parcel& parcel) {
    auto to = std::make_unique<stored_parcel>();
    const auto bytes = parcel.bytes.bytes();
    to->bytes.assign(bytes.begin(), bytes.end());
    for (const chunk& each : parcel.chunks) {
        to->chunks.emplace_back(each.data, each.data + each.size);
    }
    return to;
}

arrived_parcel::arrived_parcel(job& of, int caller, code_place code, std::uint64_t call,
                               const stored_parcel& from)
    : m_job(of),
      m_from(of.here()),
      m_header{
          .size = from.chunks.empty() ? 0 : k_has_chunks, .chunk = 0, .code = code, .call = call},
      m_bytes(from.bytes),
      m_after{},
      m_caller(caller),
      m_stored(&from),
      m_is_fetched(true) {
    for (const auto& each : from.chunks) {
        m_chunks.push_back({.size = each.size(), .into = nullptr});
        m_chunk_bytes += each.size();
    }
}

arrived_parcel::chunk_waits::chunk_waits(arrived_parcel& of) : m_of(of) { of.fetch(); }

void arrived_parcel::fetch() {
    if (std::exchange(m_is_fetched, true)) {
        return;
    }
    if ((m_header.size & k_is_apart) != 0) {
        fetch_bytes();
    }
    if ((m_header.size & k_has_chunks) != 0) {
        take_sizes();
    }
}

void arrived_parcel::take_front_of_bytes(void* into, std::size_t size) {
    QUERN_ASSERT(m_bytes.size() >= size, "a parcel without its header");
    std::memcpy(into, m_bytes.data(), size);
    m_bytes = m_bytes.subspan(size);
}

void arrived_parcel::take_front(void* into, std::size_t size) {
    fetch();
    take_front_of_bytes(into, size);
    if (m_header.size == bytes_of(m_header)) {
        m_header.size -= static_cast<std::uint32_t>(size);
    }
}

std::unique_ptr<stored_parcel> arrived_parcel::take_all() {
    auto to = std::make_unique<stored_parcel>();
    fetch();
    to->bytes.assign(m_bytes.begin(), m_bytes.end());
    has_been_read();
    for (chunk_place& each : m_chunks) {
        each.into = to->chunks.emplace_back(each.size).data();
    }
    receive_chunks();
    return to;
}

/// An exception has destroyed what the chunks belong into.
arrived_parcel::chunk_waits::~chunk_waits() {
    m_of.has_been_read();
    if (!m_is_read) {
        for (chunk_place& each : m_of.m_chunks) {
            each.into = nullptr;
        }
    }
    m_of.receive_chunks();
}

void arrived_parcel::fetch_bytes() {
    std::uint64_t size = 0;
    QUERN_ASSERT(m_bytes.size() == sizeof size, "a parcel whose bytes travel apart without a size");
    std::memcpy(&size, m_bytes.data(), sizeof size);
    has_been_read();
    m_own_bytes.resize(size);
    m_bytes = m_own_bytes;
    link& way = m_job.link_to(m_from);
    latch left(1);
    m_job.port().receive_large(m_from, way.tag_of(m_header.chunk++), m_own_bytes,
                               detail::count_down(left));
    left.wait();
    m_job.has_received_chunk(size);
}

void arrived_parcel::take_sizes() {
    const auto take = [this] {
        std::uint64_t value = 0;
        take_front_of_bytes(&value, sizeof value);
        return value;
    };
    for (std::uint64_t left = take(); left != 0; --left) {
        m_chunks.push_back({.size = take(), .into = nullptr});
        m_chunk_bytes += m_chunks.back().size;
    }
}

void arrived_parcel::expect(std::span<std::byte> into) {
    if (m_expected == m_chunks.size() || m_chunks[m_expected].size != into.size()) {
        throw archive_error("a parcel is read otherwise than it was written: its chunk " +
                            std::to_string(m_expected) + " is not one of " +
                            std::to_string(into.size()) + " bytes");
    }
    m_chunks[m_expected++].into = into.data();
}

/// Also those that were not asked for because of an error: else their sender would wait for ever.
void arrived_parcel::receive_chunks() noexcept {
    if (m_chunks.empty()) {
        return;
    }
    if (m_stored != nullptr) {
        for (std::size_t i = 0; i < m_chunks.size(); ++i) {
            if (m_chunks[i].into != nullptr) {
                std::memcpy(m_chunks[i].into, m_stored->chunks[i].data(), m_chunks[i].size);
            }
        }
        return;
    }
    const link& way = m_job.link_to(m_from);
    latch left(static_cast<std::ptrdiff_t>(m_chunks.size()));
    std::vector<std::vector<std::byte>> unwanted;
    for (chunk_place& each : m_chunks) {
        if (each.into == nullptr) {
            each.into = unwanted.emplace_back(each.size).data();
        }
        m_job.port().receive_large(m_from, way.tag_of(m_header.chunk++), {each.into, each.size},
                                   detail::count_down(left));
        m_job.has_received_chunk(each.size);
    }
    left.wait();
}

}  // namespace quern::localities::detail
