# SPDX-License-Identifier: BSL-1.0
"""The entry of the package when its folder is executed: python3 FOLDER QUERN SUBCOMMAND ARGUMENT...

QUERN is the path of the calling command. Python before 3.11 must be able to read this file."""

import os
import sys

if sys.version_info < (3, 11):
    sys.stderr.write("quern: this subcommand needs Python 3.11 or newer; python3 is %s, version %d.%d\n"
                     % ((sys.executable,) + tuple(sys.version_info[:2])))
    sys.exit(1)

# The folder above instead of this one: modules here must not hide those of the standard library.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from pragmas import command  # noqa: E402

sys.exit(command.main(sys.argv[2:]))
