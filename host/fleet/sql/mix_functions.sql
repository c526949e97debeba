-- SPDX-License-Identifier: Apache-2.0
-- The shares of each function, with what it calls, in each of the guests
-- @chosen@, and the sums of those in all others, as guest 0.
SELECT fn, toString(guest) AS number, sum(q)
FROM (
  SELECT arrayJoin(arrayDistinct(path)) AS fn, guest, q
  FROM (
    SELECT guest, q, if(empty(found), ['[stack unknown]'], found) AS path
    FROM (
      SELECT mix, if(one IN (@chosen@), one, 0) AS guest, sum(p) AS q
      FROM @mix_shares@
      GROUP BY mix, guest
    ) AS l
    ALL LEFT JOIN @names@ AS r USING (mix)
  )
)
GROUP BY fn, guest ORDER BY fn, guest
