// SPDX-License-Identifier: BSL-1.0
// Communicators of this locality, the operations of each, and the keys that this locality knows.
// Protocol: README.md, section "Collectives".
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/localities/detail/operation.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace quern::localities::detail {

class communicator_core : public std::enable_shared_from_this<communicator_core> {
public:
    communicator_core(job& of, communicator_name name) noexcept : m_job(of), m_name(name) {}

    job& its_job() const noexcept { return m_job; }
    communicator_name name() const noexcept { return m_name; }
    const std::string& key() const noexcept { return m_key; }
    const std::vector<int>& members() const noexcept { return m_members; }
    int place() const noexcept { return m_place; }
    /// -1: none.
    int place_of(int locality) const noexcept;

    /// Before operations begin here; letters may have come.
    void join(const std::string& key, const std::vector<int>& members);
    /// Throws std::logic_error if its session has ended.
    std::shared_ptr<operation> begin(collective_kind what);
    /// For a letter. Null: that operation has ended here.
    std::shared_ptr<operation> find(std::uint64_t number);
    /// After the last of these it leaves the table.
    void end(const operation& one) noexcept;
    void release() noexcept;
    void end_session() noexcept;

private:
    using operations = std::unordered_map<std::uint64_t, std::shared_ptr<operation>>;
    std::shared_ptr<operation> at(std::uint64_t number);
    void leave_if_unused() noexcept;

    job& m_job;
    const communicator_name m_name;
    std::string m_key{};
    std::vector<int> m_members{};
    int m_place = -1;

    quern::detail::spin_lock m_lock;  ///< of what follows
    std::uint64_t m_begun = 0;
    operations m_open{};  ///< begun, or with letters
    bool m_is_released = false;
    bool m_session_has_ended = false;
};

class communicator_table {
public:
    explicit communicator_table(job& of) noexcept : m_job(of) {}

    /// At the locality that knows the key. Throws std::invalid_argument for other members than
    /// another locality has given.
    communicator_name join(const std::string& key, const std::vector<int>& members, int caller);

    /// Made if it is not known, since letters may come first.
    std::shared_ptr<communicator_core> find(communicator_name name);
    void forget(communicator_name name) noexcept;
    /// The session ends, and no message is under way.
    void clear() noexcept;

private:
    struct name_hash {
        std::size_t operator()(const communicator_name& one) const noexcept {
            return static_cast<std::size_t>((one.serial * 0x9E3779B97F4A7C15ULL) ^ one.home);
        }
    };
    /// One that not all members have joined.
    struct joining {
        std::uint64_t serial;
        std::vector<int> members;
        std::vector<int> joined;
    };

    job& m_job;
    std::mutex m_lock;  ///< of what follows; held for a short time
    std::unordered_map<communicator_name, std::shared_ptr<communicator_core>, name_hash> m_known;
    std::map<std::string, std::vector<joining>> m_keys;  ///< of this home, oldest first
    std::uint64_t m_made = 0;
};

}  // namespace quern::localities::detail
