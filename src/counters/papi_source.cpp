// SPDX-License-Identifier: BSL-1.0
// The names under which HPX's users know hardware events, so that their scripts are told what to
// ask for instead. Quern asks the kernel itself and is never built with PAPI: docs/design/0011.
#include "built_in.hpp"
#include "system_reading.hpp"

#include <array>
#include <string>

namespace quern::counters::detail {

namespace {

struct preset {
    const char* name;
    const char* help;
    const char* instead;  ///< null: nothing
};

constexpr std::array<preset, 10> k_presets{{
    {"PAPI_TOT_CYC", "cycles of cores", "/hw/cycles"},
    {"PAPI_TOT_INS", "instructions that were completed", "/hw/instructions"},
    {"PAPI_BR_INS", "branches that were completed", "/hw/branches"},
    {"PAPI_BR_MSP", "branches that were predicted wrongly", "/hw/branch-misses"},
    {"PAPI_L3_TCA", "accesses to the last level of cache", "/hw/cache-references"},
    {"PAPI_L3_TCM", "misses of the last level of cache", "/hw/cache-misses"},
    {"PAPI_STL_ICY", "cycles without an instruction to start", "/hw/stalled-cycles-frontend"},
    {"PAPI_RES_STL", "cycles in which resources were waited for", "/hw/stalled-cycles-backend"},
    {"PAPI_L2_DCM", "misses of data in the second level of cache", nullptr},
    {"PAPI_DP_OPS", "operations on numbers of double precision", nullptr},
}};

class papi final : public source {
public:
    papi() {
        for (const preset& each : k_presets) {
            m_infos.push_back(
                {std::string("/papi/") + each.name, counter_kind::sum, "", each.help});
        }
    }

    const std::vector<counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return true; }

    std::vector<raw_reading> read(const place&) override {
        std::vector<raw_reading> readings;
        readings.reserve(k_presets.size());
        for (const preset& each : k_presets) {
            readings.push_back(
                no_reading(source_state::absent,
                           std::string("Quern is built without PAPI; ") +
                               (each.instead != nullptr
                                    ? std::string("the kernel counts it as ") + each.instead
                                    : "the kernel has no general name for it")));
        }
        return readings;
    }

private:
    std::vector<counter_info> m_infos;
};

}  // namespace

std::unique_ptr<source> papi_source() { return std::make_unique<papi>(); }

}  // namespace quern::counters::detail
