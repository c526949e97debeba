-- SPDX-License-Identifier: Apache-2.0
-- What each guest did, as mixes.sql has it, but not how often: to read that too
-- takes a tenth of the query, and the accounts have its sum. In many minutes a
-- guest has the same stacks again and again: they are added up first, by each
-- server, and names are joined by the one that is asked.
SELECT toString(guest) AS number, groupArray(mix), groupArray(w)
FROM (
  SELECT guest, mix, sum(v) AS w
  FROM (
    SELECT guest, stack, sum(weight) AS v
    FROM samples WHERE @where@ AND kind = 'time' GROUP BY guest, stack
  ) AS l
  ALL LEFT JOIN (
    SELECT stack, mix FROM @named@ LIMIT 1 BY stack
  ) AS r USING (stack)
  GROUP BY guest, mix
)
GROUP BY guest ORDER BY guest
