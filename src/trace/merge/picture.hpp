// SPDX-License-Identifier: BSL-1.0
// What a picture of a merged trace shows: how busy each worker was with which kind of task, in a
// number of equal stretches of time, and the arrows of messages. Private to the layer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quern::trace::detail {

struct picture_lane {
    std::uint64_t process = 0;  ///< the track
    std::string name{};
    /// Of each stretch: time by kind of task.
    std::vector<std::vector<std::pair<std::uint32_t, double>>> busy{};
};

struct picture_arrow {
    std::uint64_t from_lane = 0;
    std::uint64_t to_lane = 0;  ///< 0: not seen
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 0;
};

struct picture {
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = 0;
    std::map<std::uint64_t, std::string> processes{};  ///< by their tracks: in order of ranks
    std::map<std::uint64_t, picture_lane>
        lanes{};                       ///< of workers, and of messages outside; by track
    std::vector<std::string> kinds{};  ///< of tasks
    std::vector<double> time_of_kind{};
    std::vector<picture_arrow> arrows{};  ///< those that begin in the time shown, in its order
};

inline constexpr std::size_t k_picture_columns = 1000;

/// Reads a merged trace. Throws std::runtime_error as packet_reader does.
picture read_picture(const std::string& merged, std::uint64_t from_ns, std::uint64_t to_ns);

}  // namespace quern::trace::detail
