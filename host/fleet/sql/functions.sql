-- SPDX-License-Identifier: Apache-2.0
-- The functions of a service: nanoseconds and samples, without and with what
-- each calls.
SELECT fn, sum(w * (fn = leaf)) * 100, sum(w) * 100, sum(n * (fn = leaf)),
       sum(n)
FROM (
  SELECT arrayJoin(arrayDistinct(path)) AS fn, path[-1] AS leaf, w, n
  FROM @paths@
)
GROUP BY fn ORDER BY fn
