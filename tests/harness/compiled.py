# SPDX-License-Identifier: Apache-2.0
"""What a compiler read for an object, by the .d file beside it, for suites that
take an object again where nothing that matters to it has changed."""

import functools
import re
from pathlib import Path

_COMMENT = re.compile(r"/\*.*?\*/", re.S)


def read_for(deps):
    """Paths of what the compiler read, the source first; (deps) is the .d file,
    of -MMD, with or without -MP."""
    text = Path(deps).read_text(encoding="utf-8").replace("\\\n", " ")
    return text.partition("\n")[0].partition(": ")[2].split()


@functools.cache
def code(path):
    """The text of a C file without its comments."""
    return _COMMENT.sub("", Path(path).read_text(encoding="utf-8"))
