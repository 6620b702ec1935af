// SPDX-License-Identifier: BSL-1.0
// What localities tell each other about a global object, and what an object_record asks its owner
// to do. Protocol: src/localities/README.md, section "Objects".
#pragma once

#include <quern/base/detail/config.hpp>

#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

namespace quern::localities::detail {

/// One who calls an object: a locality, from when it gets a reference to when it has none.
struct object_caller {
    std::int64_t locality = 0;
    std::uint64_t number = 0;  ///< of the locality's, for all objects together; it grows
    friend auto operator<=>(const object_caller&, const object_caller&) = default;
};

/// Where an object has been after so many moves. The larger number is the later one.
struct object_place {
    std::int32_t locality = 0;
    std::uint32_t moves = 0;
    friend auto operator<=>(const object_place&, const object_place&) = default;
};

enum class object_message_kind : std::uint8_t {
    // Of a caller, numbered by it. They follow the object, and take their turn there.
    begin,  ///< the first: the caller is there
    call,
    move,  ///< to the locality `to`
    end,   ///< the last: the caller has no reference any more

    // To a locality.
    has_begun,  ///< to the caller: its `begin` has been counted
    has_come,   ///< to the sender of a reference: the receiver is a caller
    is_at,      ///< to a caller whose message went to another place than the object's

    // Of a move, whose new place is `place`.
    prepare,      ///< from the old place to the new one
    is_prepared,  ///< from the new place to the home
    is_known,     ///< from the home to the old place
    arrive,       ///< from the old place to the new one, with the object
    has_arrived,  ///< from the new place to the old one
    is_refused,   ///< the same: the object could not be read
    is_gone,      ///< to the home: there is no object any more
};

/// `Payload` is what a call is, or an object that moves. Movable.
template <class Payload>
struct object_message {
    object_message_kind kind{};
    bool is_shared = false;     ///< a call that runs beside others like it
    bool is_forwarded = false;  ///< it has been where the object was not
    std::int32_t from = 0;      ///< the locality that is answered, of those that have no caller
    object_caller caller{};
    std::uint64_t turn = 0;    ///< the caller's number of it, from 0
    object_place place{};      ///< for a caller's: where it was sent to
    std::int32_t to = 0;       ///< of a move: the new locality
    std::uint64_t answer = 0;  ///< of a move: what its caller knows it by
    /// Of `arrive`: the callers, and the number of the next message of each.
    std::vector<std::pair<object_caller, std::uint64_t>> callers{};
    Payload payload{};
    friend auto operator<=>(const object_message&, const object_message&) = default;
};

/// What the owner of a record has to do.
template <class Payload>
struct object_action {
    enum class kind : std::uint8_t {
        send,          ///< the message, to `to`
        run,           ///< the message's call; then has_run()
        pack,          ///< send the message `arrive`, with the object, which stays until an answer
        discard,       ///< the object, which is elsewhere now, or has no caller left
        is_moved,      ///< tell the caller of the message, a `move`, that it is done
        is_not_moved,  ///< the same: that it has failed; the payload is that of `is_refused`
    };
    kind what{};
    std::int32_t to = 0;
    object_message<Payload> message{};
    friend auto operator<=>(const object_action&, const object_action&) = default;
};

}  // namespace quern::localities::detail
