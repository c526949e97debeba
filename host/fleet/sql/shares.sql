-- SPDX-License-Identifier: Apache-2.0
-- The shares of each function in the guests of each build: their sums and the
-- sums of their squares, without and with what it calls. Guests in which a
-- function was not seen are not in these sums, and count as 0.
SELECT lower(hex(build)) AS id, fn, sum(p), sum(p * p), sum(q), sum(q * q),
       sum(seen)
FROM (
  SELECT build, fn, own / whole AS p, below / whole AS q, seen
  FROM (
    SELECT build, guest, fn, sum(w * (fn = leaf)) AS own, sum(w) AS below,
           sum(n) AS seen
    FROM (
      SELECT build, guest, arrayJoin(arrayDistinct(path)) AS fn,
             path[-1] AS leaf, w, n
      FROM @paths guest@
    )
    GROUP BY build, guest, fn
  ) AS a
  ALL INNER JOIN (
    SELECT build, guest, sum(weight) AS whole
    FROM samples WHERE @where@ AND kind = 'time'
    GROUP BY build, guest HAVING whole > 0
  ) AS b USING (build, guest)
)
GROUP BY build, fn ORDER BY fn, id
