-- SPDX-License-Identifier: Apache-2.0
-- Not a query but a part of others, @paths@ in them: the samples that were
-- asked for, by @key@ and the names of their functions, root first.
(
  SELECT @key@ w, n, if(empty(found), ['[stack unknown]'], found) AS path
  FROM @mixed@ AS l ALL LEFT JOIN @names@ AS r USING (mix)
)
