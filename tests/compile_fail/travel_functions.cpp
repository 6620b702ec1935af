// SPDX-License-Identifier: BSL-1.0
// A class with private members that is not trivially copyable needs functions for serialisation.
#include <quern/localities/archive.hpp>

#include <string>

class person {
public:
    person() = default;

#ifdef QUERN_MUST_COMPILE
    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_name);
    }
#endif

private:
    std::string m_name;
};

int main() { quern::localities::require_can_travel<person>(); }
