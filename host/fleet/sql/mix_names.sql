-- SPDX-License-Identifier: Apache-2.0
-- The names of the stacks of mixes.sql, root first, one a line.
SELECT toString(mix) AS number, arrayStringConcat(found, '\n')
FROM @names@
ORDER BY mix
