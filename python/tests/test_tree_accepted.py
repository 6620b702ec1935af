# SPDX-License-Identifier: BSL-1.0
"""Each construct that trees accept, beside the function itself."""

import pytest
import tree_flow_programs  # noqa: F401  (adds to PROGRAMS)
from tree_programs import PROGRAMS
from tree_support import CORES, copied, on, same, tree


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_same_as_the_function(core, function, args):
    with on(core):
        as_tree = tree(small="tree")(function)
        for _ in range(2):
            own, other = copied(args), copied(args)
            result, expected = as_tree(*own), function(*other)
            assert same(result, expected, exact=core == "reference"), (result, expected)
            assert same(own, other, exact=core == "reference")
