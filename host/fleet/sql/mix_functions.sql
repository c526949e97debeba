-- SPDX-License-Identifier: Apache-2.0
-- The share of each function, with what it calls, in guest @guest@ and in the
-- mean of all guests.
SELECT fn, sum(q * (guest = @guest@)), sum(q) / @guests@
FROM (
  SELECT guest, fn, below / whole AS q
  FROM (
    SELECT guest, fn, sum(w) AS below
    FROM (
      SELECT guest, arrayJoin(arrayDistinct(path)) AS fn, w
      FROM @paths guest@
    )
    GROUP BY guest, fn
  ) AS a
  ALL INNER JOIN (
    SELECT guest, sum(weight) AS whole
    FROM samples WHERE @where@ AND kind = 'time'
    GROUP BY guest HAVING whole > 0
  ) AS b USING (guest)
)
GROUP BY fn ORDER BY fn
