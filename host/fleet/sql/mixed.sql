-- SPDX-License-Identifier: Apache-2.0
-- Not a query but a part of others, @mixed@ in them: the samples that were
-- asked for by the names of their stacks, as one number, and by @key@ too. So
-- names are not copied for every guest, and what is called alike in all builds
-- is one row. No two builds have the same stack, by its number.
(
  SELECT @key@ mix, sum(v) AS w, sum(k) AS n
  FROM (
    SELECT @key@ stack, sum(weight) AS v, sum(samples) AS k
    FROM samples WHERE @where@ AND kind = 'time' GROUP BY @key@ stack
  ) AS l
  ALL LEFT JOIN (
    SELECT stack, mix FROM @named@ LIMIT 1 BY stack
  ) AS r USING (stack)
  GROUP BY @key@ mix
)
