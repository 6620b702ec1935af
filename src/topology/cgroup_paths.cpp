// SPDX-License-Identifier: BSL-1.0
// Maps /proc/self/cgroup (the group) and /proc/self/mountinfo (the mounts) to folders. Both are
// needed because inside a container the mount often begins below the hierarchy's root: a group
// /docker/7/app whose mount has the root /docker/7 is the folder <mount point>/app, and nothing
// above the mount point is visible.
#include <quern/topology/detail/cgroup_paths.hpp>

#include <quern/topology/detail/text.hpp>

#include <algorithm>

namespace quern::topology::detail {

namespace {

constexpr std::string_view k_groups = "/proc/self/cgroup";
constexpr std::string_view k_mounts = "/proc/self/mountinfo";

struct membership {
    bool version_2 = false;
    std::string_view path;
};

struct mount {
    int version = 2;
    std::string root;  // path within the hierarchy shown at the mount point
    std::string mount_point;
};

bool has_word(std::string_view list, std::string_view word) {
    const auto parts = split(list, ',');
    return std::find(parts.begin(), parts.end(), word) != parts.end();
}

/// mountinfo encodes blank, tab, newline and backslash as three octal digits: "\040".
std::string unescape(std::string_view text) {
    const auto octal = [](char c) { return c >= '0' && c <= '7'; };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && octal(text[i + 1]) && octal(text[i + 2]) &&
            octal(text[i + 3])) {
            out.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                            (text[i + 3] - '0')));
            i += 3;
        } else {
            out.push_back(text[i]);
        }
    }
    return out;
}

/// Lines "id:controllers:path"; version 2 is "0::path".
std::vector<membership> find_memberships(std::string_view text, std::string_view controller,
                                         std::string_view file, notes& said) {
    std::vector<membership> found;
    for (const std::string_view line : split(text, '\n')) {
        const std::size_t first = line.find(':');
        const std::size_t second =
            first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second == std::string_view::npos || second + 1 >= line.size() ||
            line[second + 1] != '/') {
            if (!trim(line).empty()) {
                said.push_back(std::string(file) + ": expected id:controllers:/path, found " +
                               in_quotes(line));
            }
            continue;
        }
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        const bool version_2 = line.substr(0, first) == "0" && controllers.empty();
        if (version_2 || has_word(controllers, controller)) {
            found.push_back({version_2, line.substr(second + 1)});
        }
    }
    return found;
}

/// A line is "id parent device root mount-point options [tags] - type source super-options".
std::vector<mount> find_mounts(std::string_view text, std::string_view controller,
                               std::string_view file, notes& said) {
    std::vector<mount> found;
    for (const std::string_view line : split(text, '\n')) {
        if (line.find("cgroup") == std::string_view::npos) {
            continue;
        }
        const std::vector<std::string_view> field = words(line);
        const auto dash = std::find(field.begin(), field.end(), "-");
        if (field.end() - dash < 4 || dash - field.begin() < 6) {
            said.push_back(std::string(file) + ": expected a mount, found " + in_quotes(line));
            continue;
        }
        const bool version_2 = dash[1] == "cgroup2";
        if (version_2 || (dash[1] == "cgroup" && has_word(dash[3], controller))) {
            found.push_back({version_2 ? 2 : 1, unescape(field[3]), unescape(field[4])});
        }
    }
    return found;
}

/// The part of `path` below `top`, "" for `top` itself, nothing if it is elsewhere.
std::optional<std::string_view> below(std::string_view path, std::string_view top) {
    if (top == "/") {
        return path == "/" ? std::string_view() : path;
    }
    if (!path.starts_with(top) || (path.size() > top.size() && path[top.size()] != '/')) {
        return std::nullopt;
    }
    return path.substr(top.size());
}

cgroup_chain climb(const mount& on, std::string_view inside) {
    cgroup_chain chain{on.version, {}};
    const std::string base = on.mount_point == "/" ? "" : on.mount_point;
    while (!inside.empty()) {
        chain.folders.push_back(base + std::string(inside));
        inside = inside.substr(0, inside.find_last_of('/'));
    }
    chain.folders.push_back(base);
    return chain;
}

/// Uses the mount that shows most ancestors. If none shows the group itself, uses the first one's
/// mount point.
std::optional<cgroup_chain> join(const membership& group, const std::vector<mount>& mounts,
                                 notes& said) {
    const int version = group.version_2 ? 2 : 1;
    const auto steps = split(group.path, '/');
    const bool climbs_out = std::find(steps.begin(), steps.end(), "..") != steps.end();
    const mount* widest = nullptr;
    const mount* any = nullptr;
    for (const mount& candidate : mounts) {
        if (candidate.version != version) {
            continue;
        }
        any = any ? any : &candidate;
        if (!climbs_out && below(group.path, candidate.root) &&
            (!widest || candidate.root.size() < widest->root.size())) {
            widest = &candidate;
        }
    }
    if (widest) {
        return climb(*widest, *below(group.path, widest->root));
    }
    if (any) {
        said.push_back("the control group " + in_quotes(group.path) + " is not below what " +
                       any->mount_point + " shows (" + in_quotes(any->root) +
                       "); read the mount point instead");
        return climb(*any, {});
    }
    return std::nullopt;
}

}  // namespace

cgroup_files::cgroup_files(const system_root& root)
    : m_root(root), m_groups(read_text(root, k_groups)), m_mounts(read_text(root, k_mounts)) {}

outcome<std::vector<cgroup_chain>> cgroup_files::chains_of(std::string_view controller,
                                                           notes& said) const {
    if (!m_groups) {
        return unavailable{m_groups.reason(), m_groups.error()};
    }
    if (!m_mounts) {
        return unavailable{m_mounts.reason(), m_mounts.error()};
    }
    const std::vector<mount> mounts =
        find_mounts(*m_mounts, controller, m_root.resolve(k_mounts), said);
    std::vector<cgroup_chain> chains;
    for (const membership& group :
         find_memberships(*m_groups, controller, m_root.resolve(k_groups), said)) {
        if (std::optional<cgroup_chain> chain = join(group, mounts, said)) {
            chains.push_back(std::move(*chain));
        }
    }
    if (chains.empty()) {
        return unavailable{"no cgroup hierarchy with the controller " + std::string(controller) +
                           " is mounted"};
    }
    std::stable_sort(chains.begin(), chains.end(),
                     [](const auto& a, const auto& b) { return a.version > b.version; });
    return chains;
}

}  // namespace quern::topology::detail
