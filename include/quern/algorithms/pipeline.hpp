// SPDX-License-Identifier: BSL-1.0
// pipeline: items from a source pass a sequence of stages, several items at a time. How tasks carry
// them: detail/pipeline_run.hpp.
#pragma once

#include <quern/algorithms/detail/loop.hpp>
#include <quern/algorithms/detail/pipeline_run.hpp>
#include <quern/base/detail/config.hpp>

#include <cstddef>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

/// Throws std::invalid_argument if it is below 1.
std::size_t checked_tokens(long long tokens);

template <class Source, class... Stages>
void run_pipeline(const void* site, std::stop_token&& stop, long long tokens, Source& source,
                  Stages... stages) {
    const std::size_t count = checked_tokens(tokens);
    const auto whole = [&](fork_slot*, const stop_signal& signal) {
        pipeline_run<Source, Stages...>(count, site, signal, source, stages...).run();
    };
    detail::run_loop(nullptr, site, std::move(stop), whole);
}

}  // namespace detail

/// The stages of a pipeline. A function of in_parallel() may run for several items at once.
/// in_order() calls its function for one item at a time, in the order of the source;
/// one_at_a_time() in the order in which items arrive.
template <class F>
auto in_parallel(F&& f) {
    return detail::pipeline_stage<detail::stage_mode::parallel, std::decay_t<F>>{
        std::forward<F>(f)};
}
template <class F>
auto in_order(F&& f) {
    return detail::pipeline_stage<detail::stage_mode::ordered, std::decay_t<F>>{std::forward<F>(f)};
}
template <class F>
auto one_at_a_time(F&& f) {
    return detail::pipeline_stage<detail::stage_mode::serial, std::decay_t<F>>{std::forward<F>(f)};
}

/// Calls source() until it returns an empty std::optional, one call at a time, and passes each
/// value through the stages: every stage gets what the one before it returned, as an rvalue. At
/// most `tokens` items are in flight, from the call of the source that gives an item to the return
/// of its last stage. What the last stage returns is dropped.
///
///     quern::pipeline(
///         16, [&] { return next_line(input); },    // a std::optional<std::string>
///         quern::in_parallel([](const std::string& line) { return parse(line); }),
///         quern::in_order([&](int value) { out.push_back(value); }));
///
/// Returns when every item has passed. Any function may suspend: other items pass meanwhile, so
/// choose more tokens than workers where stages wait. Values may be of any type that its function
/// returns, also one that cannot be moved. A value is destroyed when the stage that got it has
/// returned.
///
/// Errors: the first exception of a function is thrown at the end. The source is not called any
/// more then, the item that failed skips its further stages, and the other items in flight pass
/// theirs. Later exceptions go to the handler (exceptions.hpp). With a token: after a stop request
/// the source is not called any more, items in flight pass, and task_cancelled is thrown.
/// std::invalid_argument if `tokens` is below 1, std::bad_alloc before the first call.
/// Thread safety: any thread; outside a worker it runs on the default runtime.
/// Cost: `tokens` places for a value are allocated once. A task carries its item through all stages
/// and then takes the next one, 30 ns an item (measured on two workers of a busy machine); a task
/// is made where an item that waited for its turn has stages left.
template <class Source, class... Stages>
QUERN_ALWAYS_INLINE void pipeline(std::stop_token stop, long long tokens, Source&& source,
                                  Stages&&... stages) {
    using source_type = std::remove_reference_t<Source>;
    static_assert(sizeof...(Stages) != 0, "quern: pipeline: there is no stage behind the source");
    static_assert((detail::is_pipeline_stage<std::remove_cvref_t<Stages>> && ...),
                  "quern: pipeline: wrap each stage in in_parallel, in_order or one_at_a_time");
    static_assert(std::is_invocable_v<source_type&>,
                  "quern: pipeline: the source is a function without arguments");
    if constexpr (std::is_invocable_v<source_type&>) {
        static_assert(detail::is_optional<std::invoke_result_t<source_type&>>,
                      "quern: pipeline: the source returns a std::optional, empty at the end");
        if constexpr (detail::is_optional<std::invoke_result_t<source_type&>> &&
                      (detail::is_pipeline_stage<std::remove_cvref_t<Stages>> && ...)) {
            detail::run_pipeline(detail::code_address(), std::move(stop), tokens, source,
                                 std::forward<Stages>(stages)...);
        }
    }
}

template <class Source, class... Stages>
QUERN_ALWAYS_INLINE void pipeline(long long tokens, Source&& source, Stages&&... stages) {
    quern::pipeline(std::stop_token(), tokens, std::forward<Source>(source),
                    std::forward<Stages>(stages)...);
}

}  // namespace quern
