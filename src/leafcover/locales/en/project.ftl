# The comments of a project file as `leafcover init` writes it, and what the command says.

head-1 = How { $file } is released: what, for whom and how. Change what you like; commands keep your comments.
head-2 = leafcover inspect: look at the table. leafcover release: write the released table and its report. leafcover verify: check the files.
head-3 = "?" marks what only you can decide: nothing is released before. Paths start from the folder of this file.
head-4 = A key, a seed or a password never belongs here. The page “A project file” of the documentation explains every key.
about-title = the table’s name in the report
about-audience = "public" (anybody may get the table) or "researchers" (known, and bound by an agreement): sets the limits below
about-target = the column that readers will predict: its rules are kept best{ $columns ->
    [none] {""}
   *[other] . With few values: { $columns }
}
about-file = { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
}, { $columns ->
    [one] { $columns } column
   *[other] { $columns } columns
} when this file was made
about-category = read as categories: codes with leading zeros, numbers among texts, or named by you
about-missing = texts or codes that mean a missing value, in columns of numbers
read-warning = When it was read: { $warning }

columns-1 = "" is released and protected. Others: "drop"; "unit" (whose the rows are); "weight" (of a survey); "unchanged" (not protected);
columns-2 = "sensitive" (must not be inferred); "quasi-identifier" (an attacker may know it). Of these two none was guessed: then attackers
columns-3 = know every column but the one they infer, and no column may be inferred. That is the strictest assumption.
about-column = { $kind }, { $values ->
    [one] { $values } value
   *[other] { $values } values
}
why-drop = looks like an identifier: { $reason }. Or "unchanged", or "sensitive" if it describes people
why-unit = looks like the id of a person or household: { $reason }. Leaves as new numbers; or "drop"
why-weight = named like a survey weight; or ""
why-missing = { $tokens } means a missing value, and the others are numbers; if they are codes, name the column under category
why-missing-codes = { $codes }: labels of the file say so, read as missing; remove it from missing if it is a value
why-category = { $reason ->
    [zeros] has leading zeros, as codes have
   *[mixed] has numbers and texts
}: read as a category
doubt-codes = if these are codes, name the column under category: numbers that fewer than { $fewest } rows hold become their neighbours
why-bins = { $classes } classes of equal size guide the trees; it leaves as a number
doubt-identifier = may be an identifier: { $reason }. Then "drop"
doubt-weight = if it is a survey weight: "weight"
doubt-unit = may say whose the rows are, because { $reason }
decide-unit = "unit", "drop" or "": { $reason }
found-rules = { $count ->
    [one] one rule between columns was found
   *[other] { $count } rules between columns were found
} and will be kept
found-rare = { $count ->
    [one] one level that fewer than 5 people have
   *[other] { $count } levels that fewer than 5 people have
} will be pooled
and-more = and { $count } more

about-recipe = our own; `leafcover recipes` lists others, `leafcover sweep --save` compares them and chooses
about-settings = larger leaves protect more and keep less; `leafcover recipes` lists all settings
about-rules = keeps relations between columns: { $count ->
    [0] none was found
    [one] one was found, and leafcover inspect shows it
   *[other] { $count } were found, and leafcover inspect shows them
}. rules = ["a <= b"] demands more
about-rare = levels that fewer than 5 people have become one{ $columns ->
    [none] ; no column has any now
   *[other] : now in { $columns }
}. Or "allow", "refuse"
about-unit-numbers = new numbers say which rows belong together; or false
about-weights = keeps totals; or "classes", "drop"
about-hold-out = releases a secret sample, measured on those left out: better against attackers who know nearly everybody
about-limits = The audience sets these figures. A line of your own overrides one: max_risk or max_singletons here; share or settings = { "{" } k = 20 { "}" } under [method].
about-table = the suffix decides the format; its manifests are written beside it
about-report = yours; the one to publish ends in .external.html. Without this line a release is faster: leafcover report writes it later
about-ledger = .leafcover beside this file remembers who was released, by keyed marks, and refuses to release them again; or false
about-key-file = keeps the secret key, to repeat the release byte for byte; guard it like the original
about-publish-tree = shows plan and tree in the public report; their cuts are values of the original

# What `leafcover init` and other commands print.

made = Made { $file }.
made-undecided = Decide in that file, where "?" stands:
made-next = Next: leafcover inspect, then leafcover release.
report-exists = The report of this release was written already. Write it again with force=True.
