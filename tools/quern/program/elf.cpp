// SPDX-License-Identifier: BSL-1.0
// Reads program headers, then the dynamic section, then the strings that it points to. Every offset
// is checked, since a file may be damaged.
#include "program/elf.hpp"

#include <quern/topology/detail/text.hpp>

#include <fmt/format.h>

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string_view>

namespace quern::tool {

namespace {

namespace fs = std::filesystem;

constexpr unsigned char k_byte_order =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw std::runtime_error(fmt::format("'{}': {}", path, why));
}

/// A file in memory.
class mapped_file {
public:
    explicit mapped_file(const std::string& path) : m_path(path) {
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat about {};
        if (file < 0 || ::fstat(file, &about) != 0) {
            const int error = errno;
            ::close(file);
            refuse(path, std::strerror(error));
        }
        m_size = static_cast<std::size_t>(about.st_size);
        if (m_size != 0) {
            m_bytes = ::mmap(nullptr, m_size, PROT_READ, MAP_PRIVATE, file, 0);
        }
        const int error = errno;
        ::close(file);
        if (m_bytes == MAP_FAILED) {
            refuse(path, std::strerror(error));
        }
    }
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;
    ~mapped_file() {
        if (m_bytes != nullptr) {
            ::munmap(m_bytes, m_size);
        }
    }

    /// The rest of the file from there. Throws if that is less than `least`.
    std::span<const char> from(std::size_t offset, std::size_t least) const {
        if (offset > m_size || m_size - offset < least) {
            refuse(m_path, "damaged: an ELF file that points beyond its end");
        }
        return {static_cast<const char*>(m_bytes) + offset, m_size - offset};
    }

    template <class T>
    T at(std::size_t offset) const {
        T value;
        std::memcpy(&value, from(offset, sizeof(T)).data(), sizeof(T));
        return value;
    }

    /// The string that begins there.
    std::string text(std::size_t offset) const {
        const std::span<const char> rest = from(offset, 1);
        const auto end = std::find(rest.begin(), rest.end(), '\0');
        if (end == rest.end()) {
            refuse(m_path, "damaged: an ELF file with a string that does not end");
        }
        return {rest.begin(), end};
    }

    std::size_t size() const noexcept { return m_size; }

private:
    std::string m_path;
    void* m_bytes = nullptr;
    std::size_t m_size = 0;
};

std::vector<Elf64_Phdr> headers_of(const mapped_file& file, const std::string& path) {
    const auto header = file.at<Elf64_Ehdr>(0);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != k_byte_order) {
        refuse(path, "an ELF file for another kind of machine");
    }
    std::vector<Elf64_Phdr> all;
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        all.push_back(file.at<Elf64_Phdr>(header.e_phoff + i * header.e_phentsize));
    }
    return all;
}

/// Where in the file the byte lies that will have this address.
std::size_t offset_of(std::uint64_t address, std::span<const Elf64_Phdr> headers,
                      const std::string& path) {
    for (const Elf64_Phdr& each : headers) {
        if (each.p_type == PT_LOAD && address >= each.p_vaddr &&
            address - each.p_vaddr < each.p_filesz) {
            return address - each.p_vaddr + each.p_offset;
        }
    }
    refuse(path, "damaged: an ELF file whose strings are nowhere");
}

std::vector<std::string> folders_in(std::string_view list, const std::string& origin) {
    std::vector<std::string> all;
    for (const std::string_view each : topology::detail::split(list, ':')) {
        std::string folder(each);
        for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
            if (const std::size_t at = folder.find(word); at != std::string::npos) {
                folder.replace(at, word.size(), origin);
            }
        }
        if (!folder.empty()) {
            all.push_back(std::move(folder));
        }
    }
    return all;
}

/// The folders of a file like /etc/ld.so.conf, those of files that it includes among them.
void add_configured(const std::string& file, unsigned depth, std::vector<std::string>& folders) {
    constexpr unsigned k_deepest = 4;  // files that include each other
    std::ifstream lines(file);
    for (std::string line; depth < k_deepest && std::getline(lines, line);) {
        const std::string_view all = line;
        const auto words = topology::detail::words(all.substr(0, all.find('#')));
        if (words.size() == 2 && words[0] == "include") {
            glob_t found{};
            ::glob(std::string(words[1]).c_str(), 0, nullptr, &found);
            for (std::size_t i = 0; i < found.gl_pathc; ++i) {
                add_configured(found.gl_pathv[i], depth + 1, folders);
            }
            ::globfree(&found);
        } else if (words.size() == 1) {
            folders.emplace_back(words[0]);
        }
    }
}

}  // namespace

std::optional<elf_libraries> read_elf(const std::string& path) {
    const mapped_file file(path);
    if (file.size() < sizeof(Elf64_Ehdr) ||
        std::memcmp(file.from(0, SELFMAG).data(), ELFMAG, SELFMAG) != 0) {
        return std::nullopt;
    }
    const std::vector<Elf64_Phdr> headers = headers_of(file, path);
    std::vector<Elf64_Dyn> entries;
    for (const Elf64_Phdr& each : headers) {
        for (std::size_t at = 0; each.p_type == PT_DYNAMIC && at < each.p_filesz;
             at += sizeof(Elf64_Dyn)) {
            entries.push_back(file.at<Elf64_Dyn>(each.p_offset + at));
            if (entries.back().d_tag == DT_NULL) {
                break;
            }
        }
    }
    const auto strings = std::find_if(entries.begin(), entries.end(), [](const Elf64_Dyn& entry) {
        return entry.d_tag == DT_STRTAB;
    });
    elf_libraries found;
    if (strings == entries.end()) {
        return found;
    }
    const std::size_t table = offset_of(strings->d_un.d_ptr, headers, path);
    std::string rpath;
    std::string runpath;
    for (const Elf64_Dyn& entry : entries) {
        if (entry.d_tag == DT_NEEDED) {
            found.needed.push_back(file.text(table + entry.d_un.d_val));
        } else if (entry.d_tag == DT_RPATH) {
            rpath = file.text(table + entry.d_un.d_val);
        } else if (entry.d_tag == DT_RUNPATH) {
            runpath = file.text(table + entry.d_un.d_val);
        }
    }
    std::error_code failed;
    const std::string origin = fs::canonical(path, failed).parent_path().string();
    found.folders = folders_in(runpath.empty() ? rpath : runpath, origin);
    return found;
}

std::string path_of_library(const std::string& name, const elf_libraries& by) {
    if (name.find('/') != std::string::npos) {
        return name;
    }
    std::vector<std::string> folders = by.folders;
    if (const char* const more = std::getenv("LD_LIBRARY_PATH")) {
        for (std::string& each : folders_in(more, "")) {
            folders.push_back(std::move(each));
        }
    }
    add_configured("/etc/ld.so.conf", 0, folders);
    folders.insert(folders.end(), {"/lib64", "/usr/lib64", "/lib", "/usr/lib"});
    for (const std::string& folder : folders) {
        std::string file = fmt::format("{}/{}", folder, name);
        if (::access(file.c_str(), R_OK) == 0) {
            return file;
        }
    }
    return "";
}

}  // namespace quern::tool
