// SPDX-License-Identifier: BSL-1.0
// The versions of renamed objects. One of each counter for the process: an object belongs to its
// owner, which may be a thread outside.
#include "sources/built_in.hpp"
#include "system/reading.hpp"

#include <quern/dependences/detail/renamed_core.hpp>

namespace quern::counters::detail {

namespace {

class renaming final : public source {
public:
    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }

    std::vector<raw_reading> read(const place&) override {
        const quern::detail::renaming_totals now = quern::detail::read_renaming();
        const auto of = [](std::uint64_t value) { return reading_of(static_cast<double>(value)); };
        return {of(now.bytes), of(now.most_bytes), of(now.versions), of(now.copies_back)};
    }

private:
    const std::vector<counter_info> m_infos = {
        {"/dependences/renamed-bytes", counter_kind::level, "B",
         "memory of the versions of renamed objects, beside the users' objects"},
        {"/dependences/renamed-bytes-peak", counter_kind::level, "B",
         "most that /dependences/renamed-bytes has been since the process began; never above the "
         "setting renaming-bytes"},
        {"/dependences/renamings", counter_kind::sum, "",
         "writes of renamed objects that got a version of their own in the place of a wait"},
        {"/dependences/copies-back", counter_kind::sum, "",
         "last versions of renamed objects that were copied to the users' objects"}};
};

}  // namespace

std::unique_ptr<source> renaming_source() { return std::make_unique<renaming>(); }

}  // namespace quern::counters::detail
