-- SPDX-License-Identifier: Apache-2.0
-- What each guest did: how often each stack, by its names as one number, and
-- for how long. A list for each guest, since its rows would be as many as its
-- stacks. Names are joined first, which leaves fewer rows to add up: many
-- stacks have the same names. GLOBAL has each server do its part of it. This is
-- for few minutes; weights.sql does it the other way round.
SELECT toString(guest) AS number, groupArray(mix), groupArray(w), groupArray(n)
FROM (
  SELECT guest, mix, sum(weight) AS w, sum(samples) AS n
  FROM samples AS l
  GLOBAL ALL LEFT JOIN (
    SELECT stack, mix FROM @named@ LIMIT 1 BY stack
  ) AS r USING (stack)
  WHERE @where@ AND kind = 'time'
  GROUP BY guest, mix
)
GROUP BY guest ORDER BY guest
