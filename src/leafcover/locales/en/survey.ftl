# Sentences of a survey: what respondents read, what the survey owner reads, and what the collector refuses.

## What happens to the answer to one question

question-unchanged = { $answer ->
    [number] Your answer is sent exactly as you type it. It is not randomised.
   *[choice] Your answer is sent exactly as you choose it. It is not randomised.
}
question-two-choices = { $rounded ->
    [yes] Your true answer is sent in about { $kept } of { $cases } cases, the other answer in about { $changed } of { $cases }.
   *[no] Your true answer is sent in { $kept } of { $cases } cases, the other answer in { $changed } of { $cases }.
}
question-several-choices = { $rounded ->
    [yes] Your true answer is sent in about { $kept } of { $cases } cases, one of the { $others } other answers, picked at
        random, in about { $changed } of { $cases }.
   *[no] Your true answer is sent in { $kept } of { $cases } cases, one of the { $others } other answers, picked at random,
        in { $changed } of { $cases }.
}
question-unrelated = { $rounded ->
    [yes] Your true answer is sent in about { $kept } of { $cases } cases.
   *[no] Your true answer is sent in { $kept } of { $cases } cases.
}
question-unrelated-otherwise = { $rounded ->
    [yes] Otherwise your device picks an answer that does not depend on yours: “{ $yes }” in about { $kept } of { $cases }
        cases, else “{ $no }”.
   *[no] Otherwise your device picks an answer that does not depend on yours: “{ $yes }” in { $kept } of { $cases } cases,
        else “{ $no }”.
}
question-uncertain = Nobody can be certain whether yours was changed.
question-shared-coin = { $rounded ->
    [yes] One coin decides for questions { $first } and { $last } together: all these answers are sent unchanged in about
        { $kept } of { $cases } cases, and all of them are switched to the other choice in about { $changed } of { $cases }.
   *[no] One coin decides for questions { $first } and { $last } together: all these answers are sent unchanged in { $kept }
        of { $cases } cases, and all of them are switched to the other choice in { $changed } of { $cases }.
}
question-shared-coin-risk = Anyone who knows one of your true answers to these questions can work out the others.

## What happens to all answers

overview-unchanged = This survey does not randomise answers. Every answer is sent as you gave it.
overview-unprotected = Answers that are sent unchanged are not protected, and together they may identify you.
overview-device = { $unchanged ->
    [yes] Your device may change an answer before sending it, except where a question says that it is sent as you type or
        choose it.
   *[no] Your device may change an answer before sending it.
}
overview-uncertain = { $shared ->
    [yes] From what is sent alone, nobody, not even we, can be certain whether yours was changed.
   *[no] Nobody, not even we, can be certain whether yours was changed.
}
overview-draw = The random draw is not shown to anyone, not even to you.
overview-no-proof = { $unchanged ->
    [yes] A randomised answer on its own does not prove what you answered.
   *[no] What is sent does not, on its own, prove what you answered.
}
overview-estimates = Over many people the random changes even out, so { $owner } can estimate about how many people gave
    each answer.
overview-shared-coin = Questions { $first } and { $last } share one coin: what is sent for them is either all true or all
    switched. There is no limit on what they reveal together, because anyone who knows one of your true answers to them
    knows them all. For anyone who knows none of them, the odds between these two possibilities change by a factor of at
    most { $times }.
overview-hint = What is sent is still a hint.
overview-limit = { $which ->
    [all] All answers together change the odds between any two possible truths about you by a factor of at most { $times }.
    [randomised] All randomised answers together change the odds between any two possible truths about you by a factor of
        at most { $times }.
   *[other] All other randomised answers together change the odds between any two possible truths about you by a factor of
        at most { $times }.
}
overview-limit-meaning = If two things about you seemed equally likely before, one can now seem up to { $times } times as
    likely as the other, but no more.
overview-limit-weak = That is a lot: taken together, the answers can reveal much.
overview-hardly-limited = { $which ->
    [all] All answers together can change the odds between two possible truths about you by a factor of more than
        { $times }: taken together, they can reveal nearly everything.
    [randomised] All randomised answers together can change the odds between two possible truths about you by a factor of
        more than { $times }: taken together, they can reveal nearly everything.
   *[other] All other randomised answers together can change the odds between two possible truths about you by a factor of
        more than { $times }: taken together, they can reveal nearly everything.
}
overview-limit-single = For a single question the factor is at most { $times }.
overview-epsilon = { $several ->
    [yes] Researchers call this local differential privacy, with an epsilon of { $epsilon } for all these answers together.
   *[no] Researchers call this local differential privacy, with an epsilon of { $epsilon }.
}

## What the survey protects from, and what not

threat-later = { $unchanged ->
    [yes] This protects you if { $owner } collects answers honestly. It also protects you later, from a thief who breaks in,
        a court that demands the answers, or a future owner of the data: they find only what was sent. Nobody can undo the
        random changes, but the answers that were sent unchanged are there as you gave them.
   *[no] This protects you if { $owner } collects answers honestly. It also protects you later, from a thief who breaks in,
        a court that demands the answers, or a future owner of the data: they find only what was sent, and nobody can undo
        the random changes.
}
threat-later-unprotected = Nothing protects these answers later: { $owner } has them as you gave them, and so would a thief
    who breaks in, a court that demands them, or a future owner of the data.
threat-script = This does not protect you from someone who alters this page before you open it: an altered page could send
    your true answers.
threat-script-unprotected = Nothing protects you from someone who alters this page before you open it: an altered page could
    send your answers elsewhere.
threat-file = This survey is also available as one file with a published fingerprint (SHA-256). Someone you trust can check
    it before you open it.
threat-no-file = If that worries you, do not answer, or ask for the survey as one file that can be checked beforehand.
threat-device = This does not protect you from anyone who watches your screen or controls your device.
threat-device-unprotected = Nothing protects you from anyone who watches your screen or controls your device.
threat-once = Answer only once. Every new answer is randomised again, and from several answers by one person the true ones
    can be worked out. Sending the same answer again because the network failed is safe: it is not randomised again.
threat-once-unprotected = Answer only once, so that everybody counts once. Sending the same answer again because the network
    failed is safe: it is counted once.
threat-link = { $unchanged ->
    [yes] Your link works once. Whoever gave it to you may find out that you answered. The link is not stored with the
        answer, so an honest collector cannot find yours afterwards, unless answers that are sent unchanged identify you.
   *[no] Your link works once. Whoever gave it to you may find out that you answered. The link is not stored with the
        answer, so an honest collector cannot find yours afterwards.
}
threat-no-link = { $unchanged ->
    [yes] No name and no personal link is sent with your answer, so the answer does not show who sent it, unless answers that
        are sent unchanged identify you.
   *[no] No name and no personal link is sent with your answer, so the answer does not show who sent it.
}
threat-stored = { $kind ->
    [unchanged] Your answer is stored as you gave it, under a random number.
    [mixed] Your answer is stored under a random number, randomised except where a question says otherwise.
   *[randomised] The randomised answer is stored under a random number.
}
threat-day = { $kept ->
    [yes] The day it arrived is stored as well, but no time of day and no network address.
   *[no] Neither the day it arrived nor your network address is stored.
}
threat-network = As with every web page, those who run the network can see that your device visited it. All messages have the
    same length, so the length does not reveal what you answered.

## While answering

sending-before = When you press Send, your device randomises your answers, clears this form and sends the result. The random
    draw is not shown to anyone, and it is not repeated.
sending-before-unchanged = When you press Send, your answers are sent as they are, and this form is cleared.
sending-done = Thank you. Your answer has arrived. This page has forgotten what you chose and what was changed. Please do not
    answer a second time. You can close this page.
sending-done-unchanged = Thank you. Your answer has arrived. This page has forgotten what you answered. Please do not answer a
    second time. You can close this page.

## The design of a survey, for its owner

design-reveals = What one answer reveals (epsilon of local differential privacy; cost: answers needed, compared with a direct question)
design-question = question
design-mechanism = mechanism
design-epsilon = epsilon
design-odds = odds change
design-belief = { $share }% becomes at most
design-cost = cost
design-no-epsilon = none
design-disclosed = disclosed
design-factor = { $times } times
design-total = All randomised answers of a person together: epsilon { $epsilon }, so the odds between any two possible truths
    change by a factor of at most { $times }.
design-total-huge = All randomised answers of a person together: epsilon { $epsilon }, so the odds between any two possible
    truths can change by a factor of more than { $times }.
design-no-total = No figure limits what all answers reveal together: questions { $first } and { $last } share one coin, so the
    true answers are those that were sent or the exact opposite, and one known true answer reveals the others.
design-unprotected = No answer is randomised.
design-needed = Answers needed for a 95% interval of ± { $points } points
design-needed-pairs = The same for the answers to two questions together
design-needed-pairs-some = The same for the answers to two questions together (the { $shown } pairs of { $all } that need most)
design-expected = at a share of { $share }%
design-any = at any share
design-reached = with { $answers ->
    [one] 1 answer
   *[other] { $answers } answers
}
design-reached-any = at worst
design-points = ± { $points } points
design-pair = { $one } and { $two }

## The results of a survey, for its owner

results-title = { $title }: { $answers ->
    [one] 1 answer
   *[other] { $answers } answers
}
results-question = { $kind ->
    [unchanged] { $name }: { $text } (sent unchanged)
   *[randomised] { $name }: { $text } (randomised)
}
results-mean = mean { $mean } (95% interval { $low } to { $high })
results-answer = answer
results-share = share
results-interval = 95% interval
results-range = { $low } to { $high }
results-group = group
results-people = people
results-about = about { $people }
results-too-few = too few
results-outside = Question “{ $question }”, answer “{ $choice }”: the estimate is { $errors } standard errors outside 0 to 1.
    Some answers were not randomised as stated, or someone sent made-up answers.
tree-accuracy = Grown from { $answers } answers. On { $tested } other answers it predicts { $share } correctly (95% interval
    { $low } to { $high }). Always predicting “{ $usual }” would be correct for { $baseline }.
tree-no-better = So the tree predicts no better than that. More answers may show an association.
tree-leaf = No other question predicts this one better than the randomness of the answers would by chance. More answers may
    show an association.

## What the collector refuses

refused-field = This is not an answer to the survey: the field { $field } is missing or invalid. Load the page again.
refused-message = This is not an answer to the survey: the message cannot be read.
refused-outdated = The survey has changed since this page was loaded. Load the page again.
refused-without-token = This survey accepts answers only with a token. Open your own link to the survey.
refused-with-token = This survey uses no tokens. Send the answer without one.
refused-number = The message must contain one report for each question.
refused-report = The report on “{ $question }” is not one that the survey allows.
refused-again = This answer was not accepted: one was received before. A second answer would be randomised again, and from
    several answers by one person the true ones can be worked out.
refused-site = Answers are accepted only from the survey’s own page.
refused-token = This token was not issued for this survey.
refused-store = The answer cannot be stored at the moment. Send it again.
refused-type = The content type must be { $kind }.
refused-length = The message is too long.
refused-late = The message did not arrive in time.
refused-broken = The connection ended before the message was complete.
refused-fault = The collector failed.
refused-secret-site = The secret is accepted only from the survey owner’s own page.
refused-export = Answers are exported as .csv or .parquet.
