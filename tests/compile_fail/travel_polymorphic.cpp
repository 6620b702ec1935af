// SPDX-License-Identifier: BSL-1.0
// What a pointer to a class with virtual functions points to may be of a derived class.
#include <quern/localities/archive.hpp>

#include <memory>

struct shape {
#ifndef QUERN_MUST_COMPILE
    virtual ~shape() = default;
#endif
    template <class Archive>
    void serialize(Archive& archive) {
        archive(size);
    }
    double size = 0;
};

int main() { quern::localities::require_can_travel<std::unique_ptr<shape>>(); }
