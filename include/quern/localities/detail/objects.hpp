// SPDX-License-Identifier: BSL-1.0
// Global objects, without their types: names, references, and what the layer needs of a type and of
// a call. The rest is in src/localities. Protocol: src/localities/README.md, section "Objects".
#pragma once

#include <quern/localities/detail/parcel.hpp>
#include <quern/localities/remote_error.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <typeinfo>
#include <utility>

namespace quern::localities {

/// The name of a global object: the locality that made it, and its number there. The same at all
/// localities, for as long as the object lives, and never used again in the session.
struct object_name {
    std::uint64_t home = 0;
    std::uint64_t serial = 0;  ///< 0: no object
    friend auto operator<=>(const object_name&, const object_name&) = default;
};

}  // namespace quern::localities

template <>
struct std::hash<quern::localities::object_name> {
    std::size_t operator()(const quern::localities::object_name& one) const noexcept {
        return static_cast<std::size_t>((one.serial * 0x9E3779B97F4A7C15ULL) ^ one.home);
    }
};

namespace quern::localities::detail {

/// What a locality does with the objects of one type.
struct object_type {
    const std::type_info& info;
    void (*destroy)(void* object) noexcept;
    /// For a move: chunks point into the object. Null: the type cannot travel, so it never moves.
    void (*write)(outgoing_parcel& into, const void* object);
    /// Makes one of what write() wrote. Or null.
    void* (*read)(arrived_parcel& from);
};
/// Its address is that of code, so that it can be told to other localities.
using object_type_function = const object_type& (*)();

/// Reads a call of an object, calls it there and answers. Errors as of an action_function.
using object_function = void (*)(arrived_parcel& parcel, void* object);

/// A call that waits for its turn.
class object_call {
public:
    object_call() = default;
    object_call(const object_call&) = delete;
    object_call& operator=(const object_call&) = delete;
    virtual ~object_call() = default;

    /// Calls, and answers. Without an answer an exception is as one of a posted task.
    virtual void run(void* object) noexcept = 0;

    /// What goes to another locality instead. The call is then the receiver's.
    struct contents {
        code_place action = 0;
        std::uint64_t answer = 0;  ///< the number of a waiting_call of the caller, or 0
        outgoing_parcel parcel{};
    };
    virtual std::unique_ptr<contents> take_contents() = 0;
};

class object_entry;

/// A call of an object that is here, while it runs.
class object_turn {
public:
    object_turn() noexcept = default;
    object_turn(object_entry& of, void* object, bool is_shared) noexcept
        : m_entry(&of), m_object(object), m_is_shared(is_shared) {}
    object_turn(object_turn&& other) noexcept
        : m_entry(std::exchange(other.m_entry, nullptr)),
          m_object(other.m_object),
          m_begun(other.m_begun),
          m_is_shared(other.m_is_shared) {}
    object_turn& operator=(object_turn&&) = delete;
    ~object_turn();

    explicit operator bool() const noexcept { return m_entry != nullptr; }
    void* object() const noexcept { return m_object; }
    /// The call begins to run.
    void begins() noexcept;

private:
    object_entry* m_entry = nullptr;
    void* m_object = nullptr;
    std::uint64_t m_begun = 0;  ///< in ticks; 0: not measured
    bool m_is_shared = false;
};

/// A counted reference to a global object, or none. Copied and destroyed by any thread.
class object_reference {
public:
    object_reference() noexcept = default;
    object_reference(const object_reference& other) noexcept;
    object_reference(object_reference&& other) noexcept
        : m_entry(std::exchange(other.m_entry, nullptr)) {}
    object_reference& operator=(object_reference other) noexcept {
        std::swap(m_entry, other.m_entry);
        return *this;
    }
    ~object_reference();

    /// A new object at this locality, which is its home, and the first reference.
    static object_reference make(job& of, object_type_function type, void* object);

    bool refers() const noexcept { return m_entry != nullptr; }
    object_name name() const noexcept;
    /// Where the object was when this locality last heard of it.
    int place() const noexcept;
    /// A turn for a call that runs at once, and must be run; or none: it is elsewhere, or others
    /// come first. The caller keeps the session from its end (counted_call). Throws
    /// std::logic_error without an object or a session.
    object_turn begin_here(bool is_shared, const char* function) const;
    /// A call takes its turn. Throws std::logic_error without a session.
    void call(std::unique_ptr<object_call> one, bool is_shared, const char* function) const;
    /// The object moves when it is this call's turn. `answer`: of a waiting_call<void>.
    void move(int to, std::uint64_t answer) const;

    // How a reference travels.
    struct travelling {
        object_name name{};
        std::int32_t lender = 0;
        std::int32_t locality = 0;  ///< where the object was
        std::uint32_t moves = 0;    ///< after so many moves
        std::uint32_t reserved = 0;
        code_place type = 0;
    };
    /// Each must be received once.
    travelling lend() const;
    static object_reference receive(const travelling& from);
    /// The object's type; null without an object.
    object_type_function type() const noexcept;

private:
    /// Throws std::logic_error if it is not the present session's.
    job& its_job(const char* function) const;

    explicit object_reference(object_entry* entry) noexcept : m_entry(entry) {}
    object_entry* m_entry = nullptr;
};

/// Throws std::logic_error: the reference refers to no object.
[[noreturn]] void refuse_no_object(const char* function);
/// Throws std::invalid_argument: `name` is of another type.
[[noreturn]] void refuse_type(object_name name, const std::type_info& is,
                              const std::type_info& wanted);

}  // namespace quern::localities::detail
