// SPDX-License-Identifier: BSL-1.0
// Puts the page together: the frame with style, script and data in their places. The verdict stands
// in the frame itself, so that it can be read without scripts.
#include <quern/trace/page.hpp>

#include "analyse/words.hpp"
#include "page/data.hpp"
#include "page/page_parts.hpp"

#include <ostream>
#include <string_view>
#include <utility>

namespace quern::trace {

namespace {

/// Of the data; the frame, style and script come on top, about 50 kB.
constexpr std::size_t k_characters = 9'600'000;

/// Text between tags.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : detail::clean_text(text, 10'000)) {
        switch (c) {
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '&':
                out += "&amp;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out.push_back(static_cast<unsigned char>(c) < ' ' ? ' ' : c);
        }
    }
    return out;
}

}  // namespace

void write_page(const recording& run, std::ostream& out, const calibration& one_core) {
    const efficiency what = efficiency_of(run, one_core);
    const std::string title = escaped(run.program.empty() ? "a run" : run.program);
    const std::string headline = escaped(what.headline);
    const std::string remedy = escaped(what.remedy);
    const std::string warning = escaped(what.warning);
    const std::string note = escaped(what.note);
    const std::string data = detail::page_data(run, what, one_core, k_characters);
    const std::pair<std::string_view, std::string_view> places[] = {
        {"{{title}}", title},
        {"{{headline}}", headline},
        {"{{remedy}}", remedy},
        {"{{warning}}", warning},
        {"{{note}}", note},
        {"{{style}}", detail::k_page_style},
        {"{{script}}", detail::k_page_script},
        {"{{data}}", data},
    };
    std::string_view rest = detail::k_page_frame;
    for (std::size_t at = rest.find("{{"); at != std::string_view::npos; at = rest.find("{{")) {
        out << rest.substr(0, at);
        rest.remove_prefix(at);
        const std::string_view place = rest.substr(0, rest.find("}}") + 2);
        for (const auto& [name, text] : places) {
            out << (name == place ? text : std::string_view());
        }
        rest.remove_prefix(place.size());
    }
    out << rest;
}

}  // namespace quern::trace
