# Words that every page shares.

rows = { $count ->
    [one] { $count } row
   *[other] { $count } rows
}
columns = { $count ->
    [one] { $count } column
   *[other] { $count } columns
}
people = { $count ->
    [one] { $count } person
   *[other] { $count } people
}
