-- SPDX-License-Identifier: Apache-2.0
-- The shares of each function, with what it calls, in each guest.
SELECT fn, toString(guest) AS number, sum(p)
FROM (
  SELECT one AS guest, p,
         arrayJoin(if(empty(found), ['[stack unknown]'],
                      arrayDistinct(found))) AS fn
  FROM @mix_shares@ AS l ALL LEFT JOIN @names@ AS r USING (mix)
)
GROUP BY fn, guest ORDER BY fn, guest
