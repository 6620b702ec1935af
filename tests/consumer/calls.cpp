// SPDX-License-Identifier: BSL-1.0
// An outside project that calls functions at other localities. Must use only the public interface.
#include <quern/localities/run_at.hpp>
#include <quern/quern.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

std::vector<std::string> sum_in_words(const std::vector<int>& numbers) {
    int sum = 0;
    std::string words;
    for (const int each : numbers) {
        sum += each;
        words += (words.empty() ? "" : " + ") + std::to_string(each);
    }
    return {words, std::to_string(sum)};
}

}  // namespace

int main(int argc, char** argv) {
    const quern::localities::session job(argc, argv);
    if (quern::localities::here() != quern::localities::root) {
        return 0;
    }
    std::vector<int> numbers;
    for (const int each : quern::localities::all()) {
        numbers.push_back(
            quern::localities::run_at(each, [] { return quern::localities::here(); }).get());
    }
    const auto words =
        quern::localities::run_at(quern::localities::count() - 1, &sum_in_words, numbers).get();
    std::printf("%s = %s, from %d localities\n", words[0].c_str(), words[1].c_str(),
                quern::localities::count());
}
