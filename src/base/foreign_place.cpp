// SPDX-License-Identifier: BSL-1.0
// The table of places in other languages. A token is an address in it, so a range tells tokens from
// code addresses without a lock.
#include <quern/base/detail/foreign_place.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace quern::detail {

namespace {

constinit foreign_place g_places[foreign_place::k_most];

/// Lives as long as the process, also while static objects are destroyed.
struct index {
    std::mutex lock;
    std::unordered_map<std::string, const foreign_place*> by_text;

    static index& of_process() {
        static auto* const one = new index;
        return *one;
    }
};

const char* copy_for_ever(std::string_view text) {
    auto* const copy = new char[text.size() + 1];
    text.copy(copy, text.size());
    copy[text.size()] = '\0';
    return copy;
}

std::string text_of(std::string_view language, std::string_view function, std::string_view file,
                    int line) {
    std::string text(function);
    if (!language.empty()) {
        text += (text.empty() ? "(" : " (") + std::string(language) + ")";
    }
    if (!file.empty()) {
        text += " at " + std::string(file) + (line > 0 ? ":" + std::to_string(line) : "");
    }
    return text;
}

}  // namespace

const foreign_place& foreign_place::with(std::string_view language, std::string_view function,
                                         std::string_view file, int line) {
    std::string text = text_of(language, function, file, line);
    index& known = index::of_process();
    const std::scoped_lock guard(known.lock);
    const auto found = known.by_text.find(text);
    if (found != known.by_text.end()) {
        return *found->second;
    }
    const std::size_t count = known.by_text.size();
    foreign_place& place = g_places[count < k_most - 1 ? count : k_most - 1];
    if (count >= k_most - 1) {
        place.text = "(further places of other languages)";
        place.language = place.function = place.file = "";
        return place;
    }
    place = {copy_for_ever(text), copy_for_ever(language), copy_for_ever(function),
             copy_for_ever(file), line};
    known.by_text.emplace(std::move(text), &place);
    return place;
}

const foreign_place* foreign_place::from(const void* address) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto begin = reinterpret_cast<std::uintptr_t>(&g_places[0]);
    if (at < begin || at >= begin + sizeof g_places || (at - begin) % sizeof(foreign_place) != 0) {
        return nullptr;
    }
    const auto* const place = static_cast<const foreign_place*>(address);
    return place->text != nullptr ? place : nullptr;
}

}  // namespace quern::detail
