// SPDX-License-Identifier: BSL-1.0
// Process-wide tables of this layer: the installed sources and the living runtimes. Both may end
// while a reader uses them. Each therefore has a reader gate: ending it closes the gate, which
// waits until all readers inside have left.
#pragma once

#include <quern/base/detail/process.hpp>
#include <quern/counters/name.hpp>
#include <quern/counters/registry.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quern::counters::detail {

/// Counts the readers inside. After close() no reader is inside and none can enter. It is not a
/// lock, because a reader may be a task that resumes on another thread.
class reader_gate {
public:
    bool enter() noexcept;
    void leave() noexcept;
    void close() noexcept;

private:
    static constexpr std::uint32_t k_closed = std::uint32_t{1} << 31;
    std::atomic<std::uint32_t> m_inside{0};
};

/// Whether the source's code belongs to Quern or to the program.
enum class source_origin : std::uint8_t { quern, program };

class installed_source {
public:
    installed_source(std::unique_ptr<source> what, source_origin from);

    const std::vector<counter_info>& counters() const noexcept { return m_counters; }
    bool has_workers() const noexcept { return m_has_workers; }
    bool is_of_program() const noexcept { return m_origin == source_origin::program; }

    /// All readings are absent if the source has been removed or has thrown.
    std::vector<std::vector<raw_reading>> read_all(std::span<const place> places);

    void close() noexcept;

private:
    std::vector<std::vector<raw_reading>> absent(std::size_t places, const std::string& why) const;

    const std::vector<counter_info> m_counters;
    const bool m_has_workers;
    const source_origin m_origin;
    reader_gate m_gate;
    std::unique_ptr<source> m_what;
};

std::string_view name_of(counter_kind kind) noexcept;
std::string_view name_of(source_state state) noexcept;

class printer;

/// Entry of a runtime. It may outlive the runtime.
class living_runtime {
public:
    explicit living_runtime(const runtime& which);
    ~living_runtime();
    living_runtime(const living_runtime&) = delete;
    living_runtime& operator=(const living_runtime&) = delete;

    struct pool_of {
        std::string name;
        unsigned workers;
        pool_ref ref;
    };

    const std::vector<pool_of>& pools() const noexcept { return m_pools; }
    const runtime* which() const noexcept { return m_which; }
    bool inherited() const noexcept { return m_generation != quern::detail::fork_generation(); }
    double seconds_until(std::chrono::steady_clock::time_point now) const noexcept {
        return std::chrono::duration<double>(now - m_began).count();
    }

    reader_gate open;                   ///< the runtime cannot end while a reader is inside
    std::shared_ptr<printer> printing;  ///< used only by the thread that starts or ends it

private:
    const runtime* m_which;
    const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
    const unsigned m_generation = quern::detail::fork_generation();
    std::vector<pool_of> m_pools;
};

/// A place by number. It stays valid after the runtime has ended.
struct location {
    int pool = -1;
    int worker = -1;
    friend bool operator==(const location&, const location&) = default;
};

/// A counter at one place.
struct found_counter {
    std::shared_ptr<installed_source> from;
    std::size_t index = 0;
    location where;
    std::string name;
    const counter_info& info() const { return from->counters()[index]; }
};

std::vector<std::shared_ptr<installed_source>> all_sources();
/// Same as install(), with the origin given.
installation install_from(source_origin origin, std::unique_ptr<source> what);
/// Quern's own sources.
std::vector<std::unique_ptr<source>> built_in_sources();

std::shared_ptr<living_runtime> add_living(const runtime& which);
/// Waits until no reader uses the runtime; later readers are refused.
void remove_living(living_runtime& ended) noexcept;
/// Null if the runtime is unknown.
std::shared_ptr<living_runtime> find_living(const runtime& which) noexcept;
std::vector<std::shared_ptr<living_runtime>> all_living();
/// Throws std::logic_error if the runtime has ended.
std::shared_ptr<living_runtime> living(const runtime& which);
/// The runtime of the calling task, else the only runtime, or the default one if there is none.
/// Throws std::logic_error as discover() does.
std::shared_ptr<living_runtime> runtime_meant();

/// True if this process has not written that file before.
bool is_first_use(const std::string& path);

/// Counters that match a name that is not derived. Throws std::invalid_argument if none matches.
std::vector<found_counter> find(std::string_view pattern, const living_runtime& of);

/// Throws std::invalid_argument for a pattern that no runtime could satisfy. Needs no runtime.
void check_pattern(std::string_view pattern);

/// True for a counter that has no source and is computed from other counters.
bool is_derived(const counter_name& name) noexcept;

/// Throws std::invalid_argument with the unknown name and the nearest known one.
[[noreturn]] void refuse_unknown(std::string_view text, const std::string& plain);

}  // namespace quern::counters::detail
