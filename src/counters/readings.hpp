// SPDX-License-Identifier: BSL-1.0
// The raw readings behind a set of counters: each source is read once for all of its places, and
// each reading is compared with the set's own baseline.
#pragma once

#include "tables.hpp"

#include <quern/counters/counter.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace quern::counters::detail {

class readings {
public:
    explicit readings(std::shared_ptr<living_runtime> of, baseline from)
        : m_of(std::move(of)), m_from(from) {}

    /// Where a counter stands in what is read.
    struct position {
        std::size_t column = 0;
        std::size_t row = 0;
        std::size_t index = 0;
    };

    position add(const found_counter& one);

    /// Reads the baseline of what has been added since the last call.
    void begin_added();

    void read();
    /// What was read last is the baseline from now on.
    void rebase();

    /// From the last reading. Name, unit and kind are the caller's to fill in.
    counter_value value(const position& at);

    /// Whether a source is the program's own.
    bool calls_program() const noexcept;

    const living_runtime& of() const noexcept { return *m_of; }

private:
    using rows = std::vector<std::vector<raw_reading>>;

    /// A source and the places at which it is read.
    struct column {
        std::shared_ptr<installed_source> from;
        std::vector<location> where;
        rows base;
        rows now;
    };

    std::vector<place> places_of(const column& one, std::size_t first) const;
    rows read_places(const column& one, std::size_t first) const;

    std::shared_ptr<living_runtime> m_of;
    baseline m_from;
    std::vector<column> m_columns;
};

}  // namespace quern::counters::detail
