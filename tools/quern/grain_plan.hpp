// SPDX-License-Identifier: BSL-1.0
// What `quern grain` is going to run: the program with a place in its arguments for the grain, the
// grains, the numbers of workers. Built from the command line, where every mistake ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::tool {

using grain_size = std::uint64_t;

/// A program and its arguments, of which at least one contains {name}.
class command_template {
public:
    /// Throws usage_error when there is no program, no {name}, or two different ones.
    explicit command_template(std::vector<std::string> words);

    /// The program and its arguments, with the size in place of {name}.
    std::vector<std::string> with(grain_size size) const;

    const std::string& name() const { return m_name; }
    std::string text() const;  ///< as the user has written it

private:
    std::vector<std::string> m_words;
    std::string m_name;
};

/// The sizes from `least` to `most`, both included, and between them `per_decade` well-known
/// numbers in every power of ten: 1 2 5 for three. Throws usage_error for least > most.
std::vector<grain_size> series_of_grains(grain_size least, grain_size most, unsigned per_decade);

/// One whole number, also as 1e6; throws usage_error that names the option.
grain_size parse_grain(std::string_view option, std::string_view text);

/// "1000,1e4"; sorted, each once.
std::vector<grain_size> parse_grains(std::string_view option, std::string_view text);

/// "1,2,all"; sorted, each once. `all` is what the word stands for.
std::vector<unsigned> parse_workers(std::string_view option, std::string_view text, unsigned all);

}  // namespace quern::tool
