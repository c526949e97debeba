# SPDX-License-Identifier: Apache-2.0
"""Loop occupancy of guests."""


def test(s):
    s.note("to come")
