-- SPDX-License-Identifier: Apache-2.0
-- The stacks of each build, root first, one name a line; samples and
-- nanoseconds.
SELECT lower(hex(build)) AS id, arrayStringConcat(path, '\n') AS folded, sum(n),
       sum(w) * 100
FROM @paths build@
GROUP BY build, folded ORDER BY id, folded
