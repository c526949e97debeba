-- SPDX-License-Identifier: Apache-2.0
-- Not a query but a part of others, @paths@ in them: the samples that were
-- asked for by build and stack, and by @key@ too, with the names of their
-- functions, root first.
(
  SELECT @key@ build, w, n,
         if(empty(found), ['[stack unknown]'], found) AS path
  FROM (
    SELECT @key@ build, stack, sum(weight) AS w, sum(samples) AS n
    FROM samples WHERE @where@ AND kind = 'time' GROUP BY @key@ build, stack
  ) AS l
  ALL LEFT JOIN (
    SELECT build, stack, argMax(names, named) AS found FROM stacks
    WHERE build GLOBAL IN (SELECT build FROM accounts WHERE @where@)
    GROUP BY build, stack
  ) AS r USING (build, stack)
)
