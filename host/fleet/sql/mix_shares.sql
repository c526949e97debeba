-- SPDX-License-Identifier: Apache-2.0
-- Not a query but a part of others, @mix_shares@ in them: the share of each
-- stack, by its names, in each guest.
(
  SELECT guest, mix, own / whole AS p, n
  FROM (
    SELECT guest, cityHash64(arrayStringConcat(path, '\n')) AS mix,
           sum(w) AS own
    FROM @paths guest@
    GROUP BY guest, mix
  ) AS a
  ALL INNER JOIN (
    SELECT guest, sum(weight) AS whole, sum(samples) AS n
    FROM samples WHERE @where@ AND kind = 'time'
    GROUP BY guest HAVING whole > 0
  ) AS b USING (guest)
)
