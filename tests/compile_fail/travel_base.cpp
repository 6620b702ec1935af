// SPDX-License-Identifier: BSL-1.0
// An aggregate with a base class cannot be taken apart.
#include <quern/localities/archive.hpp>

#include <cereal/types/base_class.hpp>

struct being {
    int age;
};

struct person : being {
    int height;
#ifdef QUERN_MUST_COMPILE
    template <class Archive>
    void serialize(Archive& archive) {
        archive(cereal::base_class<being>(this), height);
    }
#endif
};

int main() { quern::localities::require_can_travel<person>(); }
