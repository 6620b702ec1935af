// SPDX-License-Identifier: BSL-1.0
// What the files of the settings know of one another: how a name is spelt by each source, the
// message for one that does not exist, and the reader of files.
#pragma once

#include <quern/scheduler/settings.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace quern::detail {

/// Throws bad_setting("quern: <what>"). It is the only place that does.
[[noreturn]] void throw_bad_setting(const std::string& what);

using spelling = std::string (*)(std::string_view name);

std::string as_option(std::string_view name);    ///< --quern:spin_us
std::string as_variable(std::string_view name);  ///< QUERN_SPIN_US
std::string as_key(std::string_view name);       ///< spin_us

/// The names in the table, in its order.
std::vector<std::string_view> setting_names();

/// Throws "quern: <what>; accepted: <names as spelt>; did you mean '…'?". The nearest match is
/// looked for among the bare names, so that a common prefix makes nothing look near.
[[noreturn]] void refuse_unknown(const std::string& what, std::string_view bare,
                                 const std::vector<std::string_view>& names, spelling spell);

/// The values that the TOML file gives which the setting config names. Throws std::invalid_argument
/// with file and line, and the column of what is not TOML; also when the file cannot be read.
void read_settings_file(settings& into);

}  // namespace quern::detail
