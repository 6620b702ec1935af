// SPDX-License-Identifier: BSL-1.0
#include "values.hpp"

#define QUERN_IMPORTS_NUMPY
#include "numpy_api.hpp"

#include <nanobind/stl/string.h>

#include <quern/arrays/errors.hpp>

#include <cstring>
#include <string>
#include <utility>

namespace quern::python {

namespace nb = nanobind;
using arrays::array;
using arrays::dtype;
using arrays::extents;
using arrays::value;

namespace {

[[noreturn]] void refuse_type(PyObject* descriptor) {
    const std::string name = nb::cast<std::string>(nb::str(nb::handle(descriptor)));
    throw arrays::type_error("an array of " + name +
                             "; accepted: bool, int32, int64, float32, float64");
}

dtype accepted_type(PyArray_Descr* descriptor) {
    const auto type = dtype_of_numpy(descriptor->type_num);
    if (!type) {
        refuse_type(reinterpret_cast<PyObject*>(descriptor));
    }
    return *type;
}

extents extents_of(const npy_intp* values, int count) {
    return extents(std::span<const std::ptrdiff_t>(values, static_cast<std::size_t>(count)));
}

value array_value(PyArrayObject* given) {
    const dtype type = accepted_type(PyArray_DESCR(given));
    if (PyArray_ISALIGNED(given) == 0 || PyArray_ISNOTSWAPPED(given) == 0) {
        const nb::object copy =
            nb::steal(PyArray_FromArray(given, PyArray_DescrFromType(numpy_type_of(type)),
                                        NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ENSURECOPY));
        if (!copy.is_valid()) {
            throw nb::python_error();
        }
        auto* const made = reinterpret_cast<PyArrayObject*>(copy.ptr());
        return array(PyArray_DATA(made), type, extents_of(PyArray_DIMS(made), PyArray_NDIM(made)),
                     extents_of(PyArray_STRIDES(made), PyArray_NDIM(made)), keep(copy.ptr()),
                     false);
    }
    return array(PyArray_DATA(given), type, extents_of(PyArray_DIMS(given), PyArray_NDIM(given)),
                 extents_of(PyArray_STRIDES(given), PyArray_NDIM(given)),
                 keep(reinterpret_cast<PyObject*>(given)), PyArray_ISWRITEABLE(given) != 0);
}

value scalar_value(PyObject* given) {
    const nb::object descriptor =
        nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromScalar(given)));
    const dtype type = accepted_type(reinterpret_cast<PyArray_Descr*>(descriptor.ptr()));
    array made(type, extents());
    PyArray_ScalarAsCtype(given, made.bytes());
    return made;
}

value integer_value(PyObject* given) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(given, &overflow);
    if (overflow != 0) {
        throw std::overflow_error("Python int too large to convert to C long");
    }
    return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> slice_part(PyObject* given) {
    if (given == Py_None) {
        return {};
    }
    const Py_ssize_t number = PyNumber_AsSsize_t(given, nullptr);  // clipped, as Python does
    if (number == -1 && PyErr_Occurred() != nullptr) {
        throw nb::python_error();
    }
    return number;
}

value slice_value(PyObject* given) {
    const auto* const parts = reinterpret_cast<PySliceObject*>(given);
    return arrays::slice{.start = slice_part(parts->start),
                         .stop = slice_part(parts->stop),
                         .step = slice_part(parts->step)};
}

value sequence_value(PyObject* given) {
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(given);
    auto all = std::make_shared<arrays::values>();
    all->reserve(static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
        all->push_back(to_value(PySequence_Fast_GET_ITEM(given, i)));
    }
    return arrays::tuple(std::move(all));
}

/// np.float64, float, np.dtype("int32") …; nothing if it is no type of elements.
std::optional<value> type_value(PyObject* given) {
    if (PyArray_DescrCheck(given) != 0) {
        return value(accepted_type(reinterpret_cast<PyArray_Descr*>(given)));
    }
    if (PyType_Check(given) == 0) {
        return {};
    }
    auto* const type = reinterpret_cast<PyTypeObject*>(given);
    const bool is_builtin = type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type;
    if (!is_builtin && PyType_IsSubtype(type, &PyGenericArrType_Type) == 0) {
        return {};
    }
    PyArray_Descr* found = nullptr;
    if (PyArray_DescrConverter(given, &found) == 0) {
        throw nb::python_error();
    }
    const nb::object owner = nb::steal(reinterpret_cast<PyObject*>(found));
    return value(accepted_type(found));
}

value other_value(PyObject* given) {
    if (PyArray_IsScalar(given, Generic)) {
        return scalar_value(given);
    }
    if (PyTuple_Check(given) != 0 || PyList_Check(given) != 0) {
        return sequence_value(given);
    }
    if (PySlice_Check(given) != 0) {
        return slice_value(given);
    }
    if (given == Py_Ellipsis) {
        return arrays::ellipsis();
    }
    if (PyUnicode_Check(given) != 0) {
        return nb::cast<std::string>(nb::handle(given));
    }
    if (const auto type = type_value(given)) {
        return *type;
    }
    return arrays::foreign{keep(given)};
}

// -- back ----------------------------------------------------------------------------------------

bool is_same(PyArrayObject* object, const array& of) {
    const auto count = static_cast<std::size_t>(PyArray_NDIM(object));
    if (PyArray_DATA(object) != of.bytes() || count != of.dimensions() ||
        dtype_of_numpy(PyArray_TYPE(object)) != of.type()) {
        return false;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const int at = static_cast<int>(i);
        if (PyArray_DIM(object, at) != of.shape()[i] ||
            PyArray_STRIDE(object, at) != of.strides()[i]) {
            return false;
        }
    }
    return true;
}

void delete_owner(PyObject* capsule) {
    delete static_cast<std::shared_ptr<void>*>(PyCapsule_GetPointer(capsule, nullptr));
}

/// A new reference to what keeps the memory alive.
PyObject* base_of(const array& of, PyObject* python_owner) {
    if (python_owner != nullptr) {
        Py_INCREF(python_owner);
        return python_owner;
    }
    auto owner = std::make_unique<std::shared_ptr<void>>(of.owner());
    PyObject* const capsule = PyCapsule_New(owner.get(), nullptr, delete_owner);
    if (capsule == nullptr) {
        throw nb::python_error();
    }
    owner.release();
    return capsule;
}

nb::object array_to_python(const array& of) {
    PyArray_Descr* const type = PyArray_DescrFromType(numpy_type_of(of.type()));
    if (of.dimensions() == 0) {
        const nb::object owner = nb::steal(reinterpret_cast<PyObject*>(type));
        return nb::steal(PyArray_Scalar(of.bytes(), type, nullptr));
    }
    PyObject* const python_owner = object_kept_by(of.owner());
    if (python_owner != nullptr && PyArray_CheckExact(python_owner) &&
        is_same(reinterpret_cast<PyArrayObject*>(python_owner), of)) {
        Py_DECREF(type);
        return nb::borrow(python_owner);
    }
    const nb::object made = nb::steal(PyArray_NewFromDescr(
        &PyArray_Type, type, static_cast<int>(of.dimensions()),
        const_cast<npy_intp*>(of.shape().begin()), const_cast<npy_intp*>(of.strides().begin()),
        of.bytes(), of.is_writable() ? NPY_ARRAY_WRITEABLE : 0, nullptr));
    if (!made.is_valid() || PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(made.ptr()),
                                                  base_of(of, python_owner)) != 0) {
        throw nb::python_error();
    }
    return made;
}

nb::object part_to_python(const std::optional<std::int64_t>& part) {
    return part ? nb::object(nb::int_(*part)) : nb::none();
}

struct to_python_visitor {
    nb::object operator()(const arrays::none&) const { return nb::none(); }
    nb::object operator()(bool of) const { return nb::bool_(of); }
    nb::object operator()(std::int64_t of) const { return nb::int_(of); }
    nb::object operator()(double of) const { return nb::float_(of); }
    nb::object operator()(const std::string& of) const { return nb::str(of.c_str(), of.size()); }
    nb::object operator()(const arrays::slice& of) const {
        return nb::steal(PySlice_New(part_to_python(of.start).ptr(), part_to_python(of.stop).ptr(),
                                     part_to_python(of.step).ptr()));
    }
    nb::object operator()(const arrays::ellipsis&) const { return nb::borrow(Py_Ellipsis); }
    nb::object operator()(dtype of) const {
        return nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(numpy_type_of(of))));
    }
    nb::object operator()(const array& of) const { return array_to_python(of); }
    nb::object operator()(const arrays::tuple& of) const {
        nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(of->size())));
        Py_ssize_t i = 0;
        for (const value& each : *of) {
            PyTuple_SET_ITEM(made.ptr(), i++, to_python(each).release().ptr());
        }
        return made;
    }
    nb::object operator()(const arrays::foreign& of) const {
        return nb::borrow(static_cast<PyObject*>(of.object.get()));
    }
};

}  // namespace

int numpy_type_of(dtype type) noexcept {
    switch (type) {
        case dtype::boolean:
            return NPY_BOOL;
        case dtype::int32:
            return NPY_INT32;
        case dtype::int64:
            return NPY_INT64;
        case dtype::float32:
            return NPY_FLOAT32;
        case dtype::float64:
            break;
    }
    return NPY_FLOAT64;
}

std::optional<dtype> dtype_of_numpy(int type_number) noexcept {
    switch (type_number) {
        case NPY_BOOL:
            return dtype::boolean;
        case NPY_INT:
            return dtype::int32;
        case NPY_LONG:
            return sizeof(long) == 8 ? dtype::int64 : dtype::int32;
        case NPY_LONGLONG:
            return dtype::int64;
        case NPY_FLOAT:
            return dtype::float32;
        case NPY_DOUBLE:
            return dtype::float64;
        default:
            return {};
    }
}

value to_value(nb::handle object) {
    PyObject* const given = object.ptr();
    if (PyArray_Check(given)) {
        return array_value(reinterpret_cast<PyArrayObject*>(given));
    }
    if (PyFloat_CheckExact(given)) {
        return PyFloat_AS_DOUBLE(given);
    }
    if (PyBool_Check(given)) {
        return given == Py_True;
    }
    if (PyLong_CheckExact(given)) {
        return integer_value(given);
    }
    if (given == Py_None) {
        return arrays::none();
    }
    return other_value(given);
}

nb::object to_python(const value& of) {
    return std::visit(
        to_python_visitor(),
        static_cast<
            const std::variant<arrays::none, bool, std::int64_t, double, std::string, arrays::slice,
                               arrays::ellipsis, dtype, array, arrays::tuple, arrays::foreign>&>(
            of));
}

void import_numpy() {
    if (_import_array() < 0 || _import_umath() < 0) {
        throw nb::python_error();
    }
}

}  // namespace quern::python
