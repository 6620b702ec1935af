// SPDX-License-Identifier: BSL-1.0
// NumPy's own inner loops as the kernels of the layer arrays: values are NumPy's to the bit, and
// vectorised as NumPy is.
#include "numpy_api.hpp"
#include "values.hpp"

#include <quern/arrays/kernels.hpp>

#include <string>

namespace quern::python {

namespace {

namespace nb = nanobind;

/// Integers to a negative power raise in NumPy's loop, which no worker could do.
bool may_raise(const arrays::kernel_signature& loop) noexcept {
    return loop.name == "power" && !arrays::is_float(loop.output);
}

bool fits(const PyUFuncObject& ufunc, int row, const arrays::kernel_signature& wanted) noexcept {
    const char* const types = ufunc.types + row * ufunc.nargs;
    for (std::size_t i = 0; i < wanted.inputs.size(); ++i) {
        if (dtype_of_numpy(types[i]) != wanted.inputs[i]) {
            return false;
        }
    }
    return dtype_of_numpy(types[wanted.inputs.size()]) == wanted.output;
}

bool use_loop_of(const PyUFuncObject& ufunc, const arrays::kernel_signature& wanted) {
    if (ufunc.nout != 1 || static_cast<std::size_t>(ufunc.nin) != wanted.inputs.size() ||
        ufunc.types == nullptr || ufunc.functions == nullptr) {
        return false;
    }
    for (int row = 0; row < ufunc.ntypes; ++row) {
        if (ufunc.functions[row] != nullptr && fits(ufunc, row, wanted)) {
            void* const data = ufunc.data != nullptr ? ufunc.data[row] : nullptr;
            return arrays::replace_kernel(wanted.name, wanted.inputs, wanted.output,
                                          ufunc.functions[row], data);
        }
    }
    return false;
}

}  // namespace

int use_loops_of_numpy() {
    const nb::module_ numpy = nb::module_::import_("numpy");
    int used = 0;
    for (const arrays::kernel_signature& each : arrays::replaceable_kernels()) {
        const nb::object found = nb::getattr(numpy, std::string(each.name).c_str(), nb::none());
        if (!may_raise(each) && PyObject_TypeCheck(found.ptr(), &PyUFunc_Type) &&
            use_loop_of(*reinterpret_cast<PyUFuncObject*>(found.ptr()), each)) {
            ++used;
        }
    }
    return used;
}

}  // namespace quern::python
