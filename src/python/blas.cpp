// SPDX-License-Identifier: BSL-1.0
// The BLAS that NumPy has loaded computes the linear algebra of trees too: results are NumPy's, and
// no second library is needed.
#include "values.hpp"

#include <quern/arrays/blas.hpp>

#include <stdexcept>
#include <string_view>
#include <vector>

#include <link.h>

namespace quern::python {

namespace {

int note_library(dl_phdr_info* info, std::size_t /*size*/, void* found) {
    const std::string_view path = info->dlpi_name != nullptr ? info->dlpi_name : "";
    const std::string_view file = path.substr(path.rfind('/') + 1);
    for (const std::string_view name : {"openblas", "libmkl_rt", "libflexiblas", "libblas"}) {
        if (file.find(name) != std::string_view::npos) {
            static_cast<std::vector<std::string>*>(found)->emplace_back(path);
        }
    }
    return 0;
}

}  // namespace

std::string use_blas_of_numpy() {
    std::vector<std::string> loaded;
    dl_iterate_phdr(note_library, &loaded);
    for (const std::string& path : loaded) {
        try {
            arrays::use_blas_library(path);
            return path;
        } catch (const std::invalid_argument&) {  // another part of a library: the next
        }
    }
    return {};
}

}  // namespace quern::python
