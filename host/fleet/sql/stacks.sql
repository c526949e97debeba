-- SPDX-License-Identifier: Apache-2.0
-- The stacks of each minute, root first, one name a line.
SELECT toUInt32(bucket) AS at, arrayStringConcat(path, '\n') AS folded,
       sum(n), sum(w)
FROM @paths bucket@
GROUP BY at, folded ORDER BY at, folded
