// SPDX-License-Identifier: BSL-1.0
// What is restored is read into an object that exists.
#include <quern/localities/checkpoint.hpp>

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

int main() { return static_cast<int>(quern::localities::restore<person>("people").size()); }
