// SPDX-License-Identifier: BSL-1.0
// A parcel: a call that travels, or its answer. How the public headers make one, and what they see
// of one that has come. The rest, links and the running of parcels, is in src/localities.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/archive.hpp>
#include <quern/scheduler/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

namespace quern::localities::detail {

class job;

/// A place in the code of the program that is the same at all localities: a module's number and an
/// offset. Smaller values are free for other meanings.
using code_place = std::uint64_t;
inline constexpr code_place k_value = 0;  ///< the parcel is an answer, a value
inline constexpr code_place k_error = 1;  ///< an answer, an error_report
/// About a global object: an object_header (src/localities), and what its kind has.
inline constexpr code_place k_object = 2;
/// The sender runs the call of that number, and is to be told of requests at its stop tokens.
inline constexpr code_place k_watch = 3;
/// The sender has made the call of that number, and one of its stop tokens has been stopped.
inline constexpr code_place k_stop = 4;

/// In a parcel, before its bytes. Parcels begin at multiples of 8 in a message.
struct parcel_header {
    std::uint32_t size;   ///< of the bytes that follow; k_is_apart, k_has_chunks may be added
    std::uint32_t chunk;  ///< the number of its first chunk
    code_place code;      ///< of an action_function, or what the parcel is
    std::uint64_t call;   ///< of a waiting_call at the sender of a call; 0: no answer
};
/// Added to the number of a call without an answer whose end is told: it has stop tokens.
inline constexpr std::uint64_t k_tells_end = std::uint64_t{1} << 63;
/// The bytes travel as a chunk, the first one. In their place: how many there are.
inline constexpr std::uint32_t k_is_apart = std::uint32_t{1} << 31;
/// The bytes begin with the number of chunks and the size of each, as std::uint64_t.
inline constexpr std::uint32_t k_has_chunks = std::uint32_t{1} << 30;
inline std::uint32_t bytes_of(const parcel_header& of) noexcept {
    return of.size & ~(k_is_apart | k_has_chunks);
}
/// Of the parcel in its message.
inline std::uint32_t size_of(const parcel_header& of) noexcept {
    return (static_cast<std::uint32_t>(sizeof of) + bytes_of(of) + 7) / 8 * 8;
}

/// Values that an archive only copies, so that none is needed: making one takes longer than the
/// rest of a small parcel.
template <class... Values>
inline constexpr bool k_need_no_archive = !k_checked_archives && (as_bytes<Values> && ...);

/// What must live until the chunks of a parcel have been sent: the values that they point into.
struct kept_values {
    kept_values() = default;
    kept_values(const kept_values&) = delete;
    kept_values& operator=(const kept_values&) = delete;
    virtual ~kept_values() = default;
};

/// A parcel that is being made. `chunks` point into `kept`.
struct outgoing_parcel {
    chunk_list chunks;
    writer bytes{&chunks};
    std::unique_ptr<kept_values> kept{};
    token_list tokens{};  ///< of the arguments
};

/// A parcel that has come and is kept, with all its chunks.
struct stored_parcel final : kept_values {
    std::vector<std::byte> bytes;
    std::vector<std::vector<std::byte>> chunks;
};
/// Of a parcel that does not travel after all.
std::unique_ptr<stored_parcel> store(const outgoing_parcel& parcel);

/// What follows when a parcel's bytes are no longer needed.
struct read_action {
    void (*call)(void* reader, void* bytes) noexcept;
    void* reader;
    void* bytes;
};

/// A parcel that has come, while it is read and runs.
class arrived_parcel final : chunk_sink, token_source {
public:
    arrived_parcel(job& of, int from, const parcel_header& header, const std::byte* bytes,
                   read_action after) noexcept
        : m_job(of),
          m_from(from),
          m_header(header),
          m_bytes(bytes, bytes_of(header)),
          m_after(after),
          m_caller(from) {}
    /// One of `caller` that was kept, or has not travelled. `from` must live until it has been
    /// read.
    arrived_parcel(job& of, int caller, code_place code, std::uint64_t call,
                   const stored_parcel& from);
    ~arrived_parcel() { has_been_read(); }
    arrived_parcel(const arrived_parcel&) = delete;
    arrived_parcel& operator=(const arrived_parcel&) = delete;

    job& of() const noexcept { return m_job; }
    int from() const noexcept { return m_from; }
    /// 0: nothing waits for an answer.
    std::uint64_t call() const noexcept { return tells_end() ? 0 : m_header.call; }
    /// With k_tells_end.
    std::uint64_t number() const noexcept { return m_header.call; }
    code_place code() const noexcept { return m_header.code; }
    /// Who is answered: the sender, unless the parcel was sent on.
    int caller() const noexcept { return m_caller; }
    void answers_to(int caller, std::uint64_t call) noexcept {
        m_caller = caller;
        m_header.call = call;
    }

    /// Takes bytes that are no value from its beginning. May suspend. Requires: nothing has been
    /// read.
    void take_front(void* into, std::size_t size);
    /// All that is left, with its chunks. May suspend. Nothing can be read afterwards.
    std::unique_ptr<stored_parcel> take_all();

    /// Reads values from its bytes, in the order in which they were written, and waits until their
    /// chunks have come: may suspend. Called once. `what`: words for errors. Throws archive_error;
    /// chunks are received in any case.
    template <class... Values>
    void read(const char* what, Values&... values) {
        if constexpr (k_need_no_archive<Values...>) {
            if (m_header.size == k_fixed_size<Values...>) [[likely]] {
                const std::byte* next = m_bytes.data();
                ((std::memcpy(&values, next, sizeof values), next += sizeof values), ...);
                has_been_read();
                return;
            }
        }
        if (m_header.size == bytes_of(m_header)) [[likely]] {
            reader from(m_bytes);
            from.take_tokens_from(*this);
            (localities::detail::read(from, values), ...);
            from.expect_end(what);
            has_been_read();
        } else {
            chunk_waits waits(*this);
            reader from(m_bytes, this, m_chunk_bytes);
            from.take_tokens_from(*this);
            (localities::detail::read(from, values), ...);
            from.expect_end(what);
            waits.all_is_read();
        }
        if (!m_sources.empty()) [[unlikely]] {
            watch_tokens();
        }
    }

    /// The call that it is, if it is one, has run and been answered.
    void call_has_ended() noexcept {
        if (!m_sources.empty() || tells_end()) [[unlikely]] {
            drop_tokens();
        }
    }

private:
    /// Gets what travels apart; its end receives the chunks and waits for them.
    class chunk_waits {
    public:
        explicit chunk_waits(arrived_parcel& of);
        ~chunk_waits();
        chunk_waits(const chunk_waits&) = delete;
        chunk_waits& operator=(const chunk_waits&) = delete;
        void all_is_read() noexcept { m_is_read = true; }

    private:
        arrived_parcel& m_of;
        bool m_is_read = false;
    };

    bool tells_end() const noexcept { return (m_header.call & k_tells_end) != 0; }
    std::stop_token token(std::uint32_t number) override;
    void watch_tokens();
    void drop_tokens() noexcept;
    void expect(std::span<std::byte> into) override;
    void fetch();
    void fetch_bytes();
    void take_sizes();
    void take_front_of_bytes(void* into, std::size_t size);
    void receive_chunks() noexcept;
    void has_been_read() noexcept {
        if (m_after.call != nullptr) {
            std::exchange(m_after.call, nullptr)(m_after.reader, m_after.bytes);
        }
    }

    struct chunk_place {
        std::uint64_t size;
        std::byte* into;  ///< null: nothing wants it
    };

    job& m_job;
    int m_from;
    parcel_header m_header;
    std::span<const std::byte> m_bytes;
    read_action m_after;
    int m_caller;
    const stored_parcel* m_stored = nullptr;  ///< it has the chunks
    bool m_is_fetched = false;                ///< what travelled apart, and the sizes of chunks
    std::vector<std::byte> m_own_bytes{};     ///< of a parcel whose bytes travelled apart
    std::vector<chunk_place> m_chunks{};
    std::vector<std::stop_source> m_sources{};  ///< of the stop tokens of the call
    std::size_t m_chunk_bytes = 0;              ///< of all of them
    std::size_t m_expected = 0;                 ///< so many of the chunks have a place
};

/// Reads a parcel of its kind, calls the function and answers. What it throws is answered, or, if
/// nothing waits for it, treated as an exception of a posted task.
using action_function = void (*)(arrived_parcel& parcel);

/// The stop tokens of a call that is under way.
class lent_tokens;

/// A call whose answer has not come. Owns itself from add_call() on.
class waiting_call {
public:
    waiting_call() = default;
    waiting_call(const waiting_call&) = delete;
    waiting_call& operator=(const waiting_call&) = delete;
    virtual ~waiting_call() = default;

    /// Reads the value that has come, and tells the caller. What it throws goes to has_failed().
    virtual void has_value(arrived_parcel& answer) = 0;
    virtual void has_failed(std::exception_ptr error) noexcept = 0;

    std::shared_ptr<lent_tokens> lent{};  ///< null: it has none
};

/// The job of the session. Throws std::logic_error, which names the function, if there is none.
job& job_for(const char* function);
/// Throws std::out_of_range if there is no such locality. True: it is the caller's.
bool is_here(const job& of, int locality, const char* function);
/// The pool in which parcels run.
pool_ref pool_of_parcels(const job& of) noexcept;
int number_of_here(const job& of) noexcept;

/// A call at the caller's own locality: the end of the job waits for it too.
class counted_call {
public:
    explicit counted_call(job& of) noexcept;
    counted_call(counted_call&& other) noexcept : m_of(std::exchange(other.m_of, nullptr)) {}
    counted_call& operator=(counted_call&&) = delete;
    ~counted_call();

private:
    job* m_of;
};

/// The same of an object in place. The end of the job says that it waits for it.
class counted_pin {
public:
    explicit counted_pin(job& of) noexcept;
    counted_pin(counted_pin&& other) noexcept
        : m_of(std::exchange(other.m_of, nullptr)), m_call(std::move(other.m_call)) {}
    counted_pin& operator=(counted_pin&&) = delete;
    ~counted_pin();

private:
    job* m_of;
    counted_call m_call;
};

/// Throws std::logic_error for code that not all localities have.
code_place place_of_code(const job& of, const void* address);
/// The other direction. Throws std::runtime_error for a place that is not in the program.
const void* code_at(const job& of, code_place place);

/// For reports: the present task runs that function of the program, wherever it was made. `name`:
/// what they say instead, which lives as long as the program. Both null: they say less.
void task_runs(const void* code, const char* name = nullptr) noexcept;

/// In place of a locality: a call may be answered by any.
inline constexpr int k_anywhere = -1;
/// The number of a call to `locality` that waits from now on. Throws std::bad_alloc.
std::uint64_t add_call(job& of, std::unique_ptr<waiting_call> call, int locality);
/// The call is not made after all.
void forget_call(job& of, std::uint64_t call) noexcept;
/// A call whose arguments have been written lends their stop tokens, if there are any.
void lend_tokens(waiting_call& call, token_list&& tokens);
/// The number of a call without an answer: 0, or of what waits for its end.
std::uint64_t add_posted_call(job& of, token_list&& tokens, int locality);

/// Posts a parcel of the program. Waits, and may suspend, while very much is queued for that
/// locality.
void post_call(job& of, int to, code_place code, std::uint64_t call, outgoing_parcel&& parcel);
/// The same of a parcel of a few bytes.
void post_call(job& of, int to, code_place code, std::uint64_t call,
               std::span<const std::byte> bytes);
/// The answer to a parcel. Never waits.
void post_answer(const arrived_parcel& to, code_place what, outgoing_parcel&& parcel);
void post_answer(const arrived_parcel& to, code_place what, std::span<const std::byte> bytes);
/// The answer to that call of a locality, which may be the own one.
void answer_call(job& of, int locality, std::uint64_t call, code_place what,
                 outgoing_parcel&& parcel);

}  // namespace quern::localities::detail
