// SPDX-License-Identifier: BSL-1.0
// What the layer keeps for the whole process: the sources that are installed and the runtimes that
// live. Both may go while somebody reads them; so each has a door that its end closes, and that
// waits until the readers inside have left.
#pragma once

#include <quern/base/process.hpp>
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

/// Readers enter and leave; when it has been closed nobody is inside and nobody enters. No lock: a
/// reader may be a task that goes on elsewhere.
class door {
public:
    bool enter() noexcept;
    void leave() noexcept;
    void close() noexcept;

private:
    static constexpr std::uint32_t k_closed = std::uint32_t{1} << 31;
    std::atomic<std::uint32_t> m_inside{0};
};

/// Whose code reads it.
enum class source_origin : std::uint8_t { quern, program };

class installed_source {
public:
    installed_source(std::unique_ptr<source> what, source_origin from);

    const std::vector<counter_info>& counters() const noexcept { return m_counters; }
    bool has_workers() const noexcept { return m_has_workers; }
    bool is_of_program() const noexcept { return m_origin == source_origin::program; }

    /// Absent all of them when the source has been removed, or has thrown.
    std::vector<std::vector<raw_reading>> read_all(std::span<const place> places);

    void close() noexcept;

private:
    std::vector<std::vector<raw_reading>> absent(std::size_t places, const std::string& why) const;

    const std::vector<counter_info> m_counters;
    const bool m_has_workers;
    const source_origin m_origin;
    door m_door;
    std::unique_ptr<source> m_what;
};

class printer;
class sampler;

/// A runtime, as long as it lives and afterwards.
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

    door open;                          ///< who is inside keeps the runtime from ending
    std::unique_ptr<printer> printing;  ///< touched by the thread that starts or ends it alone

private:
    const runtime* m_which;
    const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
    const unsigned m_generation = quern::detail::fork_generation();
    std::vector<pool_of> m_pools;
};

/// A place by number, valid also when the runtime has ended.
struct location {
    int pool = -1;
    int worker = -1;
    friend bool operator==(const location&, const location&) = default;
};

/// A counter of a certain place.
struct found_counter {
    std::shared_ptr<installed_source> from;
    std::size_t index = 0;
    location where;
    std::string name;
    const counter_info& info() const { return from->counters()[index]; }
};

std::vector<std::shared_ptr<installed_source>> all_sources();
/// As install() does.
installation install_from(source_origin origin, std::unique_ptr<source> what);
/// The sources that Quern itself brings.
std::vector<std::unique_ptr<source>> built_in_sources();

std::shared_ptr<living_runtime> add_living(const runtime& which);
/// When it returns nobody reads it any more, and nobody will.
void remove_living(living_runtime& ended) noexcept;
/// Null for one that is not known.
std::shared_ptr<living_runtime> find_living(const runtime& which) noexcept;
std::vector<std::shared_ptr<living_runtime>> all_living();
/// Throws std::logic_error for one that has ended.
std::shared_ptr<living_runtime> living(const runtime& which);
/// That of the calling task, the only one, or the default one; throws std::logic_error as
/// discover() does.
std::shared_ptr<living_runtime> runtime_meant();

/// The one of the process, made when there is none that is used.
std::shared_ptr<sampler> sampler_of_process();

/// Whether the process has not written that file before.
bool is_first_use(const std::string& path);

/// Counters that match a name that is not derived. Throws std::invalid_argument where there is
/// none.
std::vector<found_counter> find(std::string_view pattern, const living_runtime& of);

/// Throws std::invalid_argument for what no runtime could give, before there is one.
void check_pattern(std::string_view pattern);

/// Names without a source of their own: made of other counters.
bool is_derived(const counter_name& name) noexcept;

/// Throws std::invalid_argument: no such name, and the nearest one.
[[noreturn]] void refuse_unknown(std::string_view text, const std::string& plain);

}  // namespace quern::counters::detail
