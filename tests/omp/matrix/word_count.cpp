// SPDX-License-Identifier: BSL-1.0
// Counting words with objects of C++: a reduction of maps by `declare reduction`, a threadprivate
// string with a constructor that copyin copies, and firstprivate and lastprivate strings. The map
// has one answer, whatever the order of its merges.
#include <omp.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

// gcc wants a threadprivate object with a constructor to be declared before its definition.
extern std::string prefix;
#pragma omp threadprivate(prefix)
std::string prefix = "none";

namespace {

constexpr int k_lines = 200;

using counts = std::map<std::string, int>;

void merge(counts& to, const counts& from) {
    for (const auto& [word, n] : from)
        to[word] += n;
}
#pragma omp declare reduction(merge:counts : merge(omp_out, omp_in))

std::vector<std::string> words_of(int line) {
    std::vector<std::string> words;
    std::uint32_t random = static_cast<std::uint32_t>(line) * 2654435761u;
    for (int i = 0; i < 20; ++i) {
        random = random * 1664525u + 1013904223u;
        words.push_back("a rather long word " + std::to_string(random >> 27));
    }
    return words;
}

void count(counts& all, const std::string& before, int line) {
    for (const std::string& word : words_of(line))
        ++all[before + word];
}

struct answer {
    counts all;
    std::string last;
    int wrong = 0;
};

answer in_parallel() {
    answer a;
    counts all;
    std::string last, seed = "line ";
    int wrong = 0;
    // gcc 12 constructs a copy at the thread's first use of its name, also behind copyin: this use
    // comes first.
#pragma omp parallel reduction(+ : wrong)
    wrong += prefix != "none";
    prefix = "the main thread's prefix, ";
#pragma omp parallel copyin(prefix) reduction(merge : all) reduction(+ : wrong) firstprivate(seed)
    {
        wrong += prefix != "the main thread's prefix, ";
#pragma omp for schedule(monotonic : dynamic, 7) lastprivate(last)
        for (int line = 0; line < k_lines; ++line) {
            count(all, prefix, line);
            last = seed + std::to_string(line);
        }
        seed += "changed";
        prefix += std::to_string(omp_get_thread_num());
    }
    wrong += seed != "line ";
#pragma omp parallel reduction(+ : wrong)
    wrong += prefix != "the main thread's prefix, " + std::to_string(omp_get_thread_num());
    a.all = std::move(all);
    a.last = std::move(last);
    a.wrong = wrong;
    return a;
}

}  // namespace

int main() {
    omp_set_dynamic(0);
    const answer parallel = in_parallel();
    counts serial;
    for (int line = 0; line < k_lines; ++line)
        count(serial, "the main thread's prefix, ", line);
    if (parallel.all != serial || parallel.last != "line " + std::to_string(k_lines - 1) ||
        parallel.wrong != 0) {
        std::fprintf(stderr, "word_count: %zu words of %zu, last '%s', %d strings are wrong\n",
                     parallel.all.size(), serial.size(), parallel.last.c_str(), parallel.wrong);
        return 1;
    }
    std::uint64_t sum = 0;
    for (const auto& [word, n] : parallel.all) {
        for (const char c : word)
            sum = sum * 31 + static_cast<std::uint64_t>(c);
        sum = sum * 31 + static_cast<std::uint64_t>(n);
    }
    std::printf("word_count %zu %016llx\n", parallel.all.size(),
                static_cast<unsigned long long>(sum));
}
