// SPDX-License-Identifier: BSL-1.0
// Writes and reads the files of checkpoints. A part is a sequence of records: a record_header and
// its bytes. The manifest is text, a word and its value in each line; it is written under another
// name and renamed, so a folder has the whole old checkpoint or the whole new one.
#include "job.hpp"

#include <quern/localities/detail/checkpoint_files.hpp>
#include <quern/task/blocking_region.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace quern::localities::detail {

namespace {

namespace fs = std::filesystem;

constexpr char k_manifest[] = "manifest.txt";
constexpr char k_first_line[] = "quern checkpoint 1";

struct record_header {
    std::uint64_t key;
    std::uint64_t size;
    std::uint64_t sum;  ///< of key, size and the bytes
};

struct close_file {
    void operator()(std::FILE* one) const noexcept { std::fclose(one); }
};
using open_file = std::unique_ptr<std::FILE, close_file>;

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
    throw std::runtime_error("quern: checkpoint: '" + file.string() + "' " + what);
}
[[noreturn]] void refuse_by_system(const fs::path& file, const char* what) {
    refuse(file, std::string(what) + ": " + std::strerror(errno));
}

/// FNV-1a over words of 8 bytes, which finds what was cut, exchanged or overwritten.
std::uint64_t sum_of(std::uint64_t key, std::span<const std::byte> bytes) noexcept {
    std::uint64_t sum = 14695981039346656037U;
    const auto add = [&sum](std::uint64_t word) { sum = (sum ^ word) * 1099511628211U; };
    add(key);
    add(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
        add(word);
    }
    return sum;
}

fs::path part_path(const std::string& folder, std::uint64_t generation, std::uint64_t locality) {
    return fs::path(folder) /
           ("part." + std::to_string(generation) + "." + std::to_string(locality));
}

/// This locality's file while it is written.
struct open_part {
    std::mutex lock;
    fs::path path;
    open_file file;
    written_part written;
};

/// All of this process. Tasks hold the lock for a search only.
class part_table {
public:
    using key_type = std::pair<std::string, std::uint64_t>;

    std::shared_ptr<open_part> open(const key_type& which) {
        const std::scoped_lock lock(m_lock);
        std::shared_ptr<open_part>& one = m_open[which];
        if (one == nullptr) {
            auto made = std::make_shared<open_part>();
            const int here = detail::number_of_here(detail::job_for("checkpoint"));
            made->path = part_path(which.first, which.second, static_cast<std::uint64_t>(here));
            made->file.reset(std::fopen(made->path.c_str(), "wb"));
            if (made->file == nullptr) {
                m_open.erase(which);
                refuse_by_system(
                    part_path(which.first, which.second, static_cast<std::uint64_t>(here)),
                    "cannot be made");
            }
            one = std::move(made);
        }
        return one;
    }
    std::shared_ptr<open_part> take(const key_type& which) {
        std::shared_ptr<open_part> one = open(which);
        const std::scoped_lock lock(m_lock);
        m_open.erase(which);
        return one;
    }

private:
    std::mutex m_lock;
    std::map<key_type, std::shared_ptr<open_part>> m_open;
};

part_table& parts_of_process() {
    static part_table all;
    return all;
}

/// "count 100": the value of a line of the manifest.
std::string value_of(std::ifstream& from, const fs::path& path, const std::string& word) {
    std::string line;
    if (!std::getline(from, line) || line.compare(0, word.size() + 1, word + ' ') != 0) {
        refuse(path, "is damaged: '" + word + " …' is expected instead of '" + line + "'");
    }
    return line.substr(word.size() + 1);
}
std::uint64_t number_of(std::ifstream& from, const fs::path& path, const std::string& word) {
    const std::string text = value_of(from, path, word);
    try {
        std::size_t end = 0;
        const std::uint64_t number = std::stoull(text, &end);
        if (end == text.size()) {
            return number;
        }
    } catch (const std::exception&) {
    }
    refuse(path, "is damaged: '" + word + ' ' + text + "', which is no number");
}

checkpoint_contents read_manifest(const std::string& folder) {
    const fs::path path = fs::path(folder) / k_manifest;
    std::ifstream from(path);
    std::string line;
    if (!from) {
        refuse(path, "cannot be read; accepted: a folder that checkpoint() has written");
    }
    if (!std::getline(from, line) || line != k_first_line) {
        refuse(path, "begins with '" + line + "'; accepted: '" + k_first_line + "'");
    }
    checkpoint_contents of;
    of.folder = folder;
    of.kind = value_of(from, path, "kind");
    of.type = value_of(from, path, "type");
    of.count = number_of(from, path, "count");
    of.generation = number_of(from, path, "generation");
    of.parts = number_of(from, path, "parts");
    std::uint64_t all = 0;
    for (std::uint64_t i = 0; i < of.parts; ++i) {
        const std::uint64_t bytes = number_of(from, path, "bytes");
        const fs::path part = part_path(folder, of.generation, i);
        std::error_code failed;
        const std::uint64_t found = fs::file_size(part, failed);
        if (failed || found != bytes) {
            refuse(part, failed ? "cannot be read: " + failed.message()
                                : "has " + std::to_string(found) + " bytes; accepted: " +
                                      std::to_string(bytes) + ", as the manifest says");
        }
        all += bytes;
    }
    const std::uint64_t most =
        all / sizeof(record_header) * (of.kind == "objects" ? 1 : k_elements_of_record);
    if (of.count > most) {
        refuse(path,
               "is damaged: 'count " + std::to_string(of.count) + "', which its parts cannot hold");
    }
    return of;
}

/// Of a file called part.<generation>.<locality>; 0 of any other one.
std::uint64_t generation_of(const fs::path& file) {
    const std::string name = file.filename().string();
    unsigned long long generation = 0;
    unsigned long long locality = 0;
    int end = 0;
    const bool is_part =
        std::sscanf(name.c_str(), "part.%llu.%llu%n", &generation, &locality, &end) == 2 &&
        name == "part." + std::to_string(generation) + "." + std::to_string(locality);
    return is_part ? generation : 0;
}

/// f(path, generation) for each part in the folder, as far as it can be read.
template <class F>
void for_each_part(const std::string& folder, F f) {
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end;
         at.increment(failed)) {
        if (const std::uint64_t generation = generation_of(at->path())) {
            f(at->path(), generation);
        }
    }
}

/// What has been written to a file or folder is on its medium.
void synchronise(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::fsync(file) != 0) {
        if (file >= 0) {
            ::close(file);
        }
        refuse_by_system(path, "cannot be written");
    }
    ::close(file);
}

}  // namespace

checkpoint_contents begin_checkpoint(const std::string& folder, const char* kind,
                                     const std::string& type, std::uint64_t count) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) {
        refuse(folder, "cannot be made: " + failed.message());
    }
    checkpoint_contents of{.folder = folder, .kind = kind, .type = type, .count = count};
    for_each_part(folder, [&](const fs::path&, std::uint64_t generation) {
        of.generation = std::max(of.generation, generation);
    });
    ++of.generation;
    return of;
}

void append_record(const std::string& folder, std::uint64_t generation, std::uint64_t key,
                   std::span<const std::byte> bytes) {
    const std::shared_ptr<open_part> part = parts_of_process().open({folder, generation});
    const record_header header{key, bytes.size(), sum_of(key, bytes)};
    const std::scoped_lock lock(part->lock);
    if (std::fwrite(&header, sizeof header, 1, part->file.get()) != 1 ||
        std::fwrite(bytes.data(), 1, bytes.size(), part->file.get()) != bytes.size()) {
        refuse_by_system(part->path, "cannot be written");
    }
    ++part->written.records;
    part->written.bytes += sizeof header + bytes.size();
}

written_part end_part(const std::string& folder, std::uint64_t generation) {
    const std::shared_ptr<open_part> part = parts_of_process().take({folder, generation});
    const blocking_region here;
    if (std::fflush(part->file.get()) != 0 || ::fsync(::fileno(part->file.get())) != 0) {
        refuse_by_system(part->path, "cannot be written");
    }
    return part->written;
}

void end_checkpoint(const checkpoint_contents& of, const std::vector<written_part>& parts) {
    const blocking_region here;
    const fs::path path = fs::path(of.folder) / k_manifest;
    const fs::path fresh = fs::path(of.folder) / "manifest.new";
    {
        std::ofstream into(fresh);
        into << k_first_line << "\nkind " << of.kind << "\ntype " << of.type << "\ncount "
             << of.count << "\ngeneration " << of.generation << "\nparts " << parts.size() << '\n';
        for (const written_part& each : parts) {
            into << "bytes " << each.bytes << '\n';
        }
        into.flush();
        if (!into) {
            refuse_by_system(fresh, "cannot be written");
        }
    }
    synchronise(fresh);
    std::error_code failed;
    fs::rename(fresh, path, failed);
    if (failed) {
        refuse(path, "cannot be written: " + failed.message());
    }
    synchronise(of.folder);
    for_each_part(of.folder, [&](const fs::path& part, std::uint64_t generation) {
        if (generation != of.generation) {
            fs::remove(part, failed);
        }
    });
}

checkpoint_contents open_checkpoint(const std::string& folder, const char* kind,
                                    const std::string& type) {
    checkpoint_contents of = read_manifest(folder);
    if (of.kind != kind || of.type != type) {
        refuse(fs::path(folder) / k_manifest,
               "is of " + of.kind + " of " + of.type + "; read is " + kind + " of " + type);
    }
    return of;
}

void visit_records(
    const checkpoint_contents& of, quern::detail::function_ref<bool(std::uint64_t)> wants,
    quern::detail::function_ref<void(std::uint64_t, std::span<const std::byte>)> take) {
    std::vector<std::byte> bytes;
    for (std::uint64_t part = 0; part < of.parts; ++part) {
        const fs::path path = part_path(of.folder, of.generation, part);
        const open_file from(std::fopen(path.c_str(), "rb"));
        if (from == nullptr) {
            refuse_by_system(path, "cannot be read");
        }
        const std::uint64_t all = fs::file_size(path);
        std::uint64_t at = 0;
        record_header header{};
        while (std::fread(&header, sizeof header, 1, from.get()) == 1) {
            at += sizeof header;
            if (header.size > all - at) {
                refuse(path, "is damaged: the record at byte " +
                                 std::to_string(at - sizeof header) + " is longer than the file");
            }
            if (!wants(header.key)) {
                std::fseek(from.get(), static_cast<long>(header.size), SEEK_CUR);
            } else {
                bytes.resize(header.size);
                if (std::fread(bytes.data(), 1, bytes.size(), from.get()) != bytes.size() ||
                    sum_of(header.key, bytes) != header.sum) {
                    refuse(path, "is damaged: the record at byte " +
                                     std::to_string(at - sizeof header) +
                                     " is not as it was written");
                }
                take(header.key, bytes);
            }
            at += header.size;
        }
        if (at != all) {
            refuse(path, "is damaged: it ends within a record");
        }
    }
}

void refuse_incomplete(const checkpoint_contents& of, std::uint64_t key) {
    refuse(of.folder, "lacks a record: of " + std::to_string(of.count) + " " + of.kind +
                          ", number " + std::to_string(key) + " or one near it");
}

}  // namespace quern::localities::detail
