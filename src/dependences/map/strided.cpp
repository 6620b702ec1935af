// SPDX-License-Identifier: BSL-1.0
// Regions of several rows: what is accepted, and how they are described.
#include <quern/dependences/detail/strided_access.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace quern::detail {

namespace {

constexpr const char* k_which[] = {"first", "second", "third", "last"};

std::string in_dimension(std::size_t k, std::size_t n) {
    return std::string(" in the ") + (k + 1 == n ? "last" : k_which[k]) + " of " +
           std::to_string(n) + " dimensions";
}

/// "2 x 5 elements".
std::string elements_of(std::span<const std::ptrdiff_t> counts) {
    std::string words;
    for (const std::ptrdiff_t each : counts) {
        words += (words.empty() ? "" : " x ") + std::to_string(each);
    }
    return words + " elements";
}

/// "a pitch of 4", or of more dimensions "distances of 25, 5".
std::string distances_of(std::span<const std::ptrdiff_t> distances) {
    std::string words = distances.size() == 1 ? "a pitch of " : "distances of ";
    for (std::size_t k = 0; k < distances.size(); ++k) {
        words += (k > 0 ? ", " : "") + std::to_string(distances[k]);
    }
    return words;
}

[[noreturn]] void refuse_extent(std::span<const std::ptrdiff_t> counts,
                                std::span<const std::ptrdiff_t> distances) {
    throw std::invalid_argument("quern: a region of " + elements_of(counts) +
                                (distances.empty() ? "" : " with " + distances_of(distances)) +
                                ": more than memory has");
}

}  // namespace

void check_strided(const volatile void* first, std::size_t element,
                   std::span<const std::ptrdiff_t> counts,
                   std::span<const std::ptrdiff_t> distances) {
    bool is_empty = false;
    for (std::size_t k = 0; k < counts.size(); ++k) {
        if (counts[k] < 0) {
            throw std::invalid_argument("quern: a region of " + std::to_string(counts[k]) +
                                        " elements" + in_dimension(k, counts.size()) +
                                        ": the number is negative");
        }
        is_empty = is_empty || counts[k] == 0;
    }
    if (is_empty) {
        return;
    }
    if (first == nullptr) {
        throw std::invalid_argument("quern: a region of " + elements_of(counts) +
                                    " at a null pointer");
    }
    const auto most = static_cast<std::size_t>(PTRDIFF_MAX) / element;
    auto extent = static_cast<std::size_t>(counts.back());  // of what the next distance repeats
    for (std::size_t k = distances.size(); k-- > 0;) {
        const auto count = static_cast<std::size_t>(counts[k]);
        if (distances[k] < 0 || static_cast<std::size_t>(distances[k]) < extent) {
            throw std::invalid_argument(
                "quern: a distance (pitch) of " + std::to_string(distances[k]) + " elements" +
                in_dimension(k, counts.size()) + ": at least " + std::to_string(extent) +
                " are needed, the extent of what is repeated");
        }
        const auto distance = static_cast<std::size_t>(distances[k]);
        if (extent > most || (count - 1) > (most - extent) / distance) {
            refuse_extent(counts, distances);
        }
        extent += (count - 1) * distance;
    }
    if (extent > most) {
        refuse_extent(counts, distances);
    }
}

void describe_rows(std::size_t element, std::span<const std::ptrdiff_t> counts,
                   std::span<const std::ptrdiff_t> distances, region& row,
                   strides& shape) noexcept {
    row.bytes = static_cast<std::size_t>(counts.back()) * element;
    std::size_t used = 0;
    for (std::size_t k = distances.size(); k-- > 0;) {
        const strides::dimension next{static_cast<std::size_t>(counts[k]),
                                      static_cast<std::size_t>(distances[k]) * element};
        if (next.count == 0) {
            row.bytes = 0;
        } else if (next.count == 1) {
            continue;
        } else if (used == 0 && next.distance == row.bytes) {
            row.bytes *= next.count;  // rows that touch are one
        } else if (used != 0 &&
                   next.distance == shape.outer[used - 1].count * shape.outer[used - 1].distance) {
            shape.outer[used - 1].count *= next.count;
        } else {
            shape.outer[used++] = next;
        }
    }
    row.is_empty = row.bytes == 0;
}

}  // namespace quern::detail
