// SPDX-License-Identifier: BSL-1.0
// Symbolises code addresses, which code_places.hpp resolves. Must work in a signal handler:
// allocates only to demangle names.
#include <quern/base/detail/symbols.hpp>

#include <quern/base/detail/config.hpp>
#include <quern/base/detail/foreign_place.hpp>
#include <quern/base/detail/spin_lock.hpp>

#include "code_places.hpp"
#include "spelling.hpp"
#include "whose_code.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <sched.h>
#include <atomic>
#include <cstdlib>
#include <string_view>

namespace quern::detail {

namespace {

using add_function = void (*)(fixed_text& text, std::string_view name) noexcept;

void add_name(fixed_text& text, const char* name, spelling_of_names how,
              add_function add = add_readable) noexcept {
    char* const readable = how == spelling_of_names::demangled
                               ? abi::__cxa_demangle(name, nullptr, nullptr, nullptr)
                               : nullptr;
    add(text, readable != nullptr ? readable : name);
    std::free(readable);
}

/// Ignores inlining; null: unknown. The dynamic linker knows at least the exported functions.
const char* name_of_function(const void* address) noexcept {
    if (const char* const name = linked_name(address)) {
        return name;
    }
    Dl_info about{};
    return ::dladdr(address, &about) != 0 ? about.dli_sname : nullptr;
}

/// libbacktrace is thread safe, but TSan cannot see its synchronisation and reports false races.
/// After a long wait the caller proceeds without the lock: the owner may have crashed in here while
/// the caller reports that crash, or it did not survive a fork().
class one_at_a_time {
public:
    one_at_a_time() noexcept {
        // A few ms, since a lookup takes about one. The first lookup reads the debug information,
        // which takes long under a sanitizer; only there it matters to wait for it.
        constexpr int k_attempts = k_tsan ? 10'000'000 : 1000;
        for (int i = 0; i < k_attempts && !m_holds; ++i) {
            m_holds = s_lock.try_lock();
            if (!m_holds) {
                ::sched_yield();
            }
        }
    }
    one_at_a_time(const one_at_a_time&) = delete;
    one_at_a_time& operator=(const one_at_a_time&) = delete;
    ~one_at_a_time() {
        if (m_holds) {
            s_lock.unlock();
        }
    }

private:
    static constinit spin_lock s_lock;
    bool m_holds = false;
};

constinit spin_lock one_at_a_time::s_lock;

/// Code of the program, and not what calls main() and tasks.
bool is_own(const code_place& place) noexcept {
    return !is_library(place) && (place.function == nullptr || !is_beginning(place.function));
}

/// Whether any address was asked for, and whether one had a line of the program's source.
constinit std::atomic<bool> g_was_asked{false};
constinit std::atomic<bool> g_has_lines{false};

}  // namespace

void add_linked(fixed_text& text, const void* address, spelling_of_names how) noexcept {
    Dl_info about{};
    if (const char* const name = name_of_function(address)) {
        add_name(text, name, how);
    } else {
        text.add_address(address);
    }
    if (::dladdr(address, &about) != 0 && about.dli_fname != nullptr) {
        text.add(" in ").add(about.dli_fname);
    }
}

std::string_view why_no_lines() noexcept {
    const bool is_missing =
        g_was_asked.load(std::memory_order_relaxed) && !g_has_lines.load(std::memory_order_relaxed);
    return is_missing ? reason_without_lines() : "";
}

/// The outermost function is not inlined, so the linker knows it by its full name. Debug
/// information has only the last part of the name of a function with internal linkage.
void visit_places(const void* address, place_visitor visit, void* data) noexcept {
    struct look_ahead {
        place_visitor visit;
        void* data;
        code_place held{};  // passed on when it is known whether it is the outermost
        bool has_held = false;
        bool wants_more = true;
        bool has_lines = false;  // of the program, or of the system
    } ahead{visit, data};
    const auto pass_inlined = [](void* p, const code_place& place) {
        auto& self = *static_cast<look_ahead*>(p);
        self.has_lines = self.has_lines || (place.file != nullptr && is_own(place));
        if (self.has_held) {
            self.held.is_inlined = true;
            self.wants_more = self.visit(self.data, self.held);
        }
        self.held = place;
        self.has_held = true;
        return self.wants_more;
    };
    g_was_asked.store(true, std::memory_order_relaxed);
    {
        const one_at_a_time reader;
        visit_lines(address, pass_inlined, &ahead);
    }
    if (ahead.has_lines && !is_in_system_library(address)) {
        g_has_lines.store(true, std::memory_order_relaxed);
    }
    if (ahead.wants_more) {
        const char* const name = name_of_function(address);
        ahead.held.function = name != nullptr ? name : ahead.held.function;
        if (ahead.held.function != nullptr) {
            visit(data, ahead.held);
        }
    }
}

namespace {

void add_file(fixed_text& text, const code_place& place) noexcept {
    if (place.file != nullptr) {
        add_path(text.add(" at "), place.file);
        text.add(":").add(static_cast<std::uint64_t>(place.line));
    }
}

}  // namespace

void add_place(fixed_text& text, const code_place& place, spelling_of_names how) noexcept {
    if (place.function != nullptr) {
        add_name(text, place.function, how,
                 is_library(place) ? add_without_arguments : add_readable);
    } else {
        text.add("?");
    }
    add_file(text, place);
}

namespace {

bool is_inlined_lambda(const code_place& place) noexcept {
    return place.is_inlined && place.function != nullptr &&
           std::string_view(place.function) == "operator()";
}

/// Debug information calls an inlined lambda "operator()"; only the outermost place names the
/// enclosing function.
void add_own(fixed_text& text, const code_place& place, const char* outermost,
             spelling_of_names how) noexcept {
    if (is_inlined_lambda(place) && outermost != nullptr) {
        add_name(text, outermost, how, add_inlined_lambda);
        add_file(text, place);
    } else {
        add_place(text, place, how);
    }
}

/// What the program gave to one of Quern's templates, which is all that is known of it without
/// debug information: "solve(int)'s lambda". False: the name has no lambda of the program.
bool add_given(fixed_text& text, const char* name) noexcept {
    char* const readable =
        name != nullptr ? abi::__cxa_demangle(name, nullptr, nullptr, nullptr) : nullptr;
    fixed_text given;
    if (readable != nullptr &&
        std::string_view(readable).find("{lambda(") != std::string_view::npos) {
        add_inlined_lambda(given, readable);
    }
    std::free(readable);
    const bool is_program = given.view().find("'s lambda") != std::string_view::npos &&
                            !given.view().starts_with("quern::");
    text.add(is_program ? given.view() : std::string_view());
    return is_program;
}

/// "libheat.so+0x1f40".
void add_offset(fixed_text& text, const void* address) noexcept {
    Dl_info about{};
    if (::dladdr(address, &about) == 0 || about.dli_fname == nullptr) {
        text.add_address(address);
        return;
    }
    const std::string_view path = about.dli_fname;
    const auto offset = static_cast<const char*>(address) - static_cast<char*>(about.dli_fbase);
    text.add(path.substr(path.rfind('/') + 1)).add("+");
    text.add_address(reinterpret_cast<const void*>(offset));
}

/// An address with no known function of the program. The name of one of Quern's says nothing to its
/// users.
void add_unknown(fixed_text& text, const void* address, spelling_of_names how) noexcept {
    const char* const name = name_of_function(address);
    if (name == nullptr || is_own({.function = name}) || how == spelling_of_names::as_linked) {
        add_linked(text, address, how);
    } else if (!add_given(text, name)) {
        add_offset(text, address);
    }
}

}  // namespace

void add_site(fixed_text& text, const void* address, spelling_of_names how) noexcept {
    if (const foreign_place* const place = foreign_place::from(address)) {
        text.add(place->text);
        return;
    }
    code_place own;
    bool found = false;
    const char* outermost = nullptr;
    visit_places(address, [&](const code_place& place) {
        if (!found && is_own(place)) {
            own = place;
            found = true;
        }
        outermost = place.function;
        return !found || is_inlined_lambda(own);
    });
    if (!found) {
        add_unknown(text, address, how);
    } else {
        add_own(text, own, outermost, how);
    }
}

std::string describe_site(const void* address) {
    fixed_text text;
    add_site(text, address);
    return std::string(text.view());
}

std::string describe_offset(const void* address) {
    fixed_text text;
    add_offset(text, address);
    return std::string(text.view());
}

std::string describe_caller(const call_chain& of) {
    for (const void* const address : of.calls) {
        if (address == nullptr || is_in_system_library(address)) {
            continue;
        }
        bool is_found = false;
        bool has_lines = false;
        visit_places(address, [&](const code_place& place) {
            is_found = is_own(place);
            has_lines = has_lines || place.file != nullptr;
            return !is_found;
        });
        if (is_found) {
            return describe_site(address);
        }
        fixed_text text;
        if (!has_lines && add_given(text, name_of_function(address))) {
            return std::string(text.view());
        }
    }
    return "";
}

std::vector<std::string> describe_call(const void* address) {
    if (is_in_system_library(address)) {
        return {};
    }
    std::vector<code_place> own;
    const char* outermost = nullptr;
    bool has_lines = false;
    visit_places(address, [&](const code_place& place) {
        if (place.function != nullptr && is_own(place)) {
            own.push_back(place);
        }
        outermost = place.function;
        has_lines = has_lines || place.file != nullptr;
        return true;
    });
    std::vector<std::string> all;
    for (const code_place& place : own) {
        fixed_text text;
        add_own(text, place, outermost, spelling_of_names::demangled);
        all.emplace_back(text.view());
    }
    fixed_text text;
    if (own.empty() && !has_lines && add_given(text, outermost)) {
        all.emplace_back(text.view());
    }
    return all;
}

void add_entry(fixed_text& text, const void* function, spelling_of_names how) noexcept {
    if (const char* const name = name_of_function(function)) {
        add_name(text, name, how, [](fixed_text& to, std::string_view whole) noexcept {
            add_readable(to, first_template_argument(whole));
        });
    } else {
        add_linked(text, function, how);
    }
}

std::string describe_entry(const void* function) {
    fixed_text text;
    add_entry(text, function);
    return std::string(text.view());
}

void prepare_symbols() noexcept {
    open_places();
    static_cast<void>(call_stack::here());  // the unwinder initialises itself on first use
}

}  // namespace quern::detail
