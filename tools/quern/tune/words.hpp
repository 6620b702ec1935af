// SPDX-License-Identifier: BSL-1.0
// What the user of `quern tune` writes: parameters ("x=1:1000@64") and the words of the program
// with their places ("--size {x}"). Throws usage_error for every mistake.
#pragma once

#include "child/run_child.hpp"

#include <quern/adaptation/space.hpp>

#include <string>
#include <vector>

namespace quern::tool {

/// The values of the options that declare parameters, by kind.
struct parameter_words {
    std::vector<std::string> integer{};
    std::vector<std::string> size{};
    std::vector<std::string> power_of_two{};
    std::vector<std::string> real{};
    std::vector<std::string> choice{};
};

std::vector<adaptation::parameter> parameters_of(const parameter_words& words);

/// The program: variables "NAME=value" first, if any, then the command. Checks that each parameter
/// has a place and each place a parameter.
program_words program_of(const std::vector<std::string>& words,
                         const std::vector<adaptation::parameter>& parameters);

/// With values in the places.
program_words filled(const program_words& program,
                     const std::vector<adaptation::parameter>& parameters,
                     const adaptation::point& where);

/// For a shell: words with blanks and the like in quotes.
std::string shell_text(const program_words& program);

/// A number above 0. `option` is for the message.
double positive_number(const std::string& option, const std::string& text);

}  // namespace quern::tool
