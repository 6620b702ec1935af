// SPDX-License-Identifier: BSL-1.0
// The forms in which `quern grain` gives its findings. All show the same study; the table and the
// page leave single runs out, CSV has nothing else.
#pragma once

#include "grain_study.hpp"

#include <string>

namespace quern::tool {

std::string grain_as_text(const study& of);
std::string grain_as_csv(const study& of);   ///< a line per run
std::string grain_as_json(const study& of);  ///< runs, medians, correlations, choices
std::string grain_as_html(const study& of);  ///< one page that needs nothing else

/// "1.84 s", "6.99 µs", "95.3 %", "500000"; "-" for NaN.
std::string shown(double value, quantity as);

/// The same without the unit, for columns that have it above.
std::string shown_bare(double value, quantity as);

/// From seconds or a ratio to the unit in which it is shown.
double in_unit(double value, quantity as);

/// A sentence on how far runs of the same kind are apart; empty for one run of each.
std::string noise_as_words(const study& of);

/// "2 workers"
std::string count_of_workers(unsigned workers);

}  // namespace quern::tool
