# SPDX-License-Identifier: BSL-1.0
"""detail/not_included.hpp names every parallel algorithm and its header. Usage: check_names.py <folder of the headers>"""

import pathlib
import re
import sys

FOLDER = pathlib.Path(sys.argv[1])


def algorithms_of(header):
    """The public functions that take a policy first."""
    text = re.sub(r"namespace detail \{.*?\}  // namespace detail", "", header.read_text(), flags=re.DOTALL)
    return {(name, header.name) for name in re.findall(r"QUERN_ALWAYS_INLINE auto (\w+)\(Policy&&", text)}


def main():
    there = set().union(*(algorithms_of(header) for header in FOLDER.glob("*.hpp")))
    text = (FOLDER / "detail" / "not_included.hpp").read_text()
    named = set(re.findall(r'^QUERN_NOT_INCLUDED\((\w+), "([a-z_.]+)"\)', text, flags=re.MULTILINE))
    for name, header in sorted(there ^ named):
        print(f"{name} of {header}: {'not named' if (name, header) in there else 'does not exist'}")
    print(f"{len(there)} algorithms")
    return 0 if there and there == named else 1


sys.exit(main())
