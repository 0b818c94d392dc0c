# Every built-in recipe: where it comes from, what it keeps, what it hides, how it is attacked.

cover = cover
    .source = Leafcover
    .keeps = the values of every column; the counts in the leaves of each column’s tree; the target’s rules and most others
    .hides = people: no released row descends from one person, and what the table can add to an attacker’s knowledge is bounded on average
    .weaknesses = an attacker who knows most of the other rows subtracts them; nearly unique columns known of everybody show who is in the table
cells = cells
    .source = Leafcover, the predecessor of cover
    .keeps = every count of every cell; the target’s rules; most rules of other columns
    .hides = which row of a cell has which value, block by block (but an attacker who regrows the cells infers many values)
    .weaknesses = cells grown again from the release infer sensitive values; exact counts show who is in the table
framework = framework
    .source = Islam and Brankovic (2004), A Framework for Privacy Preserving Classification in Data Mining, with DETECTIVE (2005) for categories; sound defaults
    .keeps = every row’s leaf in the target’s tree; every leaf’s class counts
    .hides = numbers within the range of their leaf; categories among similar ones; the class within its leaf
    .weaknesses = maximum-knowledge record linkage; categories that a leaf tests never change; a leaf of one class discloses it
framework-paper = framework-paper
    .source = Islam and Brankovic (2004), A Framework for Privacy Preserving Classification in Data Mining, with DETECTIVE (2005) for categories; as printed
    .keeps = every row’s leaf; every leaf’s class counts
    .hides = as framework, but leaves of one or two rows hide almost nothing
    .weaknesses = as framework; nearly everybody in a small leaf is linked
framework-gadp = framework-gadp
    .source = the extension of Islam and Brankovic (2004), A Framework for Privacy Preserving Classification in Data Mining, by GADP (Muralidhar, Parsa and Sarathy 1999)
    .keeps = every row’s leaf in the target’s tree; every leaf’s class counts; correlations of numbers, as far as leaves and domains allow
    .hides = numbers within their leaf, where a row keeps a third of its difference from the mean; categories among similar ones
    .weaknesses = as framework; in a leaf the correlated numbers of a row link it together
forest = forest
    .source = Fletcher and Islam (2015), An anonymization technique using intersected decision trees; sound defaults
    .keeps = every row’s leaf and every leaf’s class counts in many trees at once, as far as cells have min_cell rows
    .hides = numbers and categories within the intersection of a row’s leaves; the class within its cell
    .weaknesses = record linkage: the intersection of many leaves allows little noise
detective = detective
    .source = Islam and Brankovic (2005), DETECTIVE: A Decision Tree Based Categorical Value Clustering and Perturbation Technique for Preserving Privacy in Data Mining
    .keeps = the similarity of categories as their own trees see it
    .hides = categories only; numbers are released unchanged
    .weaknesses = record linkage by the unchanged numbers
random = random
    .source = the random technique (RT) that Fletcher and Islam (2015) compare with
    .keeps = nothing on purpose
    .hides = every value a little, patterns and people equally
    .weaknesses = record linkage where many columns are known; Bayes estimates remove part of the noise
perturbation-tree = perturbation-tree
    .source = Li and Sarkar (2006), as demonstrated in Roy, Performance Analysis of Clustering in Privacy Preserving Data Mining
    .keeps = every mean (unless average=median or on_grid); near rows stay near
    .hides = which of the k or more rows of a kd cell has which number; other columns are released unchanged
    .weaknesses = record linkage by unchanged columns; groups of one value disclose it; exact means show who is in the table
microaggregate = microaggregate
    .source = MDAV: Domingo-Ferrer and Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure control; Domingo-Ferrer and Torra (2005)
    .keeps = every mean (unless average=median or on_grid); most relations among the numbers
    .hides = numbers among the k or more most similar rows; other columns are released unchanged
    .weaknesses = record linkage by unchanged columns; groups of one value disclose it; exact means show who is in the table
microaggregate-univariate = microaggregate-univariate
    .source = Hansen and Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation
    .keeps = every mean (unless average=median or on_grid); nearly every value
    .hides = little: the groups of several columns together re-identify most people
    .weaknesses = intersecting the groups of several columns links most people
additive = additive
    .source = simple additive noise (SAN), as Roy compares it
    .keeps = means on average; not variances (times 1 + spread²); correlations only in part
    .hides = little: numbers stay near their original, and the nearest row is often the person’s own; categories are unchanged
    .weaknesses = record linkage; PCA filtering and Bayes estimates remove much of the noise where columns are correlated
correlated = correlated
    .source = correlated noise (CADP): Kim (1986), A method for limiting disclosure in microdata based on random noise and transformation
    .keeps = means and correlations among the changed columns on average; not variances (times 1 + spread²); correlations with other columns only in part
    .hides = little: as additive; categories are unchanged
    .weaknesses = record linkage; Bayes estimates remove part of the noise; an attacker who knows some numbers of a person infers the noise of the others
bias-corrected = bias-corrected
    .source = bias-corrected noise (BCADP): Kim (1986), A method for limiting disclosure in microdata based on random noise and transformation; Tendick and Matloff (1994), A modified random perturbation method for database security
    .keeps = means, variances and correlations among the changed columns on average; correlations with other columns only in part
    .hides = little: as correlated; categories are unchanged
    .weaknesses = record linkage; the shrinking is undone by the published spread, and then as correlated
multiplicative = multiplicative
    .source = multiplicative noise (MN), as Roy compares it
    .keeps = means on average, and signs; not variances, which grow most where values are large
    .hides = little: as additive; zeros stay, small values hardly move, dates and categories are unchanged
    .weaknesses = record linkage; logarithms turn it into additive noise, which filtering removes in part
translate = translate
    .source = translation (TDP): Oliveira and Zaiane (2003), Privacy preserving clustering by data transformation
    .keeps = every distance between rows, every variance and correlation; means move
    .hides = nothing: not private, reversible; it only disguises values from who knows nobody in the table
    .weaknesses = known-sample inversion: one known row reveals every number of everybody
scale = scale
    .source = scaling (SDP): Oliveira and Zaiane (2003), Privacy preserving clustering by data transformation
    .keeps = every distance between standard scores, every correlation; means and variances change
    .hides = nothing: not private, reversible; it only disguises values from who knows nobody in the table
    .weaknesses = known-sample inversion: one known row reveals every number of everybody
rotate = rotate
    .source = rotation (RDP): Oliveira and Zaiane (2003), Privacy preserving clustering by data transformation
    .keeps = every distance between rows; columns are mixed in pairs, so that none keeps its meaning
    .hides = nothing: not private, reversible; it only disguises values from who knows nobody in the table
    .weaknesses = known-sample inversion: one known row more than there are columns reveals every number of everybody
hybrid = hybrid
    .source = hybrid of translation, scaling and rotation (HDP): Oliveira and Zaiane (2003), Privacy preserving clustering by data transformation
    .keeps = near rows stay near; columns that are rotated are mixed in pairs
    .hides = nothing: not private, reversible; it only disguises values from who knows nobody in the table
    .weaknesses = known-sample inversion: one known row more than there are columns reveals every number of everybody
gadp = gadp
    .source = Muralidhar, Parsa and Sarathy (1999), A general additive data perturbation method for database security
    .keeps = means, variances and all correlations on average, those with the columns given too; no range, no skew
    .hides = what numbers are beyond the columns given; not what these predict, nor whose a row is: they are unchanged
    .weaknesses = record linkage by the columns given; regression on them and on the released numbers estimates the original ones
egadp = egadp
    .source = Muralidhar and Sarathy (2005), An enhanced data perturbation approach for small data sets
    .keeps = means, variances and covariances exactly; no range, no skew
    .hides = as gadp
    .weaknesses = as gadp; an attacker who knows all rows but one subtracts them from the exact means and has the last one
ipso = ipso
    .source = Burridge (2003), Information preserving statistical obfuscation
    .keeps = means, variances and covariances exactly, with fewer rows than egadp needs; no range, no skew
    .hides = as gadp
    .weaknesses = as egadp
pram = pram
    .source = Gouweleeuw, Kooiman, Willenborg and De Wolf (1998), Post randomisation for statistical disclosure control: theory and implementation
    .keeps = the frequencies of every category on average (unless invariant=none); numbers exactly; relations only in part
    .hides = categories only, as far as their matrix changes them: rare levels more than frequent ones; numbers are released unchanged
    .weaknesses = the matrix is public: Bayes’ rule finds the most probable original level; record linkage by unchanged numbers
rank-swap = rank-swap
    .source = Moore (1996), Controlled data-swapping techniques for masking public use microdata sets
    .keeps = the values of every number exactly; categories exactly; relations the better the smaller the window
    .hides = little: an attacker who knows the window finds most people by several numbers; categories are unchanged
    .weaknesses = record linkage by the windows of several columns; values of others are in the table; extremes stay near extremes
bounded-swap = bounded-swap
    .source = Li and Sarkar (2011), Protecting privacy against record linkage disclosure: a bounded swapping approach for numeric data
    .keeps = the values of every number exactly, in each cell of similar rows; categories exactly; most relations among the numbers
    .hides = which of the rows of a cell has which number; a row stays in its cell, and categories are unchanged
    .weaknesses = record linkage within the cell: rows that are too near cannot be the person’s; unchanged columns find the row

round = round
    .source = Hundepool and others (2012), Statistical Disclosure Control; one of the suppression methods in Roy, Performance Analysis of Clustering in Privacy Preserving Data Mining
    .keeps = every row, its categories exactly and its numbers up to half a unit of the last digit; means and associations nearly
    .hides = little: the last digits of numbers; rows that differ in what is left are found
    .weaknesses = record linkage by what is left of the numbers and by categories
top-code = top-code
    .source = Hundepool and others (2012), Statistical Disclosure Control
    .keeps = every value but the extremes; with to=mean every mean
    .hides = extreme values only: everybody else’s row is exact
    .weaknesses = record linkage: all values but the extremes are exact
intervals = intervals
    .source = Hundepool and others (2012), Statistical Disclosure Control (global recoding)
    .keeps = every row, its categories exactly; the interval of each number
    .hides = where in its interval a number is; rows are found by their other columns
    .weaknesses = record linkage by intervals and categories; numbers that determine each other narrow an interval
generalise = generalise
    .source = Samarati and Sweeney (1998), Protecting privacy when disclosing information; Samarati (2001); the optimal search of El Emam and others (2009)
    .keeps = every row; k or more rows are equal in the quasi-identifiers, which are as fine as that allows; other columns exactly
    .hides = which of k rows is a person’s, from attackers who know the quasi-identifiers and nothing else; not values that all of these rows share
    .weaknesses = attribute inference where k rows share a sensitive value; record linkage by a further column
suppress = suppress
    .source = Hundepool and others (2012), Statistical Disclosure Control (local suppression); l-diversity: Machanavajjhala and others (2007)
    .keeps = every value but a few of quasi-identifiers; other columns exactly
    .hides = which of k rows is a person’s, from attackers who know the quasi-identifiers and nothing else
    .weaknesses = attribute inference where k rows share a sensitive value; record linkage by a further column

# A warning of cover.

few-rows = The table has few rows for its columns.{ $pairs ->
    [0] {""}
   *[other] {" "}Of { $pairs } correlations between numbers the { $adjusted } strongest are adjusted to the original’s; the others shrink towards zero.
  }{ $price ->
    [usual] {""}
   *[other] {" "}A split of a tree must gain { $price } times its cost instead of { $usual }, so weaker rules are lost.
  } Leave columns out with drop=..., or release more rows.
