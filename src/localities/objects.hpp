// SPDX-License-Identifier: BSL-1.0
// The global objects that this locality knows: those that are here, those whose home it is, and
// those it has references to. Protocol: README.md, section "Objects".
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/localities/detail/object_protocol.hpp>
#include <quern/localities/detail/objects.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace quern::localities::detail {

/// Of a message: the call, or why an object could not be read, or one that ends here.
struct object_payload {
    std::unique_ptr<object_call> call{};
    std::unique_ptr<error_report> error{};
    std::shared_ptr<void> object{};
};

using known_object = object_record<object_payload>;
using known_message = known_object::message;
using known_actions = known_object::actions;

class object_table;

/// For counters: what has happened here since the session began.
struct object_totals {
    std::uint64_t made = 0;
    std::uint64_t sent = 0;    ///< calls and moves of this locality, to where an object was thought
    std::uint64_t missed = 0;  ///< it was told that one of them had moved
    std::uint64_t sent_on = 0;  ///< messages of callers whose object had moved on
    std::uint64_t moved = 0;    ///< objects that have left
};

/// What a locality says of an object to a balancer.
struct object_load {
    double seconds = 0;  ///< of its calls there
    bool is_here = false;
};

/// What this locality knows of one object.
class object_entry {
public:
    object_entry(object_table& of, object_name named, int here)
        : table(&of), name(named), record(here, static_cast<std::int32_t>(named.home)) {}

    std::atomic<object_table*> table;  ///< null: the session has ended
    const object_name name;
    quern::detail::spin_lock lock;  ///< of what follows
    known_object record;
    std::shared_ptr<void> object{};
    std::atomic<object_type_function> type = nullptr;  ///< once known it stays; any thread reads it
    std::atomic<std::uint64_t> spent{0};  ///< ticks in calls here, while they are measured
    bool is_orphan = false;               ///< the last reference destroys it
    std::uint32_t users = 0;              ///< under the lock of the table
};

/// A message's call, as bytes.
std::unique_ptr<object_call> write_call(job& of, object_call& one);
/// Reads and runs a call, and answers.
void run_call(arrived_parcel& parcel, code_place action, void* object) noexcept;
/// The object ends, unless its chunks are still being sent.
void end_object(std::shared_ptr<void>&& object);

class object_table {
public:
    explicit object_table(job& of) noexcept : m_job(of) {}
    ~object_table();
    object_table(const object_table&) = delete;
    object_table& operator=(const object_table&) = delete;

    /// A parcel about an object: a message of the protocol.
    void receive(arrived_parcel& parcel) noexcept;
    /// The session ends. First: references that remain refer to nothing. Then, when no message is
    /// under way any more: objects that are here end.
    void detach() noexcept;
    void end_all() noexcept;

    /// For references.
    object_entry& make(object_type_function type, void* object);
    /// False: the session has ended.
    bool drop(object_entry& one) noexcept;
    /// An object ends, in a task: the caller may be no place for code of the program.
    void release(std::shared_ptr<void>&& object);
    object_entry& receive_reference(const object_reference::travelling& from);
    /// As object_reference::lend(), of an object that is here and has a call that runs.
    object_reference::travelling lend_running(object_name name);
    /// A call, or a move, of this locality.
    void post(object_entry& one, known_message&& what);
    /// A call has run here.
    void has_run(object_entry& of, bool was_shared);
    object_totals totals() const noexcept;

    /// From now on the time of calls here is measured.
    void measure() noexcept { m_measures.store(true, std::memory_order_relaxed); }
    /// 0: it is not measured.
    quern::detail::tick_count begin_measured() const noexcept {
        return m_measures.load(std::memory_order_relaxed) ? quern::detail::ticks() : 0;
    }
    static void end_measured(object_entry& of, quern::detail::tick_count begun) noexcept {
        if (begun != 0) {
            of.spent.fetch_add(quern::detail::ticks() - begun, std::memory_order_relaxed);
        }
    }
    /// Of an object: the seconds of its calls here since this was asked before, and whether it is
    /// here.
    object_load take_load(object_name name) noexcept;
    code_place place_of_type(const object_entry& of) const;

private:
    /// Keeps an entry in the table.
    struct use {
        use(object_table& table, object_entry& entry) noexcept
            : of(table), one(entry), has_begun(of.begin_use(one)) {}
        use(object_table& table, object_name name)
            : of(table), one(table.find(name)), has_begun(true) {}
        ~use() {
            if (has_begun) {
                of.end_use(one);
            }
        }
        use(const use&) = delete;
        use& operator=(const use&) = delete;
        object_table& of;
        object_entry& one;
        bool has_begun;  ///< false: the session has ended
    };
    using entries = std::unordered_map<object_name, std::unique_ptr<object_entry>>;
    object_entry& find(object_name name);
    void end_use(object_entry& one) noexcept;
    bool begin_use(object_entry& one) noexcept;

    static void take_discarded(object_entry& of, known_actions& out) noexcept;
    void carry_out(object_entry& of, known_actions&& all);
    void send(object_entry& of, int to, known_message&& what);
    void pack(object_entry& of, int to, known_message&& what);
    void run(object_entry& of, known_message&& what);
    void count_sent(const known_message& one) noexcept;
    void answer_move(known_message& what, bool is_done);
    void take(object_entry& of, known_message&& what);
    template <class Change>
    void change(object_entry& of, Change&& its);

    void receive_call(object_entry& of, known_message&& what, arrived_parcel& parcel,
                      code_place action);
    void receive_object(object_entry& of, known_message&& what, arrived_parcel& parcel,
                        code_place type);

    job& m_job;
    quern::detail::spin_lock m_lock;
    entries m_entries;
    std::size_t m_uses = 0;
    bool m_is_detached = false;
    entries m_detached{};                    ///< of a session that ends
    std::atomic<std::size_t> m_releases{0};  ///< tasks
    std::atomic<std::uint64_t> m_serial{0};
    std::atomic<std::uint64_t> m_callers{0};
    std::atomic<std::uint64_t> m_sent{0};
    std::atomic<std::uint64_t> m_missed{0};
    std::atomic<std::uint64_t> m_sent_on{0};
    std::atomic<std::uint64_t> m_moved{0};
    std::atomic<bool> m_measures{false};
};

/// Changes a record, and does what follows. An object that ends here leaves its place under the
/// lock: another may come.
template <class Change>
void object_table::change(object_entry& of, Change&& its) {
    known_actions out;
    {
        const std::scoped_lock lock(of.lock);
        its(of.record, out);
        take_discarded(of, out);
    }
    carry_out(of, std::move(out));
}

}  // namespace quern::localities::detail
