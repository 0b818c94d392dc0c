# The comments of a project file as `leafcover init` writes it, and what the command says.

head-1 = The release of { $file }: what is released, how, and for whom. Change what you like; commands keep your comments.
head-2 =   leafcover inspect   looks at the table            leafcover release   writes the released table and its report
head-3 =   leafcover sweep     compares other methods        leafcover verify    checks the files before you give them away
head-4 = "?" marks what only you can decide; nothing is released before. The page “A project file” of the documentation has every key.
head-5 = Paths start from the folder of this file. A key, a seed or a password never belongs here.
about-title = the table’s name in the report
about-audience = who gets the release: "public" (anybody) or "researchers" (known, and bound by an agreement); it sets the limits below
about-target = the column that readers will predict: its rules are kept best
about-file = { $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
}, { $columns ->
    [one] { $columns } column
   *[other] { $columns } columns
} when this file was made
about-category = read as categories: their numbers have leading zeros, as codes have, or you asked for it
read-warning = When it was read: { $warning }

columns-1 = "" is released and protected. Or "drop"; "unit": whose the rows are; "weight": of a survey; "unchanged": not protected;
columns-2 = "sensitive": must not be inferred; "quasi-identifier": an attacker may know it.
columns-3 = No quasi-identifier and no sensitive column was guessed: without them, attackers know every column but the one they infer,
columns-4 = and no column may be inferred. That is the strictest assumption; naming some makes the measured attacks weaker.
about-column = { $kind }, { $values ->
    [one] { $values } value
   *[other] { $values } values
}
why-drop = looks like an identifier: { $reason }; or "unchanged", or "sensitive" if it says something about people
why-unit = looks like the id of a person or household: { $reason }; released as new numbers; or "drop"
why-weight = named like a survey weight; or "" if it is something else
why-category = has leading zeros, as codes have: read as a category
why-bins = grouped into { $classes } classes of equal size for the trees; it is still released as a number
doubt-identifier = may be an identifier: { $reason }; then "drop"
doubt-weight = if this is a survey weight: "weight"
decide-audience = decide: "public" (anybody may get it) or "researchers" (known, and bound by an agreement); it sets the limits below
decide-target = decide: the column that readers will predict, whose rules are kept best{ $columns ->
    [none] .
   *[other] ; with few values: { $columns }
}
decide-unit = decide: "unit" or "drop"; { $reason }; together with another unit it makes no people of households
found-rules = { $count ->
    [one] one rule between columns was found
   *[other] { $count } rules between columns were found
} and will be kept
found-rare = { $count ->
    [one] one level that fewer than 5 people have
   *[other] { $count } levels that fewer than 5 people have
} will be pooled
and-more = and { $count } more

about-recipe = Leafcover’s own; `leafcover recipes` lists others, `leafcover sweep --save` compares them and chooses
about-settings = larger leaves than the default: protects more, keeps less; `leafcover recipes` lists all settings
about-rules = { $rules ->
    [none] none was found now{ $more ->
        [0] {""}
       *[other] {""} that names no level, { $more } that do
    }
   *[other] keeps what was found now: { $rules }{ $more ->
        [0] {""}
       *[other] {""}; and { $more } more
    }
}; rules = ["a <= b"] demands more
about-rare = levels that fewer than 5 people have become one{ $columns ->
    [none] ; there is none now
   *[other] , now in { $columns }
}; or "allow", "refuse"
about-unit-numbers = new numbers say which rows belong together; or false
about-weights = totals are kept; or "classes" (less exact, nothing computed), "drop"
about-hold-out = releases a secret sample only, measured on the people left out: better against those who know nearly all rows
about-limits = The audience sets these thresholds; a line here (share under [method], k under settings) sets another.
about-table = .csv, .parquet and other suffixes; its manifests are written beside it
about-report = yours; the one to publish beside it ends in .external.html. Without this line the release is faster: `leafcover report` writes it later
about-ledger = .leafcover beside this file remembers, by marks that only its key can make, who was released, and refuses to release them again
about-key-file = keeps the secret key, to repeat the release byte for byte; guard it like the original
about-publish-tree = shows plan and tree in the public report; their cuts are values of the original

# What `leafcover init` prints.

made = Made { $file }. What was found, and decided:
made-undecided = Decide in that file, where "?" stands:
made-next = Then: leafcover inspect looks at the table, leafcover release writes the released table and its report.
report-exists = The report of this release was written already; --force writes it again.
