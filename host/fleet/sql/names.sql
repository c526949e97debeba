-- SPDX-License-Identifier: Apache-2.0
-- Not a query but a part of others, @names@ in them: the functions of each of
-- @mixed@, root first. Not any() of them: that takes lists one element at a
-- time.
(SELECT mix, found FROM @named@ LIMIT 1 BY mix)
