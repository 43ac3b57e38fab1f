// Matches that were played: rounds with what shows them, corrections as such, the log, exports.
import { ask, dot, el, here, notice, send, t } from "/assets/common.js";
import { draw } from "/assets/board.js";
import * as plots from "/assets/plots.js";

const FORMATS = ["cmn", "croki", "scorekinole", "reference", "tourney", "rounds-csv", "discs-csv", "json"];
const find = (id) => document.getElementById(id);
const when = (text) => new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" }).format(new Date(text));

const { matches } = await ask("/api/v1/matches");
find("none").hidden = matches.length > 0;
const columns = ["match", "date", "sides", "result", "rules"].map((key) => el("th", { scope: "col" }, t(key)));
find("matches").replaceChildren(
  el("thead", {}, el("tr", {}, columns, el("td", {}))),
  el("tbody", {}, matches.map((one) => el("tr", {},
    el("th", { scope: "row" }, String(one.number)), el("td", {}, when(one.played_at)), el("td", {}, one.sides.join(" – ")),
    el("td", {}, one.points.join(" : "), one.state === "over" ? "" : el("span", { class: "badge" }, t("open"))), el("td", {}, one.rules),
    el("td", {}, el("button", { type: "button", "aria-label": `${t("show")}: ${t("match_n", one.number)}`, click: () => show(one.number).then(() => find("match").querySelector("h2")?.focus()) }, t("show")))))));

async function evidence(match, round) {
  const of = (kind) => round.evidence.find((evidence) => evidence.kind === kind);
  if (!of("photo") || !of("count")) return null;
  const path = (kind) => `/api/v1/matches/${match.number}/evidence/${of(kind).sha256}`;
  const svg = el("svg", { role: "img", "aria-label": t("marks") });
  const count = await ask(path("count"));
  draw(svg, count);
  return el("figure", { class: "board" }, el("img", { src: path("photo"), alt: t("photo_of", round.round), loading: "lazy", width: count.image.width, height: count.image.height }), svg);
}

async function one(match, round) {
  const sides = round.sides.map((side, at) => el("div", { class: "count" },
    el("span", { class: "who" }, dot(match.sides[at].colour), match.sides[at].name), el("b", {}, String(side.total ?? "–")),
    el("small", {}, `+${side.points}, ${t("twenties")}: ${side.twenties ?? "–"}`)));
  return el("article", { class: "panel" },
    el("div", { class: "row" }, el("h3", {}, `${t("round")} ${round.round}`), el("span", { class: "hint" }, `${when(round.at)} ${t("by", round.author)}`)),
    el("div", { class: "running" }, sides),
    round.reason && el("p", { class: "hint" }, t("confirmed_with", round.reason)),
    round.void && el("p", { class: "warning" }, t("voided_by", round.void.reason, round.void.author)),
    round.amendments.map((change) => el("p", { class: "warning" }, t("corrected_by", change.reason, change.author))),
    await evidence(match, round).catch((problem) => el("p", { class: "hint" }, problem.message)));
}

async function show(number) {
  try {
    const match = await ask(`/api/v1/matches/${number}`);
    const play = el("button", { type: "button", click: () => send(`/api/v1/matches/${number}/play?board=${here}`).then(() => notice(t("done")), (problem) => notice(problem.message)) }, t("play_this"));
    const log = match.log.map((record) => el("tr", {}, el("th", { scope: "row" }, String(record.revision)), el("td", {}, when(record.at)), el("td", {}, record.author),
      el("td", {}, t(`event_${record.event}`), record.reason ? `: ${record.reason}` : "")));
    find("match").replaceChildren(
      el("div", { class: "panel" },
        el("div", { class: "row" }, el("h2", { tabindex: -1 }, t("match_n", number), ": ", match.sides.map((side) => side.name).join(" – ")), match.status.state === "open" && play),
        match.rounds.length > 0 && plots.rounds(match),
        el("h3", {}, t("export")),
        el("p", { class: "taps" }, FORMATS.map((format) => el("a", { class: "button", href: `/api/v1/matches/${number}/export/${format}`, download: "", "data-format": format }, format)))),
      ...(await Promise.all(match.rounds.map((round) => one(match, round)))),
      el("details", { class: "panel" }, el("summary", {}, t("log")), el("div", { class: "scroll" }, el("table", {},
        el("thead", {}, el("tr", {}, ["step", "date", "author", "what"].map((key) => el("th", { scope: "col" }, t(key))))), el("tbody", {}, log)))));
  } catch (problem) {
    notice(problem.message);
  }
}

// Players: a table of all, and the plots of the one that is chosen.
const lang = document.documentElement.lang;
const decimals = new Intl.NumberFormat(lang, { maximumFractionDigits: 2 });
const percent = new Intl.NumberFormat(lang, { style: "percent", maximumFractionDigits: 0 });
const day = new Intl.DateTimeFormat(lang, { dateStyle: "short" });
const played = (tally) => tally.won + tally.drawn + tally.lost;
const rate = (tally) => (played(tally) ? tally.won / played(tally) : null);
const shown = (value, format = decimals) => (value === null || value === undefined ? "–" : format.format(value));

function player(one) {
  const series = (value) => one.series.map((line) => ({ label: day.format(new Date(line.played_at)), value: value(line) ?? null }));
  let before = { won: 0, drawn: 0, lost: 0 };
  const rates = one.series.map((line) => {
    before = { won: before.won + line.matches.won, drawn: before.drawn + line.matches.drawn, lost: before.lost + line.matches.lost };
    return { label: day.format(new Date(line.played_at)), value: rate(before) };
  });
  const zones = (one.zone_shares ?? []).map((share, at) => ({ label: at === 4 ? t("out") : String([20, 15, 10, 5][at]), share, kind: "z" + at }));
  const against = statistics.head_to_head.filter((pair) => pair.player.toLowerCase() === one.name.toLowerCase());
  find("player").replaceChildren(
    el("h3", {}, one.name),
    el("div", { class: "charts" },
      plots.line(t("points_per_round"), series((line) => line.points_per_round), decimals.format.bind(decimals)),
      plots.line(t("total_per_round"), series((line) => line.total_per_round), decimals.format.bind(decimals), 20),
      plots.line(t("twenties_per_round"), series((line) => line.twenties_per_round), decimals.format.bind(decimals)),
      plots.line(t("win_rate"), rates, percent.format.bind(percent)),
      plots.shares(t("zones"), zones),
      plots.shares(t("rounds"), [["won", t("won")], ["drawn", t("drawn")], ["lost", t("lost")]].map(([kind, label]) => ({ label, share: one.rounds[kind], kind })))),
    ...(against.length ? [el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("against") }, el("table", {},
      el("thead", {}, el("tr", {}, ["against", "matches", "rounds", "points"].map((key) => el("th", { scope: "col" }, t(key))))),
      el("tbody", {}, against.map((pair) => el("tr", {}, el("th", { scope: "row" }, pair.opponent),
        ...[pair.matches, pair.rounds].map((tally) => el("td", {}, `${tally.won} – ${tally.drawn} – ${tally.lost}`)),
        el("td", {}, `${pair.points_for} : ${pair.points_against}`))))))] : []));
}

const statistics = await ask("/api/v1/statistics");
const players = statistics.players.filter((one) => played(one.rounds) > 0).sort((a, b) => played(b.rounds) - played(a.rounds) || a.name.localeCompare(b.name));
find("players-panel").hidden = players.length === 0;
const heads = ["player", "matches", "rounds", "points_per_round", "total_per_round", "best", "twenties_per_round", "win_rate"];
find("players").replaceChildren(
  el("thead", {}, el("tr", {}, heads.map((key, at) => el("th", { scope: "col", class: at ? "number" : "" }, t(key))))),
  el("tbody", {}, players.map((one) => el("tr", {},
    el("th", { scope: "row" }, el("button", { type: "button", click: () => player(one) }, one.name)),
    [one.matches, one.rounds].map((tally) => el("td", { class: "number" }, `${tally.won} – ${tally.drawn} – ${tally.lost}`)),
    [one.points_per_round, one.total_per_round, one.best_total, one.twenties_per_round].map((value) => el("td", { class: "number" }, shown(value))),
    el("td", { class: "number" }, shown(rate(one.matches), percent))))));
if (players.length) player(players[0]);
if (matches.length) show(matches[0].number);
