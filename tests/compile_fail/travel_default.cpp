// SPDX-License-Identifier: BSL-1.0
// What is read must exist before: it needs a constructor without arguments.
#include <quern/localities/archive.hpp>

class person {
public:
#ifdef QUERN_MUST_COMPILE
    person() = default;
#endif
    explicit person(int age) : m_age(age) {}
    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_age);
    }

private:
    int m_age = 0;
};

int main() { quern::localities::require_can_travel<person>(); }
