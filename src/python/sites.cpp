// SPDX-License-Identifier: BSL-1.0
// Python functions as places in the source, for reports, profiles and recordings.
#include "running.hpp"

#include <quern/scheduler/sites.hpp>

#include <unordered_map>

namespace quern::python {

namespace {

std::string text_of(PyObject* object, const char* attribute) {
    PyObject* const found = PyObject_GetAttrString(object, attribute);
    if (found == nullptr) {
        PyErr_Clear();
        return {};
    }
    const char* const text = PyUnicode_Check(found) != 0 ? PyUnicode_AsUTF8(found) : nullptr;
    std::string copy = text != nullptr ? text : "";
    PyErr_Clear();
    Py_DECREF(found);
    return copy;
}

/// The code of a function, also behind a bound method, functools.partial and a decorator that
/// keeps __wrapped__. A new reference, or null.
PyObject* code_of(PyObject* function) {
    Py_INCREF(function);
    for (int depth = 0; depth < 8; ++depth) {
        if (PyFunction_Check(function) != 0) {
            PyObject* const wrapped = PyObject_GetAttrString(function, "__wrapped__");
            if (wrapped == nullptr) {
                PyErr_Clear();
                PyObject* const code = PyFunction_GetCode(function);
                Py_INCREF(code);
                Py_DECREF(function);
                return code;
            }
            Py_SETREF(function, wrapped);
            continue;
        }
        PyObject* inner = nullptr;
        for (const char* name : {"__func__", "func", "__wrapped__"}) {
            inner = PyObject_GetAttrString(function, name);
            if (inner != nullptr) {
                break;
            }
            PyErr_Clear();
        }
        Py_SETREF(function, inner);
        if (function == nullptr) {
            return nullptr;
        }
    }
    Py_DECREF(function);
    return nullptr;
}

const void* register_code(PyObject* code) {
    const std::string name = text_of(code, "co_qualname");
    const std::string file = text_of(code, "co_filename");
    const int line = reinterpret_cast<PyCodeObject*>(code)->co_firstlineno;
    return register_site({.language = "Python",
                          .function = name.empty() ? "a function" : name,
                          .file = file,
                          .line = line > 0 ? line : 0});
}

}  // namespace

const void* site_of(PyObject* function) {
    // Codes stay alive, so that none gets the address of another.
    static auto* const known = new std::unordered_map<PyObject*, const void*>();
    PyObject* key = PyFunction_Check(function) != 0 ? PyFunction_GET_CODE(function) : nullptr;
    if (const auto found = known->find(key); found != known->end()) {
        return found->second;
    }
    key = code_of(function);
    if (key == nullptr) {
        const std::string name = text_of(function, "__qualname__");
        return register_site(
            {.language = "Python", .function = name.empty() ? Py_TYPE(function)->tp_name : name});
    }
    const auto [place, is_new] = known->try_emplace(key, nullptr);
    if (is_new) {
        place->second = register_code(key);
    } else {
        Py_DECREF(key);
    }
    return place->second;
}

}  // namespace quern::python
