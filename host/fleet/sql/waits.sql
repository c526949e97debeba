-- SPDX-License-Identifier: Apache-2.0
-- What the tasks of a service waited for: the place that created them, the
-- reason, how often, ns.
SELECT place, reason, sum(times), sum(time)
FROM (
  SELECT build, site AS stack, why AS reason, sum(count) AS times,
         sum(ns) AS time
  FROM waits WHERE @where@ GROUP BY build, site, why
) AS l
ALL LEFT JOIN (
  SELECT build, stack, argMax(names, named)[1] AS place
  FROM stacks
  WHERE build GLOBAL IN (SELECT build FROM waits WHERE @where@)
  GROUP BY build, stack
) AS r USING (build, stack)
GROUP BY place, reason ORDER BY sum(time) DESC, place, reason
