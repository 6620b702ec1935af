// SPDX-License-Identifier: BSL-1.0
// Reductions of tasks. A member's copy serves all tasks that run on the member, one after the
// other; a task that waits has no operation on it in progress.
#include "core/task_reductions.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace quern::omp {

namespace {

enum word : std::size_t { k_count, k_bytes, k_memory, k_unused, k_next, k_is_last, k_end, k_first };
constexpr std::size_t k_words_each = 3;

const std::uintptr_t* variable(const std::uintptr_t* of, std::size_t at) noexcept {
    return of + k_first + k_words_each * at;
}

/// The place of a copy within its member's memory. False: the address is none of this descriptor.
bool find_copy(const std::uintptr_t* in, std::uintptr_t address, std::uintptr_t& offset,
               std::uintptr_t& original) noexcept {
    const bool is_copy = address >= in[k_memory] && address < in[k_end];
    const std::uintptr_t wanted = is_copy ? (address - in[k_memory]) % in[k_bytes] : address;
    for (std::size_t i = 0; i < in[k_count]; ++i) {
        const std::uintptr_t* const each = variable(in, i);
        if (each[is_copy ? 1 : 0] == wanted) {
            offset = each[1];
            original = each[0];
            return true;
        }
    }
    return false;
}

}  // namespace

namespace {

std::uintptr_t* next_of(const std::uintptr_t* descriptor) noexcept {
    return reinterpret_cast<std::uintptr_t*>(descriptor[k_next]);
}

/// Puts the list of descriptors before those of the taskgroup. Its last one is marked.
void add_to_group(member& here, std::uintptr_t* descriptor) noexcept {
    task_group* const group = here.current->group;
    if (group == nullptr) {
        fatal("a reduction of tasks outside of a taskgroup");
    }
    std::uintptr_t* each = descriptor;
    while (each[k_is_last] == 0) {
        each = next_of(each);
    }
    each[k_next] = reinterpret_cast<std::uintptr_t>(group->described_reductions);
    group->described_reductions = descriptor;
}

}  // namespace

void register_reductions(member& here, std::uintptr_t* descriptor) noexcept {
    allocate_reductions(descriptor, here.of->size);
    add_to_group(here, descriptor);
}

void share_reductions(member& here, std::uintptr_t* descriptor,
                      const std::uintptr_t* first) noexcept {
    for (std::uintptr_t* each = descriptor;; each = next_of(each), first = next_of(first)) {
        each[k_memory] = first[k_memory];
        each[k_end] = first[k_end];
        each[k_is_last] = each[k_next] == 0 ? 1 : 0;
        if (each[k_next] == 0) {
            break;
        }
    }
    add_to_group(here, descriptor);
}

void allocate_reductions(std::uintptr_t* descriptor, unsigned members) noexcept {
    for (std::uintptr_t* each = descriptor;; each = next_of(each)) {
        const std::size_t alignment = std::max<std::size_t>(each[k_memory], sizeof(void*));
        std::size_t bytes = each[k_bytes] * members;
        bytes = (std::max<std::size_t>(bytes, 1) + alignment - 1) & ~(alignment - 1);
        void* const memory = std::aligned_alloc(alignment, bytes);
        if (memory == nullptr) {
            fatal("no memory for the copies of a reduction: %zu bytes", bytes);
        }
        std::memset(memory, 0, bytes);
        each[k_memory] = reinterpret_cast<std::uintptr_t>(memory);
        each[k_end] = each[k_memory] + each[k_bytes] * members;
        each[k_is_last] = each[k_next] == 0 ? 1 : 0;
        if (each[k_next] == 0) {
            break;
        }
    }
}

void unregister_reductions(std::uintptr_t* descriptor) noexcept {
    for (bool is_last = false; !is_last;) {
        is_last = descriptor[k_is_last] != 0;
        std::free(reinterpret_cast<void*>(descriptor[k_memory]));
        descriptor = reinterpret_cast<std::uintptr_t*>(descriptor[k_next]);
    }
}

void remap_reductions(const member& here, std::size_t count, std::size_t originals,
                      void** addresses) noexcept {
    const task_group* const group = here.current->group;
    for (std::size_t i = 0; i < count; ++i) {
        const auto address = reinterpret_cast<std::uintptr_t>(addresses[i]);
        const std::uintptr_t* in = group != nullptr ? group->described_reductions : nullptr;
        std::uintptr_t offset = 0;
        std::uintptr_t original = 0;
        while (in != nullptr && !find_copy(in, address, offset, original)) {
            in = reinterpret_cast<const std::uintptr_t*>(in[k_next]);
        }
        if (in == nullptr) {
            fatal("in_reduction of a variable (%p) that no taskgroup around reduces", addresses[i]);
        }
        addresses[i] = reinterpret_cast<void*>(in[k_memory] + in[k_bytes] * here.number + offset);
        if (i < originals) {
            addresses[count + i] = reinterpret_cast<void*>(original);
        }
    }
}

}  // namespace quern::omp
