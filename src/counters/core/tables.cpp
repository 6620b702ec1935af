// SPDX-License-Identifier: BSL-1.0
// The sources and the runtimes of the process: adding, finding and removing them. The lock of the
// process protects only the lists; nothing is read and no code of users runs under it.
#include "core/tables.hpp"

#include <quern/counters/detail/built_in.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <iterator>
#include <mutex>
#include <set>
#include <stdexcept>
#include <utility>

namespace quern::counters::detail {

namespace {

struct tables {
    bool has_built_in = false;
    std::vector<std::shared_ptr<installed_source>> sources;
    std::vector<std::shared_ptr<living_runtime>> living;
    std::set<std::string> written;  ///< files
};

constinit tables* g_tables = nullptr;

std::mutex& lock() noexcept { return lock_of(quern::detail::process_lock::counters); }

/// Requires: the lock is held.
tables& of_process() {
    if (g_tables == nullptr) {
        g_tables = new tables;
    }
    return *g_tables;
}

[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget_tables() {
    const std::scoped_lock guard(lock());
    delete std::exchange(g_tables, nullptr);
}

/// Of the layers above. Written in order.
constinit std::array<std::atomic<make_source>, 8> g_added{};

void check_new_name(const std::string& name) {
    const counter_name parts = parse_name(name);
    if (has_wildcards(name) || !parts.instance.empty() || !parts.parameters.empty() ||
        is_derived(parts)) {
        throw std::invalid_argument("quern: a counter cannot be installed as '" + name +
                                    "'; accepted: /object/name, without instance, wildcards and "
                                    "parameters, and not /arithmetics or /statistics");
    }
}

/// The built-in ones come first; making them may read files, so it is done without the lock.
void bring_built_in() {
    {
        const std::scoped_lock guard(lock());
        if (of_process().has_built_in) {
            return;
        }
    }
    std::vector<std::shared_ptr<installed_source>> made;
    for (auto& each : built_in_sources()) {
        made.push_back(std::make_shared<installed_source>(std::move(each), source_origin::quern));
    }
    for (const auto& each : g_added) {
        if (const make_source make = each.load(std::memory_order_relaxed)) {
            made.push_back(std::make_shared<installed_source>(make(), source_origin::quern));
        }
    }
    const std::scoped_lock guard(lock());
    tables& all = of_process();
    if (!std::exchange(all.has_built_in, true)) {
        all.sources.insert(all.sources.begin(), made.begin(), made.end());
    }
}

}  // namespace

void add_built_in(make_source how) noexcept {
    for (auto& each : g_added) {
        make_source known = nullptr;
        // relaxed: a function needs nothing else to be called.
        if (each.compare_exchange_strong(known, how, std::memory_order_relaxed) || known == how) {
            return;
        }
    }
}

bool reader_gate::enter() noexcept {
    // seq_cst: either this is seen by close, or the closing is seen here.
    if ((m_inside.fetch_add(1, std::memory_order_seq_cst) & k_closed) == 0) {
        return true;
    }
    leave();
    return false;
}

void reader_gate::leave() noexcept {
    m_inside.fetch_sub(1, std::memory_order_seq_cst);
    m_inside.notify_all();
}

void reader_gate::close() noexcept {
    std::uint32_t seen = m_inside.fetch_or(k_closed, std::memory_order_seq_cst) | k_closed;
    while (seen != k_closed) {
        m_inside.wait(seen, std::memory_order_seq_cst);
        seen = m_inside.load(std::memory_order_seq_cst);
    }
}

installed_source::installed_source(std::unique_ptr<source> what, source_origin from)
    : m_counters(what->counters()),
      m_has_workers(what->has_workers()),
      m_origin(from),
      m_what(std::move(what)) {}

std::vector<std::vector<raw_reading>> installed_source::absent(std::size_t places,
                                                               const std::string& why) const {
    raw_reading none;
    none.state = source_state::absent;
    none.why = why;
    return {places, std::vector<raw_reading>(m_counters.size(), none)};
}

std::vector<std::vector<raw_reading>> installed_source::read_all(std::span<const place> places) {
    if (!m_gate.enter()) {
        return absent(places.size(), "the counter has been removed");
    }
    std::vector<std::vector<raw_reading>> readings;
    try {
        readings = m_what->read_all(places);
    } catch (const std::exception& error) {
        readings = absent(places.size(), error.what());
    }
    m_gate.leave();
    return readings;
}

void installed_source::close() noexcept {
    m_gate.close();
    m_what.reset();
}

living_runtime::living_runtime(const runtime& which) : m_which(&which) {
    for (const pool_ref& each : which.pools()) {
        m_pools.push_back({std::string(each.name()), each.workers(), each});
    }
}

living_runtime::~living_runtime() = default;

std::vector<std::shared_ptr<installed_source>> all_sources() {
    bring_built_in();
    const std::scoped_lock guard(lock());
    return of_process().sources;
}

std::shared_ptr<living_runtime> add_living(const runtime& which) {
    auto made = std::make_shared<living_runtime>(which);
    const std::scoped_lock guard(lock());
    of_process().living.push_back(made);
    return made;
}

std::shared_ptr<living_runtime> find_living(const runtime& which) noexcept {
    const std::scoped_lock guard(lock());
    for (const auto& each : of_process().living) {
        if (each->which() == &which && !each->inherited()) {
            return each;
        }
    }
    return nullptr;
}

void remove_living(living_runtime& ended) noexcept {
    {
        const std::scoped_lock guard(lock());
        std::erase_if(of_process().living, [&ended](const auto& e) { return e.get() == &ended; });
    }
    ended.open.close();
}

bool is_first_use(const std::string& path) {
    const std::scoped_lock guard(lock());
    return of_process().written.insert(path).second;
}

std::vector<std::shared_ptr<living_runtime>> all_living() {
    std::vector<std::shared_ptr<living_runtime>> result;
    const std::scoped_lock guard(lock());
    const auto& all = of_process().living;
    std::copy_if(all.begin(), all.end(), std::back_inserter(result),
                 [](const auto& each) { return !each->inherited(); });
    return result;
}

installation install_from(source_origin origin, std::unique_ptr<source> what) {
    const std::vector<std::shared_ptr<installed_source>> present = all_sources();
    auto made = std::make_shared<installed_source>(std::move(what), origin);
    for (const counter_info& each : made->counters()) {
        check_new_name(each.name);
    }
    std::set<std::string_view> names;
    const std::scoped_lock guard(lock());
    auto& all = of_process().sources;
    for (const auto& other : all) {
        for (const counter_info& each : other->counters()) {
            names.insert(each.name);
        }
    }
    for (const counter_info& each : made->counters()) {
        if (!names.insert(each.name).second) {
            throw std::invalid_argument("quern: there is a counter '" + each.name + "' already");
        }
    }
    all.push_back(made);
    return installation(std::move(made));
}

}  // namespace quern::counters::detail

namespace quern::counters {

installation install(std::unique_ptr<source> from) {
    return detail::install_from(detail::source_origin::program, std::move(from));
}

void installation::remove() noexcept {
    const std::shared_ptr<detail::installed_source> ended = std::move(m_what);
    m_what.reset();
    if (ended == nullptr) {
        return;
    }
    {
        const std::scoped_lock guard(detail::lock());
        if (detail::g_tables != nullptr) {
            std::erase(detail::g_tables->sources, ended);
        }
    }
    ended->close();
}

installation& installation::operator=(installation&& from) noexcept {
    if (this != &from) {
        remove();
        m_what = std::move(from.m_what);
    }
    return *this;
}

}  // namespace quern::counters
