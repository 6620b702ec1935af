// SPDX-License-Identifier: BSL-1.0
// The raw readings of a set of counters: each source is read once for all of its places, and each
// reading is compared with the set's own baseline.
#pragma once

#include "core/tables.hpp"

#include <quern/counters/counter.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace quern::counters::detail {

class readings {
public:
    explicit readings(std::shared_ptr<living_runtime> of, baseline from)
        : m_of(std::move(of)), m_from(from) {}

    /// The position of a counter in the readings.
    struct position {
        std::size_t column = 0;
        std::size_t row = 0;
        std::size_t index = 0;
    };

    position add(const found_counter& one);

    /// Reads the baseline of counters added since the last call.
    void begin_added();

    void read();
    /// The last reading becomes the baseline.
    void rebase();

    /// From the last reading. The caller sets name, unit and kind.
    counter_value value(const position& at);

    /// Whether a source is installed by the program.
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
