// SPDX-License-Identifier: BSL-1.0
// Sources that each read one small text file: its path, and the position of each counter in it.
// Private to the layer. The file is opened at each reading, so no state is kept. Malformed content
// must be handled.
#pragma once

#include <quern/counters/source.hpp>
#include <quern/topology/system_root.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace quern::counters::detail {

/// Finds a number in a file's text, or gives the reason why it is missing.
using finder = std::function<topology::outcome<double>(std::string_view text)>;

/// The word at this index, from 0, of the first line.
finder word_at(std::size_t index);
/// The word after `key` in the line that begins with `key`: "rchar: 6976".
finder after(std::string key);
/// The number after `key` in the line that begins with `line`: "some avg10=0.00 total=5".
finder in_line(std::string line, std::string key);

struct file_counter {
    counter_info info;
    finder find;
    double factor = 1.0;  ///< from the file's unit to the counter's
    finder below{};       ///< divisor of a ratio
};

class file_source final : public source {
public:
    file_source(topology::system_root root, std::string path, std::vector<file_counter> found);

    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }
    std::vector<raw_reading> read(const place& where) override;

private:
    raw_reading read_one(const file_counter& one, std::string_view text) const;

    topology::system_root m_root;
    std::string m_path;
    std::vector<file_counter> m_counters;
    std::vector<counter_info> m_infos;
};

using source_list = std::vector<std::unique_ptr<source>>;

/// /runtime/memory, /runtime/io and /os/{page-faults,context-switches,cpu-time}.
void add_process_sources(source_list& all, const topology::system_root& root);
/// /os/steal-time, /os/total-time, /os/steal-rate, /os/pressure.
void add_machine_sources(source_list& all, const topology::system_root& root);
/// /os/throttled, /os/memory-limit.
void add_group_sources(source_list& all, const topology::system_root& root);
/// /os/schedule/{run-time,wait-time,slices}.
void add_schedule_source(source_list& all, const topology::system_root& root);

}  // namespace quern::counters::detail
