// SPDX-License-Identifier: BSL-1.0
// One run of a pipeline. A task carries its item from the source through the stages as far as it
// can, and then takes the next item; so an item is handed to another task only where it must wait
// for its turn. Protocol of turns and tokens: pipeline_gates.hpp. Used only by pipeline.hpp.
#pragma once

#include <quern/algorithms/detail/pipeline_gates.hpp>
#include <quern/task/attributes.hpp>
#include <quern/task/stop.hpp>
#include <quern/task/task_group.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace quern::detail {

enum class stage_mode : std::uint8_t { parallel, ordered, serial };

/// A function and the way in which items pass it. Made by in_parallel(), in_order() and
/// one_at_a_time().
template <stage_mode Mode, class F>
struct pipeline_stage {
    F function;
};

template <class T>
inline constexpr bool is_pipeline_stage = false;
template <stage_mode Mode, class F>
inline constexpr bool is_pipeline_stage<pipeline_stage<Mode, F>> = true;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

struct no_gate {
    explicit no_gate(std::size_t /*tokens*/) noexcept {}
};

template <stage_mode Mode>
using gate_of =
    std::conditional_t<Mode == stage_mode::parallel, no_gate,
                       std::conditional_t<Mode == stage_mode::ordered, ordered_gate, serial_gate>>;

/// The types of the values before each stage.
template <class... T>
struct value_list {
    static constexpr std::size_t k_size = std::max({sizeof(T)...});
    static constexpr std::size_t k_alignment = std::max({alignof(T)...});
    template <std::size_t I>
    using at = std::remove_pointer_t<std::tuple_element_t<I, std::tuple<T*...>>>;
};

/// Adds to the list what each function gives for the value before it. What the last one gives is
/// dropped.
template <class List, class Last, class... Functions>
struct add_values;
template <class... T, class Last, class F>
struct add_values<value_list<T...>, Last, F> {
    static_assert(std::is_invocable_v<F&, Last&&>,
                  "quern: pipeline: a stage cannot be called with the result of the one before it");
    using type = value_list<T...>;
};
template <class... T, class Last, class F, class Next, class... Further>
struct add_values<value_list<T...>, Last, F, Next, Further...> {
    static_assert(std::is_invocable_v<F&, Last&&>,
                  "quern: pipeline: a stage cannot be called with the result of the one before it");
    using value = std::decay_t<std::invoke_result_t<F&, Last&&>>;
    static_assert(!std::is_void_v<value>,
                  "quern: pipeline: a stage other than the last one returns nothing");
    using type = typename add_values<value_list<T..., value>, value, Next, Further...>::type;
};

template <class Source, class... Stages>
class pipeline_run;

template <class Source, stage_mode... Modes, class... Functions>
class pipeline_run<Source, pipeline_stage<Modes, Functions>...> {
    using first_value = typename std::invoke_result_t<Source&>::value_type;
    using values = typename add_values<value_list<first_value>, first_value, Functions...>::type;
    static constexpr std::size_t k_stages = sizeof...(Functions);
    static constexpr std::array<stage_mode, k_stages> k_modes{Modes...};

    /// Items that a task begins before it goes through the scheduler once, so that other work of
    /// its worker has a turn (guessed).
    static constexpr int k_items_a_task = 64;

    /// The value of an item lies in one of two places in turns, so that each stage constructs its
    /// result in place, and the value before ends when the stage has returned.
    struct place : pipeline_item {
        template <std::size_t I>
        void* room() noexcept {
            return rooms[I % 2].bytes;
        }
        template <std::size_t I>
        auto& value() noexcept {
            using type = typename values::template at<I>;
            return *std::launder(static_cast<type*>(room<I>()));
        }

        struct alignas(values::k_alignment) {
            std::byte bytes[values::k_size];
        } rooms[2];
    };

public:
    pipeline_run(std::size_t tokens, const void* site, const stop_signal& signal, Source& source,
                 pipeline_stage<Modes, Functions>&... stages)
        : m_site(site),
          m_signal(signal),
          m_source(source),
          m_functions(stages.function...),
          m_gates((static_cast<void>(Modes), tokens)...),
          m_places(std::make_unique<place[]>(tokens)) {
        for (std::size_t i = tokens; i != 0; --i) {
            m_tokens.add_token(m_places[i - 1]);
        }
    }

    /// Returns when every item has passed. Throws the first exception. Requires: called on a
    /// worker.
    void run() {
        carry_items();
        m_tasks.wait();
        m_tokens.rethrow_error();
    }

private:
    template <std::size_t I>
    auto& gate() noexcept {
        return std::get<I>(m_gates);
    }

    void queue_starter() noexcept {
        try {
            m_tasks.run({.site = m_site}, [this] {
                const under_signal running(&m_signal);
                m_tokens.starter_begins();
                carry_items();
            });
        } catch (...) {
            m_tokens.no_starter();  // no memory: the tasks that there are do its work
        }
    }

    /// The body of a task.
    void carry_items(place* held = nullptr) noexcept {
        for (int i = 0; i < k_items_a_task; ++i) {
            held = static_cast<place*>(m_tokens.claim(held));
            if (held == nullptr || !begin_item(*held)) {
                return;
            }
            held = carry<0>(*held);
        }
        if (m_tokens.give_back(held)) {
            queue_starter();
        }
    }

    /// Calls the source. False: it has no more items.
    bool begin_item(place& item) noexcept {
        bool is_item = false;
        try {
            if (!m_signal.asks()) {
                if (auto value = m_source()) {
                    ::new (item.template room<0>()) first_value(*std::move(value));
                    is_item = true;
                }
            }
        } catch (...) {
            m_tokens.fail(std::current_exception());
        }
        if (!is_item) {
            m_tokens.ends(item);
        } else if (m_tokens.item_begins(item)) {
            queue_starter();
        }
        return is_item;
    }

    /// Takes the item through the stages from I on. Returns it at its end; null if it was parked.
    template <std::size_t I>
    place* carry(place& item) noexcept {
        if constexpr (I == k_stages) {
            return &item;
        } else if constexpr (k_modes[I] == stage_mode::parallel) {
            call_stage<I>(item);
            return carry<I + 1>(item);
        } else {
            if (item.failed && !std::remove_reference_t<decltype(gate<I>())>::k_keeps_turns) {
                return carry<I + 1>(item);
            }
            return gate<I>().enter(item) ? serve<I>(item) : nullptr;
        }
    }

    /// The item is in a stage that takes one at a time. Continues with the items that wait for it,
    /// so that the stage is never idle while there are any; other tasks take those further.
    template <std::size_t I>
    place* serve(place& first) noexcept {
        place* item = &first;
        for (;;) {
            call_stage<I>(*item);
            auto* const next = static_cast<place*>(gate<I>().leave(*item));
            if (next == nullptr) {
                return carry<I + 1>(*item);
            }
            if constexpr (I + 1 == k_stages) {
                if (m_tokens.give_back(item)) {
                    queue_starter();
                }
            } else {
                hand_on<I + 1>(*item);
            }
            item = next;
        }
    }

    /// Lets another task take the item further.
    template <std::size_t I>
    void hand_on(place& item) noexcept {
        try {
            m_tasks.run({.site = m_site}, [this, &item] {
                const under_signal running(&m_signal);
                carry_items(carry<I>(item));
            });
        } catch (...) {  // no memory
            if (m_tokens.give_back(carry<I>(item))) {
                queue_starter();
            }
        }
    }

    /// Calls the function of a stage, and ends the value before it.
    template <std::size_t I>
    void call_stage(place& item) noexcept {
        if (item.failed) {
            return;
        }
        auto& value = item.template value<I>();
        try {
            if constexpr (I + 1 == k_stages) {
                static_cast<void>(std::invoke(std::get<I>(m_functions), std::move(value)));
            } else {
                using result = typename values::template at<I + 1>;
                ::new (item.template room<I + 1>())
                    result(std::invoke(std::get<I>(m_functions), std::move(value)));
            }
        } catch (...) {
            item.failed = true;
            m_tokens.fail(std::current_exception());
        }
        std::destroy_at(&value);
    }

    const void* m_site;
    const stop_signal& m_signal;
    Source& m_source;
    std::tuple<Functions&...> m_functions;
    pipeline_source m_tokens;
    std::tuple<gate_of<Modes>...> m_gates;
    std::unique_ptr<place[]> m_places;
    task_group m_tasks;  ///< last: its tasks use the others
};

}  // namespace quern::detail
