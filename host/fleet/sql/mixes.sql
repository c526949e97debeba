-- SPDX-License-Identifier: Apache-2.0
-- How far the mix of stacks of each guest is from the mean of all: half of the
-- sum of |p - m| over all stacks, of which p is the guest's share and m the
-- mean one. Each stack that the guest does not have adds m, and all m add up
-- to 1. The row of guest 0, which is none, has what chance alone adds: that
-- times the square root of 1 / (2 pi samples).
SELECT toString(guest) AS number, any(t),
       if(guest = 0, sum(d), (sum(d) + 1) / 2)
FROM (
  SELECT guest, t, d
  FROM (
    SELECT arrayPushBack(groupArray(one), 0) AS guests,
           arrayPushBack(groupArray(taken), 0) AS ts, groupArray(p) AS ps,
           arraySum(ps) / @guests@ AS m, least(m, 1) AS c,
           arrayPushBack(arrayMap(x -> abs(x - m) - m, ps), sqrt(c * (1 - c)))
             AS ds
    FROM @mix_shares@
    GROUP BY mix
  )
  ARRAY JOIN guests AS guest, ts AS t, ds AS d
)
GROUP BY guest ORDER BY guest
