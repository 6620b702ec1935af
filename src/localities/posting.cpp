// SPDX-License-Identifier: BSL-1.0
// How a parcel leaves: its bytes through the link, its chunks beside it.
#include "job.hpp"

#include <atomic>

namespace quern::localities::detail {

namespace {

/// What the chunks of one parcel point into, until the last of them has been sent.
struct sent_chunks {
    std::atomic<std::size_t> left;
    std::unique_ptr<kept_values> kept;
    std::vector<std::byte> bytes;  ///< of a parcel whose bytes travel apart

    static void one_is_sent(void* self) noexcept {
        auto* const all = static_cast<sent_chunks*>(self);
        if (all->left.fetch_sub(1, std::memory_order_acq_rel) == 1) {  // pairs with itself
            delete all;
        }
    }
};

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}
void append(std::vector<std::byte>& to, std::uint64_t value) {
    detail::append(to, std::as_bytes(std::span(&value, 1)));
}

/// The number of chunks, the size of each, the bytes.
std::vector<std::byte> with_sizes(const outgoing_parcel& parcel) {
    std::vector<std::byte> all;
    const auto bytes = parcel.bytes.bytes();
    all.reserve(bytes.size() + 8 * (parcel.chunks.size() + 1));
    detail::append(all, std::uint64_t{parcel.chunks.size()});
    for (const chunk& each : parcel.chunks) {
        detail::append(all, std::uint64_t{each.size});
    }
    detail::append(all, bytes);
    return all;
}

}  // namespace

/// Posts bytes of any size, and then the chunks. `header` says whether the bytes have their sizes.
void job::send_apart(link& way, parcel_header header, std::vector<std::byte>&& bytes,
                     const chunk_list& chunks, std::unique_ptr<kept_values> kept) {
    const std::uint64_t size = bytes.size();
    auto sent = std::make_unique<sent_chunks>();
    std::vector<std::span<const std::byte>> all;
    std::span<const std::byte> in_message(bytes);
    if (size > k_most_bytes) {
        sent->bytes = std::move(bytes);
        all.emplace_back(sent->bytes);
        in_message = std::as_bytes(std::span(&size, 1));
        header.size |= k_is_apart;
    }
    for (const chunk& each : chunks) {
        all.emplace_back(each.data, each.size);
    }
    sent->kept = std::move(kept);
    sent->left.store(all.size(), std::memory_order_relaxed);
    header.size |= static_cast<std::uint32_t>(in_message.size());
    header.chunk = way.number_chunks(static_cast<std::uint32_t>(all.size()));
    std::uint64_t apart = 0;
    for (const auto& each : all) {
        apart += each.size();
    }
    way.post(header, in_message, apart);
    sent_chunks* const shared = sent.release();  // the last chunk that has been sent destroys it
    std::uint32_t number = header.chunk;
    for (const auto& each : all) {
        way.send_chunk(number++, each, {sent_chunks::one_is_sent, shared});
    }
}

void job::post_apart(int to, code_place code, std::uint64_t call,
                     std::span<const std::byte> bytes) {
    send_apart(link_to(to), {.size = 0, .chunk = 0, .code = code, .call = call},
               {bytes.begin(), bytes.end()}, {}, nullptr);
}

/// One that lends stop tokens is known here until it has ended.
std::uint64_t job::lend_tokens(int to, std::uint64_t call, token_list&& tokens) {
    if (call == 0) {
        return detail::add_posted_call(*this, std::move(tokens), to);
    }
    m_calls.lend(call, std::make_shared<lent_tokens>(std::move(tokens)));
    return call;
}

void job::post(int to, code_place code, std::uint64_t call, outgoing_parcel&& parcel) {
    if (!parcel.tokens.is_empty()) [[unlikely]] {
        call = lend_tokens(to, call, std::move(parcel.tokens));
    }
    if (parcel.chunks.empty()) [[likely]] {
        post(to, code, call, parcel.bytes.bytes());
        return;
    }
    send_apart(link_to(to), {.size = k_has_chunks, .chunk = 0, .code = code, .call = call},
               detail::with_sizes(parcel), parcel.chunks, std::move(parcel.kept));
}

}  // namespace quern::localities::detail
