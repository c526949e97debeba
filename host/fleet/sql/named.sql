-- SPDX-License-Identifier: Apache-2.0
-- Not a query but a part of others, @named@ in them: the stacks of the builds
-- that were asked for, with their functions, root first, and the number of
-- these. A stack that was sent several times is there as often.
(
  SELECT stack, names AS found,
         cityHash64(arrayStringConcat(names, '\n')) AS mix
  FROM stacks
  WHERE named = 1
    AND build GLOBAL IN (SELECT build FROM accounts WHERE @where@)
)
