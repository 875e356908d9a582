/** Why some changes cannot be told by anybody. */

export const SORTED_AS_STORED =
  'The daily table sorts by the collation of its own column, and so do pages; the view is read for nothing else.'

export const MATCHED = 'A foreign key sees to it that there is one.'
