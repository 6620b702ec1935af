// SPDX-License-Identifier: BSL-1.0
// Reads the machine from /sys/devices/system: for builds without hwloc, for computers on which
// hwloc fails, and for synthetic trees in tests and below `quern info --root`. Must cope with any
// file missing or malformed: containers hide many.
#include "machine_parts.hpp"

#include <quern/topology/binding.hpp>
#include <quern/topology/detail/text.hpp>

#include <algorithm>
#include <tuple>

namespace quern::topology {

namespace {

class sysfs_reader {
public:
    explicit sysfs_reader(const system_root& root) : m_root(root) {}

    machine read();

private:
    static std::string cpu_folder(unsigned cpu) {
        return "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    }

    cpu_list online_cpus();
    void read_nodes();
    void read_unit(unsigned cpu);
    void read_caches(unsigned cpu);
    void sort_units();
    std::optional<cpu_list> set_in(const std::string& path);
    std::optional<std::uint64_t> number_in(const std::string& path);
    std::vector<std::uint64_t> distances_in(const std::string& path);

    const system_root& m_root;
    detail::raw_machine m_raw;
    std::vector<std::string> m_notes;
};

/// set_in and number_in: nothing if the file is missing; nothing and a note if it is malformed.
std::optional<cpu_list> sysfs_reader::set_in(const std::string& path) {
    const outcome<std::string> text = read_word(m_root, path);
    if (!text) {
        return std::nullopt;
    }
    const outcome<cpu_list> cpus = parse_cpu_set(*text);
    if (!cpus) {
        m_notes.push_back(m_root.resolve(path) + ": expected a list of CPUs, found " +
                          cpus.reason());
    }
    return cpus && !cpus->empty() ? std::optional(*cpus) : std::nullopt;
}

std::optional<std::uint64_t> sysfs_reader::number_in(const std::string& path) {
    const outcome<std::string> text = read_word(m_root, path);
    if (!text || *text == "-1") {  // -1: unknown to the firmware
        return std::nullopt;
    }
    const auto number = detail::parse_number(*text);
    if (!number) {
        m_notes.push_back(m_root.resolve(path) + ": expected a number, found " +
                          detail::in_quotes(*text));
    }
    return number;
}

cpu_list sysfs_reader::online_cpus() {
    const std::string path = "/sys/devices/system/cpu/online";
    if (const std::optional<cpu_list> cpus = set_in(path)) {
        return *cpus;
    }
    const outcome<cpu_list> mask = m_root.real() ? this_thread_affinity() : unavailable{""};
    const bool known = mask && !mask->empty();
    m_notes.push_back(m_root.resolve(path) + " says nothing; assuming " +
                      (known ? "the CPUs of the affinity mask" : "one CPU"));
    return known ? *mask : cpu_list{0};
}

/// "Node 0 MemTotal:  4548818 kB", in bytes; 0 if absent.
std::uint64_t memory_in(const std::string& meminfo) {
    for (const std::string_view line : detail::split(meminfo, '\n')) {
        const std::vector<std::string_view> field = detail::words(line);
        if (field.size() >= 4 && field[2] == "MemTotal:") {
            return detail::parse_number(field[3]).value_or(0) * 1024;
        }
    }
    return 0;
}

/// "10 21"; empty if missing or malformed.
std::vector<std::uint64_t> sysfs_reader::distances_in(const std::string& path) {
    std::vector<std::uint64_t> row;
    const outcome<std::string> text = read_word(m_root, path);
    if (!text) {
        return row;
    }
    for (const std::string_view word : detail::words(*text)) {
        const auto number = detail::parse_number(word);
        if (!number) {
            m_notes.push_back(m_root.resolve(path) + ": expected distances, found " +
                              detail::in_quotes(*text));
            return {};
        }
        row.push_back(*number);
    }
    return row;
}

void sysfs_reader::read_nodes() {
    const std::string folder = "/sys/devices/system/node/";
    for (const unsigned id : set_in(folder + "online").value_or(cpu_list{})) {
        const std::string node = folder + "node" + std::to_string(id);
        const outcome<std::string> meminfo = read_text(m_root, node + "/meminfo");
        m_raw.nodes.push_back({id, meminfo ? memory_in(*meminfo) : 0,
                               set_in(node + "/cpulist").value_or(cpu_list{})});
        m_raw.numa_distances.push_back(distances_in(node + "/distance"));
    }
    const auto empty = [](const auto& row) { return row.empty(); };
    if (std::all_of(m_raw.numa_distances.begin(), m_raw.numa_distances.end(), empty)) {
        m_raw.numa_distances.clear();
    }
}

void sysfs_reader::read_unit(unsigned cpu) {
    const std::string topology = cpu_folder(cpu) + "/topology/";
    std::optional<cpu_list> siblings = set_in(topology + "core_cpus_list");
    if (!siblings) {
        siblings = set_in(topology + "thread_siblings_list");  // the name before Linux 5.3
    }
    detail::raw_unit unit;
    unit.os_index = cpu;
    unit.package = number_in(topology + "physical_package_id").value_or(0);
    // core_id is not unique across packages; the lowest sibling is.
    unit.core = siblings ? siblings->front() : cpu;
    for (const numa_node& node : m_raw.nodes) {
        if (std::binary_search(node.pus.begin(), node.pus.end(), cpu)) {
            unit.numa_node = node.os_index;
            break;
        }
    }
    m_raw.units.push_back(unit);
}

/// "48K", "32M" or plain bytes.
std::uint64_t size_in(std::string_view text) {
    std::uint64_t factor = 1;
    if (text.ends_with('K') || text.ends_with('M') || text.ends_with('G')) {
        factor = text.back() == 'K' ? 1u << 10 : text.back() == 'M' ? 1u << 20 : 1u << 30;
        text.remove_suffix(1);
    }
    return detail::parse_number(text).value_or(0) * factor;
}

void sysfs_reader::read_caches(unsigned cpu) {
    constexpr unsigned k_most_caches = 16;  // per unit; real ones have four or five
    for (unsigned index = 0; index < k_most_caches; ++index) {
        const std::string folder = cpu_folder(cpu) + "/cache/index" + std::to_string(index) + "/";
        const std::optional<std::uint64_t> level = number_in(folder + "level");
        const std::optional<cpu_list> sharers = set_in(folder + "shared_cpu_list");
        const outcome<std::string> type = read_word(m_root, folder + "type");
        if (!level || !sharers || (type && *type == "Instruction")) {
            continue;
        }
        const auto is_this = [&](const cache& known) {
            return known.level == *level && known.pus == *sharers;
        };
        if (std::none_of(m_raw.caches.begin(), m_raw.caches.end(), is_this)) {
            const outcome<std::string> size = read_word(m_root, folder + "size");
            m_raw.caches.push_back(
                {static_cast<unsigned>(*level), 0, size ? size_in(*size) : 0, *sharers});
        }
    }
}

/// Order: package, node, last-level cache, core, unit.
void sysfs_reader::sort_units() {
    const auto cache_of = [this](unsigned cpu) {
        unsigned first = cpu;
        for (const cache& known : m_raw.caches) {
            if (known.level == 3 && std::binary_search(known.pus.begin(), known.pus.end(), cpu)) {
                first = known.pus.front();
            }
        }
        return first;
    };
    const auto place = [&](const detail::raw_unit& unit) {
        return std::tuple(unit.package, unit.numa_node, cache_of(unit.os_index), unit.core,
                          unit.os_index);
    };
    std::sort(m_raw.units.begin(), m_raw.units.end(),
              [&](const auto& a, const auto& b) { return place(a) < place(b); });
    const auto rank = [this](const cache& known) {
        const auto first =
            std::find_if(m_raw.units.begin(), m_raw.units.end(), [&](const detail::raw_unit& unit) {
                return std::binary_search(known.pus.begin(), known.pus.end(), unit.os_index);
            });
        return first - m_raw.units.begin();
    };
    std::stable_sort(m_raw.caches.begin(), m_raw.caches.end(),
                     [&](const cache& a, const cache& b) { return rank(a) < rank(b); });
}

machine sysfs_reader::read() {
    read_nodes();
    for (const unsigned cpu : online_cpus()) {
        read_unit(cpu);
        read_caches(cpu);
    }
    sort_units();
    const std::string from = m_root.resolve("/sys/devices/system");
    machine made = detail::assemble(std::move(m_raw), machine_source::sysfs, from);
    made.notes.insert(made.notes.begin(), m_notes.begin(), m_notes.end());
    return made;
}

}  // namespace

machine machine::from_sysfs(const system_root& root) { return sysfs_reader(root).read(); }

}  // namespace quern::topology
