-- SPDX-License-Identifier: Apache-2.0
-- Boots that are several guests in the same minute: collectors of two hosts
-- have added up the same guest, or two guests are copies of one snapshot. One
-- that has moved to another host is two guests in that minute at most.
SELECT id, max(n), count(), max(collectors)
FROM (
  SELECT id, bucket, uniqExact(guest) AS n,
         arrayStringConcat(arraySort(groupUniqArray(collector)), ', ')
           AS collectors
  FROM (
    SELECT guest, bucket FROM accounts WHERE @where@ GROUP BY guest, bucket
  ) AS l
  GLOBAL ALL INNER JOIN (
    SELECT guest, lower(hex(argMax(boot, seen))) AS id,
           argMax(host, seen) AS collector
    FROM guests WHERE @identity@
    GROUP BY guest HAVING id != '00000000000000000000000000000000'
  ) AS r USING (guest)
  GROUP BY id, bucket HAVING n > 1
)
GROUP BY id ORDER BY id
