# What perturbations and partitions do. A perturbation ends the sentence "Each value is ...".

shuffle = shuffled among the rows of its cell
deal = dealt to the released rows that reach its leaf{ $share ->
    [0] {""}
    [1] {""}
   *[other] ; a number is shared by at least { $share } rows
  }
bounded = { $scale ->
    [rank] moved among the sorted values of its column
   *[range] moved by random noise
  }, within the range its leaf allows{ $spread ->
    [none] {""}
   *[other] {" "}(standard deviation { $spread } of that range)
  }
additive = moved by unbounded random noise{ $spread ->
    [none] {""}
   *[other] {" "}(standard deviation { $spread } of the column’s own)
  }
correlated = moved by unbounded random noise, correlated as the columns are{ $spread ->
    [none] {""}
   *[other] {" "}(standard deviation { $spread } of the columns’ own)
  }{ $corrected ->
    [yes] , and shrunk so that variances stay
   *[no] {""}
  }
geometric = { $operation ->
    [translate] translated by a secret constant
    [scale] multiplied by a secret constant
    [rotate] rotated by a secret angle, in pairs of columns
   *[hybrid] translated, multiplied or rotated by secret constants
  } that is the same for all rows (not private: reversible)
multiplicative = multiplied by random noise with mean 1{ $spread ->
    [none] {""}
   *[other] {" "}(standard deviation { $spread })
  }
gadp = drawn from a normal distribution with the relations of its column{ $given ->
    [0] {""}
    [one] , given one other column
   *[other] , given { $given } other columns
  }{ $similarity ->
    [none] {""}
   *[other] {" "}(similarity { $similarity })
  }
bounded-gadp = drawn from a normal distribution with the means and correlations of its cell, within the range its leaf allows{ $similarity ->
    [none] {""}
   *[other] {" "}(similarity { $similarity })
  }
cgadp = drawn by a normal copula from the distribution of its column{ $given ->
    [0] {""}
    [one] , given one other column
   *[other] , given { $given } other columns
  }{ $similarity ->
    [none] {""}
   *[other] {" "}(similarity { $similarity })
  }
data-shuffle = exchanged so that ranks keep their correlations{ $given ->
    [0] {""}
    [one] , given one other column
   *[other] , given { $given } other columns
  }{ $similarity ->
    [none] {""}
   *[other] {" "}(similarity { $similarity })
  }
egadp = drawn from a normal distribution with exactly the means and covariances of its column{ $given ->
    [0] {""}
    [one] , given one other column
   *[other] , given { $given } other columns
  }{ $similarity ->
    [none] {""}
   *[other] {" "}(similarity { $similarity })
  }
redraw = { $distribution ->
    [shares] resampled by the frequencies in its cell
    [all-leaves] resampled, mostly as the most frequent value of its cell
   *[own] kept
  }
redraw-siblings = { $share ->
    [none] sometimes from a neighbouring leaf
   *[other] with probability { $share } from a neighbouring leaf
  }
redraw-others = { $share ->
    [none] sometimes any other value
   *[other] with probability { $share } any other value
  }
pram = { $invariant ->
    [proportional] redrawn by the frequencies in its cell{ $probability ->
        [none] , with some probability
       *[other] {" "}with probability { $probability }
      }
    [two-stage] changed by a matrix that keeps expected frequencies
   *[none] changed by a matrix of probabilities
  }
rank-swap = swapped with one of a near rank in its cell{ $window ->
    [none] {""}
   *[other] , at most { $window } % of the ranks away
  }
bounded-swap = swapped with one of a rank in its cell that is not near{ $distance ->
    [0] {""}
   *[other] , at least { $distance } ranks away
  }
centroid = replaced by the { $average } (a category by the most frequent value) of its group{ $least ->
    [0] {""}
   *[other] {" "}of at least { $least }
  }

# Recodings end the sentence "Each value is ...", too.

round = rounded{ $detailed ->
    [no] {""}
   *[yes] { $to ->
        [none] {" "}to { $digits } significant { $digits ->
            [one] digit
           *[other] digits
          }
       *[other] {" "}to a multiple of { $to }
      }
  }
top-code = coded at the top{ $detailed ->
    [no] {""}
   *[yes] : values of { $at ->
        [none] the threshold
       *[other] { $at }
      } and more became { $to ->
        [threshold] the threshold
        [mean] their mean
       *[other] { $to }
      }
  }
bottom-code = coded at the bottom{ $detailed ->
    [no] {""}
   *[yes] : values of { $at ->
        [none] the threshold
       *[other] { $at }
      } and less became { $to ->
        [threshold] the threshold
        [mean] their mean
       *[other] { $to }
      }
  }
truncate = replaced by the first { $period ->
    [hour] second of its hour
    [day] moment of its day
    [week] day of its week
    [month] day of its month
    [quarter] day of its quarter
   *[year] day of its year
  }
intervals = replaced by { $to ->
    [label] its interval
    [midpoint] the middle of its interval
   *[mean] the mean of its interval
  }{ $count ->
    [0] {""}
   *[other] , one of { $count }
  }
generalise = { $prefix ->
    [-1] generalised to a coarser level{ $groups ->
        [0] {""}
       *[other] , one of { $groups } that are named
      }
    [0] hidden but for its length
    [one] cut to its first character
   *[other] cut to its first { $prefix } characters
  }
suppress = missing in { $count ->
    [-1] all rows
   *[other] some rows
  }{ $count ->
    [-1] {""}
    [0] {""}
    [one] : one value was suppressed
   *[other] : { $count } values were suppressed
  }
local-suppression = missing where fewer than { $k } people would agree in all of these columns{ $l ->
    [0] {""}
   *[other] , or where they would have fewer than { $l } values of { $sensitive }
  }

# Why a value could not change.

fixed-cell = nearly every row of the cell has the same value
fixed-range = the leaf allows hardly any other value
fixed-noise = the noise is too small to move it
fixed-constant = the column is constant
fixed-given = the columns given determine it
fixed-matrix = its level is seldom changed
fixed-average = the group has a single value, or the value is the average

# Partitions: which rows share a cell.

whole = the whole table
conditional = the leaves of a tree for { $of }, grown from the columns dealt before it, at least { $rows } rows each
conditional-own = the leaves of its own tree, grown from the columns dealt before it, at least { $rows } rows each
leaves = the leaves of the tree for { $of }, at least { $rows } rows each
leaves-own = the leaves of its own tree, at least { $rows } rows each
forest = the intersections of the leaves of { $trees } trees for { $of }, at least { $rows } rows each
refine = { $start }, refined by trees for { $columns ->
    [one] one other column
   *[other] { $columns } other columns
  } into cells of at least { $rows } rows
strata = rows that are equal in { $columns }
kd = the leaves of a kd tree, at least { $rows } rows each
halves = repeated halves of the table, fewer than { $rows } rows each
groups = groups of at least { $rows } similar rows
groups-inside = groups of at least { $rows } similar rows, inside { $start }
