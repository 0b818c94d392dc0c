# What `print(release)` and `leafcover release` show.

released = { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
} × { $columns ->
    [one] { $columns } column
   *[other] { $columns } columns
} released by { $recipe ->
    [none] your own plan
   *[other] the recipe { $recipe }
}{ $changed ->
    [none] .
   *[other] ; { $changed } of all values differ from the original.
}
dealt = The values of every column were dealt separately: no released row belongs to one person.
leaf-kept = { $share } of the rows are still in the same leaf of the tree for { $target } ({ $leaves ->
    [one] { $leaves } leaf
   *[other] { $leaves } leaves
}).
leaf-kept-forest = On average over { $trees } trees for { $target }, { $mean } of the rows are still in the same leaf; in the tree with the fewest, { $least }.
smallest-cell = The smallest cell has { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
}.
smallest-cell-shuffled = Every column { $empty ->
    [some] with values{" "}
   *[none] {""}
}was shuffled within cells; the smallest cell has { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
}.
singletons = { $share } of the rows are the only row of their cell, so the release discloses what their leaf says about them.
blocks = Columns shuffled as one block: { $blocks }.
refined = Cells were refined by { $columns }.
fixed = The cell discloses the value in at least half of the rows: { $columns }{ $more ->
    [0] .
   *[other] {""} and { $more } more.
}
fixed-column = { $name } ({ $share })
unprotected = Released unchanged, not protected: { $columns }.
no-values = Without any value, so there was nothing to change: { $columns }.
record-linkage = Record linkage: an attacker who knows a person’s quasi-identifiers and the method, everything but the secret key, links that person to the right row in { $risk } of attempts, and in { $worst } for the most exposed 1%.
seeded = Made with a seed: do not publish.
original-order = Rows are in their original order: do not publish.
