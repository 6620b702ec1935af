// SPDX-License-Identifier: BSL-1.0
// Checkpoints: what is written is restored, wherever it then belongs; what is damaged is named.
#include "on_job.hpp"

#include <quern/localities/checkpoint.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::localities::checkpoint;
using quern::localities::count;
using quern::localities::distribution;
using quern::localities::here;
using quern::localities::make_many;
using quern::localities::object;
using quern::localities::partitioned_vector;
using quern::localities::restore;
using quern::localities::restore_vector;

struct box {
    std::uint64_t number = 0;
    std::string name{};
    std::vector<double> values{};

    std::string text() const {
        return name + ' ' + std::to_string(number) + ' ' + std::to_string(values.size());
    }
    void fill() {
        name = "box";
        values.assign(number % 7, 0.5);
    }
    int place() const { return here(); }
};

/// A folder of this process and case, which ends with it.
class own_folder {
public:
    own_folder()
        : m_path(
              std::filesystem::temp_directory_path() /
              ("quern-checkpoint-" + std::to_string(::getpid()) + "-" + std::to_string(here()))) {}
    own_folder(const own_folder&) = delete;
    own_folder& operator=(const own_folder&) = delete;
    ~own_folder() { std::filesystem::remove_all(m_path); }

    std::string path() const { return (m_path / "below").string(); }
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& each : std::filesystem::directory_iterator(path())) {
            names.push_back(each.path().filename().string());
        }
        std::sort(names.begin(), names.end());
        return names;
    }

private:
    std::filesystem::path m_path;
};

class localities_checkpoint : public quern_test::on_job {
protected:
    static std::vector<object<box>> boxes(std::size_t size) {
        std::vector<object<box>> made = make_many<box>(size, distribution::cyclic());
        for (const auto& each : made) {
            each.call(&box::fill).get();
        }
        return made;
    }
    static void expect_boxes(const std::vector<object<box>>& found, std::size_t size) {
        ASSERT_EQ(found.size(), size);
        for (std::size_t i = 0; i < size; ++i) {
            EXPECT_EQ(found[i].call(&box::text).get(),
                      "box " + std::to_string(i) + ' ' + std::to_string(i % 7));
        }
    }
    /// What f() throws.
    template <class F>
    static std::string error_of(F&& f) {
        try {
            f();
        } catch (const std::exception& error) {
            return error.what();
        }
        return "no exception";
    }
};

// Holds: checkpoint: Objects are restored in their order, where the distribution says.
TEST_P(localities_checkpoint, objects_are_restored) {
    const own_folder folder;
    EXPECT_GT(checkpoint(boxes(40), folder.path()).get(), 40U * 8);
    expect_boxes(restore<box>(folder.path()), 40);
    const auto cyclic = restore<box>(folder.path(), distribution::cyclic());
    expect_boxes(cyclic, 40);
    for (std::size_t i = 0; i < cyclic.size(); ++i) {
        EXPECT_EQ(cyclic[i].call(&box::place).get(),
                  static_cast<int>(i % static_cast<std::size_t>(count())));
    }
    std::vector<double> weights(static_cast<std::size_t>(count()), 0.0);
    weights.back() = 1;
    expect_boxes(restore<box>(folder.path(), distribution::weighted(weights)), 40);
}

// Holds: checkpoint: A later one takes the place of the one before, whose files go.
TEST_P(localities_checkpoint, the_last_one_counts) {
    const own_folder folder;
    for (const std::size_t size : {3U, 0U, 12U}) {
        checkpoint(boxes(size), folder.path()).get();
        expect_boxes(restore<box>(folder.path()), size);
        EXPECT_EQ(folder.files().size(), static_cast<std::size_t>(count()) + 1);
    }
}

// Holds: checkpoint: One that fails leaves the one before, and the next one is whole; other files of
// the folder stay.
TEST_P(localities_checkpoint, failures_leave_the_one_before) {
    const own_folder folder;
    checkpoint(boxes(5), folder.path()).get();
    std::ofstream(folder.path() + "/part.list") << "mine\n";
    std::ofstream(folder.path() + "/part.7.cfg") << "mine\n";
    std::vector<object<box>> some = boxes(200);
    some[50] = object<box>();
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW(checkpoint(some, folder.path()).get(), std::logic_error);
        expect_boxes(restore<box>(folder.path()), 5);
    }
    checkpoint(boxes(30), folder.path()).get();
    expect_boxes(restore<box>(folder.path()), 30);
    EXPECT_EQ(folder.files().size(), static_cast<std::size_t>(count()) + 3);
}

// Holds: checkpoint: The elements of a vector are restored into parts of other sizes.
TEST_P(localities_checkpoint, vectors_are_restored) {
    const own_folder folder;
    constexpr std::uint64_t k_size = 150'000;  // parts of several records
    const partitioned_vector<std::uint64_t> x(k_size);
    x.for_each_index([](std::uint64_t i, std::uint64_t& each) { each = 3 * i; }).get();
    checkpoint(x, folder.path()).get();
    std::vector<double> weights(static_cast<std::size_t>(count()));
    std::iota(weights.begin(), weights.end(), 1.0);
    for (const auto& again : {restore_vector<std::uint64_t>(folder.path()),
                              restore_vector<std::uint64_t>(folder.path(), weights)}) {
        const std::vector<std::uint64_t> all = again.to_vector().get();
        ASSERT_EQ(all.size(), k_size);
        for (std::uint64_t i = 0; i < k_size; ++i) {
            ASSERT_EQ(all[i], 3 * i);
        }
    }
}

// Holds: checkpoint: What cannot be read is named: no checkpoint, another type or kind, files that
// are damaged, too short or not there.
TEST_P(localities_checkpoint, damage_is_named) {
    const own_folder folder;
    const std::string manifest = folder.path() + "/manifest.txt";
    EXPECT_EQ(error_of([&] { restore<box>(folder.path()); }),
              "quern: checkpoint: '" + manifest +
                  "' cannot be read; accepted: a folder that checkpoint() has written");
    checkpoint(boxes(9), folder.path()).get();
    const std::string other = error_of([&] { restore<std::string>(folder.path()); });
    EXPECT_NE(other.find("is of objects of "), std::string::npos) << other;
    const std::string kind = error_of([&] { restore_vector<box>(folder.path()); });
    EXPECT_NE(kind.find("read is vector of "), std::string::npos) << kind;

    const std::string part = folder.path() + "/part.1.0";
    std::fstream(part, std::ios::in | std::ios::out | std::ios::binary).seekp(30).put('x');
    const std::string changed = error_of([&] { restore<box>(folder.path()); });
    EXPECT_NE(changed.find(part + "' is damaged: the record at byte 0 is not as it was written"),
              std::string::npos)
        << changed;
    std::filesystem::resize_file(part, 20);
    const std::string cut = error_of([&] { restore<box>(folder.path()); });
    EXPECT_NE(cut.find(part + "' has 20 bytes; accepted: "), std::string::npos) << cut;
    std::filesystem::remove(part);
    const std::string gone = error_of([&] { restore<box>(folder.path()); });
    EXPECT_NE(gone.find(part + "' cannot be read: "), std::string::npos) << gone;
    std::ofstream(manifest) << "quern checkpoint 1\nkind objects\ntype t\ncount 99999999999999\n"
                               "generation 1\nparts 0\n";
    const std::string many = error_of([&] { restore<box>(folder.path()); });
    EXPECT_NE(many.find("'count 99999999999999', which its parts cannot hold"), std::string::npos)
        << many;
    std::ofstream(manifest) << "something else\n";
    EXPECT_EQ(error_of([&] { restore<box>(folder.path()); }),
              "quern: checkpoint: '" + manifest +
                  "' begins with 'something else'; accepted: 'quern checkpoint 1'");
    EXPECT_NE(error_of([&] { checkpoint(boxes(1), "/proc/none/such").get(); }).find("'/proc/none"),
              std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(on, localities_checkpoint, testing::Values(1U, 2U));

}  // namespace
