"use strict";
// All the code that runs on a respondent's device: it reads the form, randomises the answers, and sends the result.
// The true answers exist only in the form's fields and, during randomisation, in one list.
(() => {
  const survey = JSON.parse(document.getElementById("survey").textContent);
  const form = document.getElementById("questions");
  const link = document.getElementById("link");
  const places = [...survey.questions.keys()];
  const ALL_WORDS = 1n << 64n;
  const PATIENCE = 30000; // milliseconds without a reply before the network counts as broken
  const REFUSALS = [403, 409, 413, 415, 422]; // sending the same bytes again would not help

  let screen = "";
  let token = "";
  let message = null; // what is being sent: made once, repeated unchanged, forgotten when acknowledged

  // ---- randomisation: the same integer thresholds as in client.py ----

  /** A random integer from 0 to below the bound, all equally likely. */
  function below(bound) {
    const word = new BigUint64Array(1);
    // Numbers beyond the last multiple of the bound are rejected: their remainders would favour small ones.
    const limit = ALL_WORDS - (ALL_WORDS % bound);
    do crypto.getRandomValues(word);
    while (word[0] >= limit);
    return word[0] % bound;
  }

  /** For each kind of coin, its reports. Every coin draws the same number of random words whatever it decides. */
  const toss = {
    flip({ places, keep }, codes) {
      const turn = below(ALL_WORDS) >= BigInt(keep);
      return places.map((place) => (turn ? 1 - codes[place] : codes[place]));
    },
    among({ places: [place], keep, levels }, codes) {
      const kept = below(ALL_WORDS) < BigInt(keep);
      const other = Number(below(BigInt(levels - 1)));
      return [kept ? codes[place] : other < codes[place] ? other : other + 1];
    },
    harmless({ places: [place], asked, yes }, codes) {
      const heard = below(ALL_WORDS) < BigInt(asked);
      const harmless = below(ALL_WORDS) < BigInt(yes) ? 1 : 0;
      return [heard ? codes[place] : harmless];
    },
  };

  /** The message for the answers in the form, which is cleared. */
  function tossed() {
    const codes = places.map(code);
    form.reset();
    const reports = codes.slice();
    for (const coin of survey.coins) {
      toss[coin.kind](coin, codes).forEach((report, number) => (reports[coin.places[number]] = report));
    }
    codes.fill(0);
    const digits = crypto.getRandomValues(new Uint8Array(16));
    return JSON.stringify({
      survey: survey.fingerprint,
      id: Array.from(digits, (byte) => byte.toString(16).padStart(2, "0")).join(""),
      token,
      // Leading zeros give every message the same length.
      reports: reports.map((report, place) => String(report).padStart(survey.questions[place].width, "0")),
    });
  }

  // ---- the form ----

  /** The code chosen or the number typed for a question, or null. */
  function code(place) {
    const text = form.elements[`answer-${place}`].value.trim();
    const { low, high } = survey.questions[place];
    const number = /^[0-9]{1,9}$/.test(text) ? Number(text) : -1;
    return low <= number && number <= high ? number : null;
  }

  /** The element of one question. */
  function asked(place) {
    return document.getElementById(`question-${place}`);
  }

  /** Mark the questions that still need an answer. */
  function mark(lacking) {
    for (const place of places) {
      const lacks = lacking.includes(place);
      asked(place).classList.toggle("lacking", lacks);
      document.getElementById(`question-${place}-lacks`).hidden = !lacks;
    }
    const all = document.getElementById("lacking");
    const many = `${lacking.length} questions still need an answer.`;
    all.hidden = lacking.length === 0;
    all.textContent = ["", "One question still needs an answer."][lacking.length] ?? many;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (screen !== "ask") return; // a second click is ignored: the form is already cleared
    const lacking = places.filter((place) => code(place) === null);
    mark(lacking);
    if (lacking.length > 0) {
      asked(lacking[0]).scrollIntoView();
      asked(lacking[0]).querySelector("input").focus({ preventScroll: true });
      return;
    }
    message = tossed();
    history.replaceState(null, "", location.pathname + location.search); // the token is no longer needed
    send();
  });

  form.addEventListener("input", () => {
    // A marked question loses its mark when it is answered; other questions are not marked before Send.
    mark(places.filter((place) => asked(place).classList.contains("lacking") && code(place) === null));
  });

  // The form is empty after leaving the page and coming back, however the browser caches pages.
  for (const moment of ["pagehide", "pageshow"]) addEventListener(moment, () => form.reset());

  // ---- sending ----

  async function send() {
    show("sending");
    const patience = new AbortController();
    const clock = setTimeout(() => patience.abort(), PATIENCE);
    let status = 0;
    let received = null;
    try {
      const response = await fetch(survey.send_to, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: message,
        cache: "no-store",
        credentials: "omit",
        referrerPolicy: "no-referrer",
        redirect: "error",
        keepalive: false,
        signal: patience.signal,
      });
      status = response.status;
      received = (await response.json()).received;
    } catch {
      // No network, or a reply that is not the collector's: nothing was acknowledged, so the message is kept.
    }
    clearTimeout(clock);
    const refused = received === false && REFUSALS.includes(status);
    if (received !== true && !refused) return show("unsent");
    message = null;
    if (!refused) return show("sent");
    const words = [...document.querySelectorAll("[data-status]")];
    const fitting = words.find((one) => one.dataset.status === String(status)) || words[words.length - 1];
    for (const one of words) one.hidden = one !== fitting;
    show("refused");
  }

  document.getElementById("again").addEventListener("click", () => {
    if (screen === "unsent") send();
  });

  // ---- the visible part of the page ----

  function show(name) {
    screen = name;
    for (const part of document.querySelectorAll("[data-screen]")) {
      part.hidden = !part.dataset.screen.split(" ").includes(name);
    }
    const heading = document.querySelector(`[data-screen="${name}"] [tabindex="-1"]`);
    if (heading) heading.focus();
  }

  /** The token in a link or a code; empty without one. */
  function tokenIn(text) {
    const found = text.trim().toLowerCase().match(/(?:^|#token=)([a-z2-7]+)$/);
    return found && found[1].length === survey.letters ? found[1] : "";
  }

  /** Show the questions for a link or code; false when it has no token. */
  function take(text) {
    const found = tokenIn(text);
    if (!found) return false;
    if (found !== token) {
      form.reset(); // it may be another person's link, and the answers belong to this one
      mark([]);
    }
    token = found;
    show("ask");
    return true;
  }

  link.addEventListener("submit", (event) => {
    event.preventDefault();
    const field = document.getElementById("code");
    const wrong = !take(field.value);
    document.getElementById("code-lacks").hidden = !wrong;
    if (wrong) field.focus();
    else link.reset();
  });

  // Opening a link in the same tab changes the address without loading the page again.
  addEventListener("hashchange", () => {
    if (screen === "sending" || screen === "unsent") return; // the answer being sent has its own token
    if (screen === "unlinked" || screen === "ask") take(location.hash);
    else if (tokenIn(location.hash)) location.reload();
  });

  if (survey.letters === 0) show("ask");
  else if (!take(location.hash)) show("unlinked");
})();
