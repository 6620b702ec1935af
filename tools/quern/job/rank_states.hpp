// SPDX-License-Identifier: BSL-1.0
// Collects what the ranks of a job publish when they can do nothing by themselves, and reports on
// stderr when the job hangs, once for each time. Part of `quern run -n`.
#pragma once

#include "job/hang.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace quern::tool {

class rank_states {
public:
    /// Makes the socket in the folder of the job. Throws std::system_error.
    rank_states(unsigned ranks, std::string folder);
    ~rank_states();
    rank_states(const rank_states&) = delete;
    rank_states& operator=(const rank_states&) = delete;

    /// Readable when a rank has something to tell: then call read().
    int descriptor() const noexcept { return m_receiver; }

    /// Reports, unless the job ends and no report is wanted any more.
    void read(bool is_wanted);

    /// The first rank that has called MPI_Abort, and the code that it has given.
    struct abortion {
        int rank;
        int code;
    };
    const std::optional<abortion>& first_abortion() const noexcept { return m_abortion; }

    /// Whether a rank that has ended had finalised MPI; null: it has not told, as programs without
    /// Quern's layer.
    std::optional<bool> has_finalised(int rank) const;

private:
    using versions = std::map<int, std::uint64_t>;

    bool take_bells();
    void judge();
    void ask();
    std::vector<rank_state> all_states() const;

    const unsigned m_count;
    const std::string m_folder;
    int m_receiver;
    std::optional<abortion> m_abortion{};
    versions m_still{};       ///< the ranks that can do nothing by themselves
    versions m_judged{};      ///< the last ones of which all ranks were still
    bool m_is_asked = false;  ///< these seem to hang, and their ranks have been asked for words
    int m_questions = 0;
    std::set<int> m_told{};      ///< ranks that have answered
    std::size_t m_expected = 0;  ///< answers: of all ranks but those that have finalised MPI
};

}  // namespace quern::tool
