// SPDX-License-Identifier: BSL-1.0
// Reads settings from a TOML file: one `name = value` a line, with the names of the table. Only
// this file includes the parser, toml++. Messages name the line if the parser does.
#include "parts.hpp"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace quern::detail {

namespace {

std::string content_of(const settings& all) {
    struct closer {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };
    const std::unique_ptr<std::FILE, closer> file(std::fopen(all.at("config").text.c_str(), "re"));
    std::string content;
    std::array<char, 4096> piece{};
    while (file != nullptr) {
        const std::size_t count = std::fread(piece.data(), 1, piece.size(), file.get());
        content.append(piece.data(), count);
        if (count < piece.size()) {
            break;
        }
    }
    if (file == nullptr || std::ferror(file.get()) != 0) {
        all.refuse("config", std::string("cannot be read: ") + std::strerror(errno));
    }
    return content;
}

/// The text of a value as in the other sources; throws for a value of another type.
std::string text_of(const toml::node& value, const std::string& key, const std::string& origin) {
    if (const auto* const text = value.as_string()) {
        return text->get();
    }
    if (const auto* const number = value.as_integer()) {
        return std::to_string(number->get());
    }
    std::ostringstream kind;
    kind << value.type();
    throw_bad_setting(key + " is of type " + kind.str() + " (" + origin +
                      "); accepted: a whole number or a string");
}

void read_entry(settings& into, const toml::key& key, const toml::node& value,
                const std::string& path) {
    std::vector<std::string_view> names = setting_names();
    names.erase(std::find(names.begin(), names.end(), "config"));  // a file must not name another
                                                                   // one
    const std::string name(key.str());
    if (is_for_absent_layer(name)) {
        return;
    }
    const std::string origin = "file " + path + ":" + std::to_string(key.source().begin.line);
    if (name == "config" || !into.has(name)) {
        refuse_unknown("unknown key '" + name + "' (" + origin + ")", name, names, as_key);
    }
    into.set(name, {text_of(value, name, origin), setting_source::file, origin});
}

}  // namespace

void read_settings_file(settings& into) {
    const std::string path = into.at("config").text;
    const toml::parse_result parsed = toml::parse(content_of(into), path);
    if (!parsed) {
        const toml::source_position where = parsed.error().source().begin;
        throw_bad_setting(path + ":" + std::to_string(where.line) + ":" +
                          std::to_string(where.column) + ": " +
                          std::string(parsed.error().description()));
    }
    for (const auto& [key, value] : parsed.table()) {
        read_entry(into, key, value, path);
    }
}

}  // namespace quern::detail
