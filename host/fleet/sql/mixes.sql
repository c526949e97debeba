-- SPDX-License-Identifier: Apache-2.0
-- How far the mix of stacks of each guest is from the mean of all: half of the
-- sum of |p - m| over all stacks, of which p is the guest's share and m the
-- mean one. Each stack that the guest does not have adds m, and all m add up
-- to 1. Guest 0 is none. Its row without a function has what chance alone adds:
-- that times the square root of 1 / (2 pi samples). Its others have the mean
-- share of each function, with what it calls.
SELECT toString(guest) AS number, fn, any(taken),
       if(guest = 0, sum(far), (sum(far) + 1) / 2), sum(mean)
FROM (
  SELECT guest, taken, far, mean,
         arrayJoin(if(guest > 0, [''],
           arrayPushBack(if(empty(found), ['[stack unknown]'],
                            arrayDistinct(found)), ''))) AS fn
  FROM (
    SELECT guest, of AS mix, any(t) AS taken, sum(d) AS far, sum(m) AS mean
    FROM (
      SELECT guest, if(guest = 0, mix, 0) AS of, t, d, m
      FROM (
        SELECT mix, arrayPushBack(groupArray(one), 0) AS guests,
               arrayPushBack(groupArray(taken), 0) AS ts, groupArray(p) AS ps,
               arraySum(ps) / @guests@ AS m, least(m, 1) AS c,
               arrayPushBack(arrayMap(x -> abs(x - m) - m, ps),
                             sqrt(c * (1 - c))) AS ds
        FROM @mix_shares@
        GROUP BY mix
      )
      ARRAY JOIN guests AS guest, ts AS t, ds AS d
    )
    GROUP BY guest, of
  ) AS l
  ALL LEFT JOIN @names@ AS r USING (mix)
)
GROUP BY guest, fn ORDER BY guest, fn
