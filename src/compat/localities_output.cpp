// SPDX-License-Identifier: BSL-1.0
// hpx::cout with several localities: each task's characters are collected until a line is complete
// or it flushes, and written by one call.
#include <quern/compat/hpx/timing.hpp>
#include <quern/task/this_task.hpp>

#include <cstdint>
#include <iostream>
#include <map>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <thread>
#include <tuple>

namespace hpx::detail {

namespace {

class buffer_of_lines final : public std::streambuf {
public:
    ~buffer_of_lines() override {
        for (auto& [writer, text] : m_parts) {
            write(text, text.size());
        }
        std::cout.flush();
    }

protected:
    std::streamsize xsputn(const char* text, std::streamsize size) override {
        const std::scoped_lock lock(m_lock);
        std::string& part = m_parts[writer()];
        part.append(text, static_cast<std::size_t>(size));
        if (const std::size_t end = part.rfind('\n'); end != std::string::npos) {
            write(part, end + 1);
        }
        if (part.empty()) {
            m_parts.erase(writer());
        }
        return size;
    }
    int_type overflow(int_type one) override {
        if (!traits_type::eq_int_type(one, traits_type::eof())) {
            const char c = traits_type::to_char_type(one);
            xsputn(&c, 1);
        }
        return traits_type::not_eof(one);
    }
    int sync() override {
        const std::scoped_lock lock(m_lock);
        if (const auto at = m_parts.find(writer()); at != m_parts.end()) {
            write(at->second, at->second.size());
            m_parts.erase(at);
        }
        std::cout.flush();
        return 0;
    }

private:
    /// The task, or the thread.
    using writer_id = std::tuple<std::uint64_t, std::thread::id>;
    static writer_id writer() {
        return quern::this_task::is_task() ? writer_id(quern::this_task::id(), std::thread::id())
                                           : writer_id(0, std::this_thread::get_id());
    }
    static void write(std::string& from, std::size_t size) {
        std::cout.rdbuf()->sputn(from.data(), static_cast<std::streamsize>(size));
        from.erase(0, size);
    }

    std::mutex m_lock;  // held while the characters are copied, or written
    std::map<writer_id, std::string> m_parts;
};

}  // namespace

std::ostream& output_by_lines() {
    static const std::ios_base::Init first;  // std::cout lives longer
    static buffer_of_lines buffer;
    static std::ostream output(&buffer);
    return output;
}

}  // namespace hpx::detail
