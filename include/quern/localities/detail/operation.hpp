// SPDX-License-Identifier: BSL-1.0
// One collective operation at one locality: what its body sends to the other members, and what has
// come from them. How operations find each other: src/localities/README.md, section "Collectives".
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/action.hpp>
#include <quern/localities/remote_error.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

namespace quern::localities::detail {

/// Of a communicator, never used again in the session: the locality that knows its key, and a
/// number there.
struct communicator_name {
    std::uint64_t home = 0;
    std::uint64_t serial = 0;
    friend auto operator<=>(const communicator_name&, const communicator_name&) = default;
};

enum class collective : std::uint8_t {
    barrier,
    broadcast,
    reduce,
    all_reduce,
    gather,
    all_gather,
    scatter,
    all_to_all,
    inclusive_scan,
    exclusive_scan
};

/// "all_reduce", and of the task of a message, "all_reduce: a message". They live as long as the
/// program.
const char* word_for(collective what) noexcept;
const char* word_for_message(collective what) noexcept;

/// What an operation is: equal at all members.
struct collective_kind {
    collective what = collective::barrier;
    std::int32_t root = -1;  ///< a place in the list of members; -1: it has none
    friend bool operator==(const collective_kind&, const collective_kind&) = default;
};

/// Of a message from one member's operation to another's. Each sends at most one to each.
struct letter_header {
    communicator_name to{};
    std::uint64_t number = 0;  ///< of the operation, from 0
    std::int32_t from = 0;     ///< a place in the list of members
    collective_kind kind{};
};

/// A value that has come.
class letter {
public:
    explicit letter(const std::type_info& type) noexcept : m_type(type) {}
    letter(const letter&) = delete;
    letter& operator=(const letter&) = delete;
    virtual ~letter() = default;
    const std::type_info& type() const noexcept { return m_type; }

private:
    const std::type_info& m_type;
};

template <class T>
class letter_of final : public letter {
public:
    explicit letter_of(T&& from) : letter(typeid(T)), value(std::move(from)) {}
    T value;
};

/// A letter has come for an operation of this locality.
void deliver(const letter_header& header, std::unique_ptr<letter> one);

template <class T>
struct delivery {
    void operator()(const letter_header& header, T value) const {
        detail::deliver(header, std::make_unique<letter_of<T>>(std::move(value)));
    }
    static const char* name_of_task(const letter_header& header, const T& /*value*/) noexcept {
        return detail::word_for_message(header.kind.what);
    }
};

struct failure_delivery {
    void operator()(const letter_header& header, error_report error) const;
    static const char* name_of_task(const letter_header& header,
                                    const error_report& /*error*/) noexcept {
        return detail::word_for_message(header.kind.what);
    }
};

class communicator_core;

/// Members are given by their places in the list of members. Its body runs in one task.
class operation {
public:
    operation(std::shared_ptr<communicator_core> of, std::uint64_t number);
    ~operation();
    operation(const operation&) = delete;
    operation& operator=(const operation&) = delete;

    int place() const noexcept;  ///< of this locality
    int size() const noexcept;
    int root() const noexcept;
    const char* name() const noexcept;  ///< "all_reduce"

    /// May wait, as post_to(). Throws as it.
    template <class T>
    void send(int to, T value) {
        send_as<delivery<T>>(to, std::move(value));
    }
    /// Waits for the value of that member. Throws std::logic_error if its operation is another, or
    /// it has sent another type; a remote_error if the operation has failed elsewhere.
    template <class T>
    T receive(int from) {
        const std::unique_ptr<letter> one = take(from, typeid(T));
        return std::move(static_cast<letter_of<T>&>(*one).value);
    }

    /// Tells the others of the present exception, and throws it as a remote_error.
    [[noreturn]] void fail();

    std::uint64_t number() const noexcept;
    void begins(collective_kind what) noexcept;
    void ends() noexcept;
    void receives(const letter_header& header, std::unique_ptr<letter> one);
    void has_failed(error_report&& elsewhere);

private:
    template <class Delivery, class T>
    void send_as(int to, T value) {
        detail::post_call_of<Delivery>(its_job(), locality_of(to), 0, Delivery{},
                                       std::tuple<letter_header, T>(header(), std::move(value)));
    }
    job& its_job() const noexcept;
    int locality_of(int member) const noexcept;
    letter_header header() const noexcept;
    std::unique_ptr<letter> take(int from, const std::type_info& type);
    std::unique_ptr<letter> take_if_here(int from, const std::type_info& type);
    void wait_for_letter(int from) noexcept;

    struct arrivals;
    std::shared_ptr<communicator_core> m_core;
    std::unique_ptr<arrivals> m_arrivals;
};

/// An operation that has begun; the end of this object ends it.
class begun_operation {
public:
    explicit begun_operation(std::shared_ptr<operation> one) noexcept
        : m_operation(std::move(one)) {}
    begun_operation(begun_operation&&) noexcept = default;
    begun_operation& operator=(begun_operation&&) = delete;
    ~begun_operation();
    operation& operator*() const noexcept { return *m_operation; }

private:
    std::shared_ptr<operation> m_operation;
};

/// What a communicator refers to at this locality.
class communicator_handle {
public:
    /// Waits for the locality that knows the key. Throws as the constructor of communicator.
    communicator_handle(const std::string& key, const std::vector<int>& members);
    ~communicator_handle();
    communicator_handle(const communicator_handle&) = delete;
    communicator_handle& operator=(const communicator_handle&) = delete;

    const std::string& key() const noexcept;
    const std::vector<int>& members() const noexcept;
    /// Throws std::logic_error without its session.
    begun_operation begin(collective what) const;
    /// `root`: a locality. Throws std::out_of_range if it is no member.
    begun_operation begin(collective what, int root) const;
    job& its_job() const noexcept;

private:
    std::shared_ptr<communicator_core> m_core;
};

}  // namespace quern::localities::detail
