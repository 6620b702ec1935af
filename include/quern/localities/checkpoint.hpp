// SPDX-License-Identifier: BSL-1.0
// Global objects and vectors as files, from which another run, on any number of localities, makes
// them again.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/archive.hpp>
#include <quern/localities/detail/checkpoint_files.hpp>
#include <quern/localities/make_many.hpp>
#include <quern/localities/partitioned_vector.hpp>
#include <quern/task/async.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::localities {

namespace detail {

/// With what archives of this build write before each value.
template <class T>
std::string written_type() {
    return cereal::util::demangle(typeid(T).name()) + (k_checked_archives ? ", checked" : "");
}

template <class T>
void write_record(const std::string& folder, std::uint64_t generation, std::uint64_t key,
                  const T& value) {
    writer bytes;
    localities::detail::write(bytes, value);
    detail::append_record(folder, generation, key, bytes.bytes());
}

template <class T>
void read_record(std::span<const std::byte> bytes, T& value) {
    reader from(bytes);
    localities::detail::read(from, value);
    from.expect_end("a record of a checkpoint");
}

/// Starts all writes by start(i), waits for them and for the ends of all parts, and ends the
/// checkpoint if all have succeeded. Returns its bytes.
template <class Start>
std::uint64_t write_checkpoint(checkpoint_contents of, std::size_t writes, Start start) {
    std::exception_ptr failed;
    const auto keep_error = [&failed](auto&& f) {
        try {
            f();
        } catch (...) {
            failed = std::current_exception();
        }
    };
    std::vector<future<void>> written;
    keep_error([&] {
        written.reserve(writes);
        for (std::size_t i = 0; i < writes; ++i) {
            written.push_back(start(i));
        }
    });
    for (future<void>& each : written) {
        keep_error([&] { each.get(); });
    }
    std::vector<future<written_part>> ends;
    for (const int where : localities::all()) {
        ends.push_back(localities::run_at(where, &detail::end_part, of.folder, of.generation));
    }
    std::vector<written_part> parts;
    std::uint64_t bytes = 0;
    for (future<written_part>& each : ends) {
        keep_error([&] {
            parts.push_back(each.get());
            bytes += parts.back().bytes;
        });
    }
    if (failed) {
        std::rethrow_exception(failed);
    }
    of.parts = parts.size();
    detail::end_checkpoint(of, parts);
    return bytes;
}

/// At one locality: makes the objects of its share.
template <class T>
std::vector<object<T>> restore_share(const checkpoint_contents& from, distribution::share share) {
    std::vector<object<T>> made(share.count);
    detail::visit_records(
        from,
        [&](std::uint64_t key) {
            return key >= share.first && (key - share.first) % share.step == 0 &&
                   (key - share.first) / share.step < share.count;
        },
        [&](std::uint64_t key, std::span<const std::byte> bytes) {
            auto one = std::make_unique<T>();
            detail::read_record(bytes, *one);
            made[(key - share.first) / share.step] = maker<T>::adopt(std::move(one));
        });
    for (std::uint64_t i = 0; i < made.size(); ++i) {
        if (!made[i]) {
            detail::refuse_incomplete(from, share.first + i * share.step);
        }
    }
    return made;
}

template <class T>
void restore_part(std::vector<T>& into, const checkpoint_contents& from, std::uint64_t first) {
    const std::uint64_t end = first + into.size();
    std::uint64_t found = 0;
    detail::visit_records(
        from, [&](std::uint64_t key) { return key < end && key + k_elements_of_record > first; },
        [&](std::uint64_t key, std::span<const std::byte> bytes) {
            std::vector<T> some;
            detail::read_record(bytes, some);
            const std::uint64_t begin = std::max(key, first);
            for (std::uint64_t i = begin; i < std::min(key + some.size(), end); ++i, ++found) {
                into[i - first] = std::move(some[i - key]);
            }
        });
    if (found != into.size()) {
        detail::refuse_incomplete(from, first);
    }
}

}  // namespace detail

/// Writes objects into files of a folder that all localities see under this name, each where it is.
/// The future gives the number of bytes. Each object is written at its turn, like a call that takes
/// it as const: for one state of all let no other call be under way. The folder is made; its files
/// manifest.* and part.<number>.<number> are the checkpoint's. The one that was in it stays until
/// the new one is complete, so that an interruption leaves one of them.
///
///     struct cell { double value = 0; };
///     std::vector<quern::localities::object<cell>> cells =
///         quern::localities::make_many<cell>(0);
///     quern::localities::checkpoint(cells, "results/step-100").get();
///
/// Objects are written as arguments travel (archive.hpp); numbers have the byte order of the
/// machine. References to objects mean nothing in another run: write what identifies them.
///
/// Errors: std::logic_error without a session; from the future std::runtime_error, or a
/// remote_error, for files that cannot be written, and std::logic_error for an object<T>(). Thread
/// safety: as make_at(); one checkpoint of a folder at a time. Cost: a call of each object, and its
/// bytes.
template <class T>
future<std::uint64_t> checkpoint(std::vector<object<T>> objects, std::string folder) {
    localities::require_can_travel<T>();
    return quern::async([objects = std::move(objects), folder = std::move(folder),
                         counted = detail::counted_call(detail::job_for("checkpoint"))] {
        const detail::checkpoint_contents of =
            detail::begin_checkpoint(folder, "objects", detail::written_type<T>(), objects.size());
        return detail::write_checkpoint(of, objects.size(), [&](std::size_t i) {
            return objects[i].call(
                [](const T& one, const std::string& into, std::uint64_t generation,
                   std::uint64_t key) { detail::write_record(into, generation, key, one); },
                folder, of.generation, std::uint64_t{i});
        });
    });
}

/// Makes the objects of a checkpoint again, in their order, as make_many() does: on any number of
/// localities, the same or another one. T must be default-constructible.
///
///     struct cell { double value = 0; };
///     const auto cells = quern::localities::restore<cell>("results/step-100");
///
/// Errors: std::runtime_error, or a remote_error of it, for a folder without a complete checkpoint,
/// one of another type or format, and files that are damaged; what reading a T throws; as
/// make_many(). Thread safety: as make_many(). Cost: each locality reads the headers of all
/// records, and its own.
template <class T>
std::vector<object<T>> restore(const std::string& folder,
                               const distribution& how = distribution::block()) {
    localities::require_can_travel<T>();
    if constexpr (can_travel<T>) {  // else that says all
        const detail::checkpoint_contents from =
            detail::open_checkpoint(folder, "objects", detail::written_type<T>());
        const std::vector<distribution::share> shares = how.shares_of(from.count);
        std::vector<future<std::vector<object<T>>>> calls;
        calls.reserve(shares.size());
        for (std::size_t where = 0; where < shares.size(); ++where) {
            calls.push_back(localities::run_at(static_cast<int>(where), &detail::restore_share<T>,
                                               from, shares[where]));
        }
        return detail::in_order(shares, calls, from.count);
    } else {
        return {};
    }
}

/// The same of a partitioned_vector, whose elements are restored into parts of any sizes.
///
///     const quern::localities::partitioned_vector<double> x(1'000'000, 1.0);
///     quern::localities::checkpoint(x, "results/x").get();
///     const auto again = quern::localities::restore_vector<double>("results/x");
template <class T>
future<std::uint64_t> checkpoint(partitioned_vector<T> elements, std::string folder) {
    return quern::async([elements = std::move(elements), folder = std::move(folder),
                         counted = detail::counted_call(detail::job_for("checkpoint"))] {
        const detail::checkpoint_contents of =
            detail::begin_checkpoint(folder, "vector", detail::written_type<T>(), elements.size());
        const auto parts = static_cast<std::size_t>(elements.parts());
        return detail::write_checkpoint(of, parts, [&](std::size_t number) {
            const int part = static_cast<int>(number);
            return elements.part(part).call(
                [](const std::vector<T>& all, const std::string& into, std::uint64_t generation,
                   std::uint64_t first) {
                    for (std::size_t i = 0; i < all.size(); i += detail::k_elements_of_record) {
                        const std::size_t end =
                            std::min<std::size_t>(all.size(), i + detail::k_elements_of_record);
                        detail::write_record(
                            into, generation, first + i,
                            std::vector<T>(all.begin() + static_cast<std::ptrdiff_t>(i),
                                           all.begin() + static_cast<std::ptrdiff_t>(end)));
                    }
                },
                folder, of.generation, elements.first_of(part));
        });
    });
}

/// `weights`: as of partitioned_vector; none: parts as equal as possible.
template <class T>
partitioned_vector<T> restore_vector(const std::string& folder,
                                     const std::vector<double>& weights = {}) {
    localities::require_can_travel<T>();
    if constexpr (can_travel<T>) {  // else that says all
        const detail::checkpoint_contents from =
            detail::open_checkpoint(folder, "vector", detail::written_type<T>());
        partitioned_vector<T> made(from.count, T(), weights);
        std::vector<future<void>> reads;
        for (int part = 0; part < made.parts(); ++part) {
            reads.push_back(
                made.part(part).call(&detail::restore_part<T>, from, made.first_of(part)));
        }
        for (future<void>& each : reads) {
            each.get();
        }
        return made;
    } else {
        return {};
    }
}

}  // namespace quern::localities
