// SPDX-License-Identifier: BSL-1.0
// The machine that a model runs on: objects, store buffers, waiting and paused threads, and the
// happens-before clocks. The engine asks it which threads can make a step and what that step
// touches, and lets it execute the step. It never makes choices: the host decides which thread runs
// and which waiter wakes.
#pragma once

#include "clocks.hpp"
#include "core.hpp"
#include "explorer.hpp"
#include "search_tree.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace model::detail {

[[nodiscard]] std::string thread_name(std::size_t thread);

class host {
public:
    virtual unsigned choose_one_of(unsigned n) = 0;
    [[noreturn]] virtual void fail(failure kind, const std::string& message) = 0;

protected:
    ~host() = default;
};

class machine {
public:
    machine(const options& o, host& h) : m_options(o), m_host(h) {}

    void begin_execution(bool logging);
    void start_threads(const std::vector<run::body>& bodies);
    void stop_checking();  // before the remains of an abandoned execution are destroyed
    [[nodiscard]] bool is_checking() const noexcept { return m_checking; }
    void join_threads();  // all steps of the threads happen before the main thread's next one

    // The possible next steps.
    [[nodiscard]] actor_set enabled() const noexcept;
    [[nodiscard]] access next_access(std::size_t actor) const noexcept;
    void list_predecessors(std::size_t actor, std::vector<std::uint32_t>& steps) const;
    [[nodiscard]] bool is_thread(std::size_t actor) const noexcept {
        return actor < m_thread_count;
    }
    [[nodiscard]] bool foreground_done() const noexcept;
    // Resumes threads that wait only for time to pass; false if there are none.
    [[nodiscard]] bool let_time_pass();
    [[nodiscard]] std::uint32_t idle_rounds() const noexcept { return m_idle_rounds; }
    [[nodiscard]] std::string describe_stuck() const;

    // Making a step.
    [[nodiscard]] bool is_local(std::size_t thread, const request& r) const noexcept;
    void post(std::size_t thread, const request& r);
    void begin_step(std::size_t actor, std::uint32_t number) noexcept;
    reply execute(std::size_t thread, const request& r);
    [[nodiscard]] bool is_waiting(std::size_t thread) const noexcept;
    reply end_wait(std::size_t thread);
    void flush(std::size_t actor);
    void pause(std::size_t thread) noexcept;
    void finish(std::size_t thread);

    object_id create_atomic(std::size_t thread, std::uint64_t initial, unsigned bytes);
    void destroy_atomic(std::size_t thread, object_id id);
    object_id create_var(std::size_t thread);
    void destroy_var(std::size_t thread, object_id id);
    void read_var(std::size_t thread, object_id id);
    void write_var(std::size_t thread, object_id id);

    void name_atomic(object_id id, const char* text);
    void name_var(object_id id, const char* text);
    void name_value(std::uint64_t value, const char* text);
    [[nodiscard]] bool is_logging() const noexcept { return m_logging; }
    void log(std::size_t thread, const std::string& text);
    [[nodiscard]] std::string trace() const;

private:
    enum class status : std::uint8_t { running, waiting, woken, finished };
    struct flushed {
        std::uint32_t sequence;
        std::uint32_t step;
    };
    struct thread_state {
        status now = status::running;
        bool background = false;
        bool timed = false;         // waiting with a time-out
        bool may_time_out = false;  // because no other thread could run
        bool raced = false;         // woken when it could have timed out instead
        bool paused = false;
        request pending;
        object_id waiting_on = 0;
        std::uint64_t woken_by = 0;  // not 0 from a pause to the next step
        std::uint64_t changed = 0;   // by others since this round of a spin began or first read it
        std::uint64_t read = 0;      // objects read since the last pause
        std::uint32_t spurious_cas_left = 0;
        std::uint32_t spurious_wakeups_left = 0;
        std::uint32_t timeouts_left = 0;
        std::uint32_t last_step = k_none;
        std::uint32_t woken_at = k_none;
        std::uint32_t buffered = 0;  // stores in this thread's queues
        std::uint32_t next_sequence = 1;
        std::uint32_t release_fence_at =
            0;  // stores from here on wait for all with a smaller sequence number
        std::vector<flushed> flushes;
        hb_clock clock;
        hb_clock release_fence;
        hb_clock acquire_pending;
    };
    struct buffered_store {
        object_id object;
        std::uint64_t value;
        std::uint32_t sequence;
        std::uint32_t after;      // waits for all with a smaller sequence number; 0: for none
        std::uint32_t issued_at;  // the last step of the thread before it
        hb_clock sync;
    };
    struct queue {
        std::uint8_t thread = 0;
        object_id object = k_any_object;
        std::size_t head = 0;
        std::uint32_t last_flush = k_none;
        std::vector<buffered_store> stores;
    };
    struct object {
        std::uint64_t value = 0;
        std::uint64_t mask = 0;
        std::uint32_t waiters = 0;
        std::uint32_t created_at = 0;
        std::uint8_t creator = 0;
        bool alive = true;
        hb_clock sync;
        hb_clock accessed;
        std::string name;
    };
    struct variable {
        std::uint32_t written_at = 0;
        std::uint8_t writer = 0;
        bool alive = true;
        hb_clock reads;
        std::string name;
    };
    static constexpr std::uint32_t k_none = ~std::uint32_t{0};
    static constexpr object_id k_any_object = ~object_id{0};

    [[nodiscard]] bool can_run(const thread_state& t) const noexcept;
    [[nodiscard]] bool anything_buffered() const noexcept;
    [[nodiscard]] bool can_flush(const queue& q) const noexcept;
    [[nodiscard]] std::size_t queue_index(std::size_t actor) const noexcept {
        return actor - m_thread_count;
    }
    object& touch(std::size_t thread, object_id id);
    void change(std::size_t thread, object& o, object_id id, std::uint64_t value);
    void note_read(thread_state& t, object_id id) noexcept;
    void end_pause(thread_state& t) noexcept;
    void acquire(thread_state& t, const object& o, std::memory_order order) noexcept;
    [[nodiscard]] const hb_clock& published(const thread_state& t,
                                            std::memory_order order) const noexcept;
    [[nodiscard]] const buffered_store* newest_buffered(std::size_t thread,
                                                        object_id id) const noexcept;

    reply load(std::size_t thread, const request& r);
    void store(std::size_t thread, const request& r);
    void buffer(std::size_t thread, const request& r);
    reply modify(std::size_t thread, const request& r);
    reply compare_exchange(std::size_t thread, const request& r);
    void fence(std::size_t thread, const request& r);
    reply wait(std::size_t thread, const request& r);
    reply wake(std::size_t thread, const request& r);
    queue& queue_for(std::size_t thread, object_id id);
    variable& access_var(std::size_t thread, object_id id, const char* verb);
    void require_reads_seen(std::size_t thread, object_id id, failure kind, const char* verb);

    [[nodiscard]] std::string shown(std::uint64_t value) const;
    [[nodiscard]] std::string name_of(object_id id) const;
    [[nodiscard]] std::string name_of_var(object_id id) const;

    const options& m_options;
    host& m_host;
    bool m_logging = false;
    bool m_checking = true;
    std::size_t m_thread_count = 0;
    std::size_t m_object_count = 0;
    std::size_t m_var_count = 0;
    std::size_t m_queue_count = 0;
    std::uint32_t m_step = k_none;
    std::uint32_t m_idle_rounds = 0;
    thread_state m_threads[k_max_threads + 1];
    std::vector<object> m_objects;
    std::vector<variable> m_vars;
    std::vector<queue> m_queues;
    std::vector<std::string> m_lines;
    std::vector<std::pair<std::uint64_t, std::string>> m_value_names;
};

}  // namespace model::detail
