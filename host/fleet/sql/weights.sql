-- SPDX-License-Identifier: Apache-2.0
-- What each guest did, as mixes.sql has it, but for how often: to read that too
-- is a tenth of the query, and the accounts have its sum.
SELECT toString(guest) AS number, groupArray(mix), groupArray(w)
FROM (
  SELECT guest, mix, sum(weight) AS w
  FROM samples AS l
  GLOBAL ALL LEFT JOIN (
    SELECT stack, mix FROM @named@ LIMIT 1 BY stack
  ) AS r USING (stack)
  WHERE @where@ AND kind = 'time'
  GROUP BY guest, mix
)
GROUP BY guest ORDER BY guest
