// SPDX-License-Identifier: BSL-1.0
// hpx::program_options::value: converts the text of an option to a value; its errors.
#pragma once

#include <quern/base/detail/config.hpp>

#include <any>
#include <functional>
#include <ios>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpx::program_options {

/// An error in a command line; `what()` names the option.
class error : public std::logic_error {
public:
    using std::logic_error::logic_error;
};
class unknown_option : public error {
public:
    explicit unknown_option(const std::string& name)
        : error("unrecognised option '" + name + "'") {}
};
class invalid_option_value : public error {
public:
    invalid_option_value(const std::string& name, const std::string& value)
        : error("the argument ('" + value + "') for option '" + name + "' is invalid") {}
};
class required_option : public error {
public:
    explicit required_option(const std::string& name)
        : error("the option '" + name + "' is required but missing") {}
};

namespace detail {

template <class T>
bool parse(const std::string& text, T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
        value = text;
        return true;
    } else if constexpr (std::is_same_v<T, bool>) {
        value = text == "1" || text == "true" || text == "yes" || text == "on";
        return value || text == "0" || text == "false" || text == "no" || text == "off";
    } else {
        std::istringstream in(text);
        in >> value;
        return !in.fail() && (in >> std::ws).eof() &&
               !(std::is_unsigned_v<T> && text.find('-') != std::string::npos);
    }
}

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};

}  // namespace detail

/// Converts the text of an option to a value. Made by value<T>().
class value_semantic {
public:
    virtual ~value_semantic() = default;
    /// Throws invalid_option_value.
    virtual void parse(std::any& into, const std::string& name, const std::string& text) const = 0;
    virtual void notify(const std::any& value) const = 0;

    bool takes_value = true;
    bool takes_many = false;
    bool required = false;
    std::any fallback, implied;  ///< without the option; with it but without a value
    std::string fallback_text;
};

template <class T>
class typed_value : public value_semantic {
public:
    explicit typed_value(T* store_to) : m_store_to(store_to) {}

    typed_value* default_value(const T& v) { return default_value(v, text_of(v)); }
    typed_value* default_value(const T& v, const std::string& text) {
        fallback = v;
        fallback_text = text;
        return this;
    }
    typed_value* implicit_value(const T& v) {
        implied = v;
        return this;
    }
    typed_value* implicit_value(const T& v, const std::string&) { return implicit_value(v); }
    typed_value* notifier(std::function<void(const T&)> f) {
        m_notifier = std::move(f);
        return this;
    }
    typed_value* composing() { return this; }
    typed_value* multitoken() {
        takes_many = true;
        return this;
    }
    typed_value* zero_tokens() {
        takes_value = false;
        return this;
    }
    typed_value* required() {
        value_semantic::required = true;
        return this;
    }
    typed_value* value_name(const std::string&) { return this; }

    void parse(std::any& into, const std::string& name, const std::string& text) const override {
        bool fine = true;
        if constexpr (detail::is_vector<T>::value) {
            typename T::value_type each{};
            fine = detail::parse(text, each);
            if (!into.has_value()) {
                into = T();
            }
            std::any_cast<T&>(into).push_back(std::move(each));
        } else {
            T v{};
            fine = detail::parse(text, v);
            into = std::move(v);
        }
        if (!fine) {
            throw invalid_option_value("--" + name, text);
        }
    }
    void notify(const std::any& value) const override {
        const T& v = std::any_cast<const T&>(value);
        if (m_store_to != nullptr) {
            *m_store_to = v;
        }
        if (m_notifier) {
            m_notifier(v);
        }
    }

private:
    static std::string text_of(const T& v) {
        if constexpr (requires(std::ostream & out) { out << v; }) {
            std::ostringstream out;
            out << v;
            return out.str();
        } else {
            return {};
        }
    }

    T* m_store_to;
    std::function<void(const T&)> m_notifier;
};

template <class T>
typed_value<T>* value(T* store_to = nullptr) {
    return new typed_value<T>(store_to);
}
inline typed_value<bool>* bool_switch(bool* store_to = nullptr) {
    typed_value<bool>* made = value<bool>(store_to)->default_value(false, "")->zero_tokens();
    return made->implicit_value(true);
}

}  // namespace hpx::program_options
