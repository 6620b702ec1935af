// SPDX-License-Identifier: BSL-1.0
// The options of the applications whose tasks work on blocks of their data: how much there is, the
// side of a block, how often it is measured. Must not contain anything of one application.
#pragma once

#include "cli.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace apps {

/// Names and limits of the options.
struct block_words {
    std::string option = "--block";
    std::int64_t most = 100'000;  ///< of both numbers
    const char* n = "rows and columns";
    const char* side = "rows and columns of a block, at most n";
};

struct block_sizes {
    std::size_t n = 1;     ///< before parsing the default, here and below
    std::size_t side = 1;  ///< of a block; after parse() at most n
    int repeat = 5;
    block_words words{};
    std::optional<cli::option> has_side{};

    void add_to(cli::command& app) {
        add_count(app, "--n", n, 1, words.most, words.n);
        has_side = add_count(app, words.option, side, 1, words.most, words.side);
        add_count(app, "--repeat", repeat, 1, 10'000, "measured runs of each variant");
    }

    /// Adds the runtime's options, and parses. False: only help was requested. Throws usage_error,
    /// also for a block that the user wants to be larger than n.
    bool parse(cli::command_line& app, const char* examples, int argc, char** argv) {
        add_runtime_options(app);
        app.footer(examples);
        if (!apps::parse(app, argc, argv)) {
            return false;
        }
        require_at_most(*has_side, words.option, side, "--n", n);
        side = std::min(side, n);
        return true;
    }

    std::size_t blocks() const { return (n + side - 1) / side; }
};

}  // namespace apps
