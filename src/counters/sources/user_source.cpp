// SPDX-License-Identifier: BSL-1.0
// A counter of the program: a function that returns a number.
#include <quern/counters/registry.hpp>

#include "system/reading.hpp"

#include <stdexcept>
#include <utility>

namespace quern::counters {

namespace {

using detail::reading_of;

class user_source final : public source {
public:
    user_source(counter_info info, std::function<double()> read)
        : m_infos{std::move(info)}, m_read(std::move(read)) {}

    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const place&) override { return {reading_of(m_read())}; }

private:
    const std::vector<counter_info> m_infos;
    const std::function<double()> m_read;
};

}  // namespace

installation install(std::string_view name, std::function<double()> read, user_counter about) {
    const std::string text(name);
    if (read == nullptr) {
        throw std::invalid_argument("quern: counter '" + text + "' has no function");
    }
    if (about.kind == counter_kind::ratio) {
        throw std::invalid_argument("quern: counter '" + text +
                                    "': a function gives a sum or a level; for a ratio install a "
                                    "source, or use /arithmetics/divide");
    }
    return install(std::make_unique<user_source>(
        counter_info{text, about.kind, std::move(about.unit), std::move(about.help)},
        std::move(read)));
}

}  // namespace quern::counters
