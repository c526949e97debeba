-- SPDX-License-Identifier: Apache-2.0
-- How far the mix of stacks of each guest is from the mean of all: half of the
-- sum of |p - m| over all stacks. Each stack that the guest does not have adds
-- m, and all m add up to 1.
SELECT toString(guest) AS number, any(taken),
       (sum(abs(p - m) - m) + 1) / 2
FROM (
  SELECT g AS guest, s AS p, t AS taken, m
  FROM (
    SELECT mix, sum(p) / @guests@ AS m, groupArray(guest) AS gs,
           groupArray(p) AS ps, groupArray(n) AS ts
    FROM @mix_shares@
    GROUP BY mix
  )
  ARRAY JOIN gs AS g, ps AS s, ts AS t
)
GROUP BY guest ORDER BY guest
