// SPDX-License-Identifier: BSL-1.0
// Symbolises code addresses and collects the calls of a stack. Addresses are resolved by
// code_places.hpp; the unwinder of the C++ runtime gives the calls. Must work in a signal handler:
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
#include <unistd.h>
#include <unwind.h>
#include <algorithm>
#include <cstdlib>
#include <iterator>
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

/// The description without debug information.
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

/// An address within the call instruction; the next instruction may belong to another line.
const void* call_address(_Unwind_Context* frame) noexcept {
    int is_before_instruction = 0;
    const auto next = _Unwind_GetIPInfo(frame, &is_before_instruction);
    return reinterpret_cast<const void*>(is_before_instruction != 0 || next == 0 ? next : next - 1);
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

}  // namespace

/// The outermost function is not inlined, so the linker knows it by its full name. Debug
/// information has only the last part of the name of a function with internal linkage.
void visit_places(const void* address, place_visitor visit, void* data) noexcept {
    struct look_ahead {
        place_visitor visit;
        void* data;
        code_place held{};  // passed on when it is known whether it is the outermost
        bool has_held = false;
        bool wants_more = true;
    } ahead{visit, data};
    const auto pass_inlined = [](void* p, const code_place& place) {
        auto& self = *static_cast<look_ahead*>(p);
        if (self.has_held) {
            self.held.is_inlined = true;
            self.wants_more = self.visit(self.data, self.held);
        }
        self.held = place;
        self.has_held = true;
        return self.wants_more;
    };
    {
        const one_at_a_time reader;
        visit_lines(address, pass_inlined, &ahead);
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
        if (!found && !is_library(place)) {
            own = place;
            found = true;
        }
        outermost = place.function;
        return !found || is_inlined_lambda(own);
    });
    if (!found) {
        add_linked(text, address, how);
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
    Dl_info about{};
    if (::dladdr(address, &about) == 0 || about.dli_fname == nullptr) {
        text.add_address(address);
        return std::string(text.view());
    }
    const std::string_view path = about.dli_fname;
    const auto offset = static_cast<const char*>(address) - static_cast<char*>(about.dli_fbase);
    text.add(path.substr(path.rfind('/') + 1)).add("+");
    text.add_address(reinterpret_cast<const void*>(offset));
    return std::string(text.view());
}

call_chain call_chain::here(std::size_t skipped) noexcept {
    struct walk {
        call_chain found{};
        std::size_t to_skip;
        std::size_t count = 0;
    } w{.to_skip = skipped + 1};  // this function
    const auto visit = [](_Unwind_Context* frame, void* data) {
        auto& asked = *static_cast<walk*>(data);
        const void* const address = call_address(frame);
        if (address == nullptr || asked.count == k_most) {
            return _URC_END_OF_STACK;
        }
        if (asked.to_skip != 0) {
            --asked.to_skip;
        } else {
            asked.found.calls[asked.count++] = address;
        }
        return _URC_NO_REASON;
    };
    _Unwind_Backtrace(visit, &w);
    return w.found;
}

std::string describe_caller(const call_chain& of) {
    for (const void* const address : of.calls) {
        bool is_own = false;
        if (address != nullptr) {
            visit_places(address, [&](const code_place& place) {
                is_own = !is_library(place);
                return !is_own;
            });
        }
        if (is_own) {
            return describe_site(address);
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
    visit_places(address, [&](const code_place& place) {
        if (place.function != nullptr && !is_library(place) && !is_beginning(place.function)) {
            own.push_back(place);
        }
        outermost = place.function;
        return true;
    });
    std::vector<std::string> all;
    for (const code_place& place : own) {
        fixed_text text;
        add_own(text, place, outermost, spelling_of_names::demangled);
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

call_stack call_stack::here(const void* from) noexcept {
    struct walk {
        call_stack calls{};
        const void* from;
        bool noting;
    } w{.from = from, .noting = from == nullptr};
    const auto visit = [](_Unwind_Context* frame, void* data) {
        auto& asked = *static_cast<walk*>(data);
        const void* const address = call_address(frame);
        if (address == nullptr) {
            return _URC_END_OF_STACK;
        }
        asked.noting = asked.noting || address == asked.from;
        if (asked.noting) {
            asked.calls.note(address);
        }
        return _URC_NO_REASON;
    };
    _Unwind_Backtrace(visit, &w);
    return w.calls;
}

void call_stack::note(const void* address) noexcept {
    if (m_size < k_youngest) {
        m_youngest[m_size] = address;
    }
    m_oldest[m_size % k_oldest] = address;
    ++m_size;
}

bool call_stack::is_in_heap() const noexcept {
    constexpr std::string_view k_heap[] = {"malloc", "calloc",         "realloc",      "free",
                                           "cfree",  "posix_memalign", "aligned_alloc"};
    bool found = false;
    for (std::size_t i = 0; i < std::min(m_size, k_youngest) && !found; ++i) {
        visit_places(m_youngest[i], [&](const code_place& place) {
            const std::string_view name = place.function != nullptr ? place.function : "";
            found = std::find(std::begin(k_heap), std::end(k_heap), name) != std::end(k_heap);
            return !found;
        });
    }
    return found;
}

void call_stack::write_call(int file_descriptor, std::size_t depth,
                            spelling_of_names how) const noexcept {
    fixed_text line;
    const auto begin_line = [&] { line.add("  #").add(std::uint64_t{depth}).add("  "); };
    bool found = false;
    visit_places(at(depth), [&](const code_place& place) {
        const bool says_little = found || (place.is_inlined && depth != 0);
        if (says_little && is_library(place)) {
            return true;  // an inlined part of the runtime
        }
        line.clear();
        begin_line();
        add_place(line, place, how);
        write_text(file_descriptor, line.add("\n"));
        found = true;
        return true;
    });
    if (!found) {
        begin_line();
        add_linked(line, at(depth), how);
        write_text(file_descriptor, line.add("\n"));
    }
}

void call_stack::write(int file_descriptor, spelling_of_names how) const noexcept {
    const std::size_t kept = k_youngest + k_oldest;
    for (std::size_t i = 0; i < m_size; ++i) {
        if (i == k_youngest && m_size > kept) {
            fixed_text line;
            line.add("  ... ").add(std::uint64_t{m_size - kept}).add(" more calls ...\n");
            write_text(file_descriptor, line);
            i = m_size - k_oldest;
        }
        write_call(file_descriptor, i, how);
    }
}

void write_text(int file_descriptor, const fixed_text& text) noexcept {
    std::string_view rest = text.view();
    while (!rest.empty()) {
        const auto written = ::write(file_descriptor, rest.data(), rest.size());
        if (written <= 0) {
            return;
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace quern::detail
