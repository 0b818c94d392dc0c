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
units = The rows belong to { $count } units ({ $unit }), at most { $most } to each. Leaves and attacks count units, not rows.
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
smallest-leaf = The smallest leaf in which values were dealt has { $rows ->
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
shared = Numbers that fewer than { $least } rows held took the rounded mean of their neighbours or a neighbouring value: { $columns }{ $more ->
    [0] {""}
   *[other] {""} and { $more } more
}. A rare code, such as 99999 for “unknown”, is lost this way: declare it as missing, such as missing={ "{" }'{ $first }': ['99999']{ "}" }.
shared-column = { $name } ({ $rows ->
    [one] { $rows } row
   *[other] { $rows } rows
})
singletons = { $share } of the rows are the only row of their cell, so the release discloses what their leaf says about them.
blocks = Columns whose values stayed together: { $blocks }.
refined = Cells were refined by { $columns }.
fixed = The cell discloses the value in at least half of the rows: { $columns }{ $more ->
    [0] .
   *[other] {""} and { $more } more.
}
fixed-column = { $name } ({ $share })
rules = { $count ->
    [one] One rule
   *[other] { $count } rules
} between columns: { $broken ->
    [0] as many released rows as original ones keep { $count ->
        [one] it
       *[other] them
      }.
   *[other] fewer released rows than original ones keep { $broken } of them.
}
computed = Computed from other columns in every row, as a rule says: { $columns }.
computed-column = { $name }{ $rows ->
    [0] {""}
    [one] {" "}(1 of { $of } original rows had another value)
   *[other] {" "}({ $rows } of { $of } original rows had another value)
}
weights = { $leave ->
    [drop] Weights do not leave: { $columns } { $count ->
        [one] was
       *[other] were
      } dropped.
    [classes] Weights ({ $columns }) leave as the mean weight of classes of at least 5 people.
   *[other] Weights ({ $columns }) leave calibrated: their total is that of the original, rounded, and each begins as the mean weight of at least 5 people.
}
kept-table = The table { $table } has as many rows as before in { $same } of { $cells } cells{ $totals ->
    [none] .
    [kept] , and the same totals of { $weight } in all of them.
    [pooled] , and the same totals of { $weight }, in cells of few people together with the next.
   *[missed] ; not all totals of { $weight } could be kept.
}{ $within ->
    [none] {""}
   *[other] {" "}These totals are rounded, by at most { $within }: exact ones would show who is in the table.
}
own-weights = Each row keeps the class of its own weight, which is not protected further: { $columns }.
sampled = A random sample of { $share } was released; whose rows are in it is secret.
recoded = Recoded first: { $columns }, { $values }.
noise = Noise delivered, as a standard deviation in shares of the allowed range: { $columns }{ $more ->
    [0] {""}
   *[other] {" "}and { $more } more columns
  }. Numbers near an end of their range move away from it by up to { $pull } on average.
reversible = Not private, because the transformation is reversible: an attacker who knows a few people’s rows computes everybody’s { $columns }.
only-recoded = Each row keeps its own value, coarser or missing as it was recoded, and not protected further: { $columns }.
unprotected = Released unchanged, not protected: { $columns }.
no-values = Without any value, so there was nothing to change: { $columns }.
record-linkage = Record linkage: an attacker who knows a person’s quasi-identifiers and the method, everything but the secret key, links that person to the right row in { $risk } of attempts, and in { $worst } for the most exposed 1%.
seeded = Made with a seed: do not publish.
original-order = Rows are in their original order: do not publish.

# What the ledger of a project says.

no-ledger = No project folder was given, so there is no ledger: repeated releases of the same people are not found.
ledger-other-people = { $count ->
    [0] This is the first release in the ledger of the project.
    [one] The earlier release in the ledger of the project has less than 5% of the same people.
   *[other] Each of { $count } earlier releases in the ledger of the project has less than 5% of the same people.
}
ledger-overlap = People were released before, by { $overlap }.
ledger-same = Every value is the same as in release { $number } of the project: it discloses nothing new, and is not entered again.
ledger-not-compared = Not compared, because they have other columns: releases { $numbers } of the project.
ledger-averaging = An attacker who averages the { $count } releases of the same people is left with { $share } of the error of one release, if noise is independent, and sees by their difference who is in one of them only.
ledger-bits = The bounds of the { $count } releases add up: together they add at most { $bits } bits to what an attacker knows about a person’s row, on average, if they contain the same people. Who is in one of them only is disclosed by their difference.

# What is proved of a release in which every column was dealt; the external manifest and the report contain it.

proved-bits = On average over people, and over how many of the other rows an attacker already knows, this table adds at most { $bits } bits to what the attacker knows about a person’s row beyond the values of each column.
proved-copy = A copy of the original in random order can add { $copy } bits or more.
proved-own-share = For given trees, a person’s own values have at most { $factor } times the share, in the leaves where they are dealt, that the other people of these leaves predict (geometric mean over people; one row is added for each possible value).
proved-key = The key is secret, and its draws are as good as random.
proved-known = The attacker may have any expectation about the people, and may know the method, its settings, the values of each column (of columns dealt together, their combinations), and these figures. The trees count as learnt from the table.
proved-weights = The weighted totals that calibrated weights keep count as known: the total, and those of the groups that were declared.
proved-average = The number of other rows that the attacker knows is any number from none to all but one, each equally likely. An attacker who knows a particular number of rows may gain more than the average.
proved-open = Nothing is proved for a single person, for what the values of one column disclose by themselves, for different spellings of one value, for reports and measures, or for two releases of the same people.

# The verdict: whether the risks that decide are within the limit in force, and what to do about those that are not.

verdict = { $level ->
    [low] pass. The highest risk is { $bound } ({ $end } end of { $name }), within { $limited }.
    [moderate] moderate risk. { $bound } ({ $end } end of { $name }) is above { $limited }.
    [high] high risk. { $bound } ({ $end } end of { $name }) is above { $limited }.
    [copies] high risk. The release holds more of { $name } than chance explains, which is above every limit.
    [no-linkage] not measured. It is not known which released row belongs to whom: give pairs=...
    [no-control] not measured. Inference needs people who are not in the release: release with hold_out=0.3, or give control=...
   *[nothing] not measured. Give report=..., max_risk=... or audience=... to measure the risks that decide.
}
verdict-refused = do not publish: { $why ->
    [seed] made with a seed, which can be guessed
   *[order] rows are in their original order
}. Apart from that: { $verdict }
verdict-line = Verdict: { $verdict }
verdict-limit = the limit { $limit } ({ $source ->
    [public] for the public
    [researchers] for researchers
    [given] as set
    [none-high] usual for researchers; none was set
   *[none] usual for the public; none was set
})
advice-inference = Inference of { $columns }{ $more ->
    [0] {""}
   *[other] {" "}and { $more } more
} is above it: make these columns coarser with recode=..., leave them out with drop=..., or protect all columns more with { $dealt ->
    [yes] settings={ "{" }'price': '1'{ "}" } or a larger k.
   *[no] stronger settings=..., or another recipe.
}
advice-linkage = Record linkage is above it: make the quasi-identifiers coarser with recode=..., or perturb them more with settings=...
advice-membership = Membership inference is above it: release a sample with sample=0.5, protect more with { $dealt ->
    [yes] settings={ "{" }'price': '1'{ "}" }
   *[no] stronger settings=...
}, or leave out with drop=... near-unique columns that outsiders know.
advice-copies = Copied is { $columns }: make it coarser with recode=..., or leave it out with drop=...

# For whom a release is made: a sentence for each threshold, with its source. The bibliography has the sources.

audience = { $audience ->
    [public] For the public: anybody may get the table.
   *[researchers] For researchers, who are known and bound by an agreement.
}
limit-given = The steward set a limit of the disclosure risk: max_risk = { $limit }.
audience-threshold = { $threshold ->
    [max_risk] No risk is above max_risk = { $figure }, { $audience ->
        [public] one in twenty, as in public files of patients (El Emam 2013).
       *[researchers] one in five, the most common limit of data custodians (El Emam 2013).
    }
    [max_singletons] { $audience ->
        [public] No row is alone in its cell (max_singletons = { $figure }); this threshold is our own.
       *[researchers] At most max_singletons = { $figure } of the rows are alone in their cell; this threshold is our own.
    }
    [k] Values change among at least k = { $figure } rows, { $audience ->
        [public] as in public files of patients (El Emam 2013).
       *[researchers] the most common size of a cell (El Emam 2013).
    }
    [share] At least share = { $figure } rows hold each released number, unless a rule computes it from other columns: { $audience ->
        [public] US Medicare shows no count from 1 to 10 (CMS 2020).
       *[researchers] many statistical offices require five (UNECE and Eurostat 2005).
    }
   *[rare] Levels that fewer than 5 people have are pooled (rare = { $figure }): many statistical offices require five (UNECE and Eurostat 2005).
}
audience-other = The steward set { $threshold } = { $used } instead of { $usual }.
audience-not-used = The method has no { $threshold }.
audience-caveat = These sources limit re-identification and counts in tables; max_risk also limits inference above control and members found, of which they do not speak.
