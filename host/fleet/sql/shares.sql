-- SPDX-License-Identifier: Apache-2.0
-- The shares of each function in the guests of each build: their sums and the
-- sums of their squares, without and with what it calls. Guests in which a
-- function was not seen are not in these sums, and count as 0. Functions are
-- numbers until the end, like the names of stacks.
SELECT id, if(number = 0, '[stack unknown]', name) AS fn, a, b, c, d, e
FROM (
  SELECT id, number, sum(p) AS a, sum(p * p) AS b, sum(q) AS c,
         sum(q * q) AS d, sum(seen) AS e
  FROM (
    SELECT id, number, own / whole AS p, below / whole AS q, seen
    FROM (
      SELECT lower(hex(build)) AS id, guest, groupArray(fn) AS fns,
             groupArray(self) AS owns, groupArray(total) AS belows,
             groupArray(times) AS seens, sum(self) AS whole
      FROM (
        SELECT build, guest, fn, sum(w * (fn = leaf)) AS self,
               sum(w) AS total, sum(n) AS times
        FROM (
          SELECT build, guest, w, n, leaf,
                 arrayJoin(if(empty(path), [toUInt64(0)], path)) AS fn
          FROM @mixed build,guest@ AS l
          ALL LEFT JOIN (
            SELECT mix, cityHash64(found[-1]) AS leaf,
                   arrayDistinct(arrayMap(x -> cityHash64(x), found)) AS path
            FROM @names@
          ) AS r USING (mix)
        )
        GROUP BY build, guest, fn
      )
      GROUP BY build, guest HAVING whole > 0
    )
    ARRAY JOIN fns AS number, owns AS own, belows AS below, seens AS seen
  )
  GROUP BY id, number
) AS l
ALL LEFT JOIN (
  SELECT cityHash64(each) AS number, any(each) AS name
  FROM (SELECT arrayJoin(found) AS each FROM @names@)
  GROUP BY number
) AS r USING (number)
ORDER BY fn, id
