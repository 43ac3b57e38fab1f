// Matches that were played: rounds with what shows them, corrections as such, the log, exports.
import { ask, dot, el, here, notice, send, t } from "/assets/common.js";
import { draw } from "/assets/board.js";

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

/** Totals of both sides, a pair of bars a round. */
function plot(match) {
  const rounds = match.rounds.filter((round) => round.counts);
  const most = Math.max(5, ...rounds.flatMap((round) => round.sides.map((side) => side.total ?? 0)));
  const bars = rounds.flatMap((round, i) => round.sides.map((side, at) => {
    const height = (60 * (side.total ?? 0)) / most;
    return el("g", { class: `bar ${"abc"[at]}` }, el("title", {}, `${t("round")} ${round.round}, ${match.sides[at].name}: ${side.total ?? "–"}`),
      el("rect", { x: i * 40 + at * 14 + 4, y: 76 - height, width: 12, height }),
      el("text", { x: i * 40 + at * 14 + 10, y: 72 - height }, String(side.total ?? "")));
  }));
  const names = rounds.map((round, i) => el("text", { class: "axis", x: i * 40 + 17, y: 88 }, String(round.round)));
  return el("svg", { class: "plot", role: "img", "aria-label": t("totals_plot"), viewBox: `0 0 ${Math.max(4, rounds.length) * 40} 92` }, bars, names);
}

async function evidence(match, round) {
  const of = (kind) => round.evidence.find((evidence) => evidence.kind === kind);
  if (!of("photo") || !of("count")) return null;
  const path = (kind) => `/api/v1/matches/${match.number}/evidence/${of(kind).sha256}`;
  const svg = el("svg", { role: "img", "aria-label": t("marks") });
  draw(svg, await ask(path("count")));
  return el("figure", { class: "board" }, el("img", { src: path("photo"), alt: t("photo_of", round.round), loading: "lazy" }), svg);
}

async function one(match, round) {
  const sides = round.sides.map((side, at) => el("div", { class: "count" },
    el("span", { class: "who" }, dot(match.sides[at].colour), match.sides[at].name), el("b", {}, String(side.total ?? "–")),
    el("small", {}, `+${side.points}, ${t("twenties")}: ${side.twenties ?? "–"}`)));
  return el("article", { class: "panel" },
    el("div", { class: "row" }, el("h3", {}, `${t("round")} ${round.round}`), el("span", { class: "hint" }, `${when(round.at)} ${t("by", round.author)}`)),
    el("div", { class: "running" }, sides),
    round.void && el("p", { class: "warning" }, t("voided_by", round.void.reason, round.void.author)),
    round.amendments.map((change) => el("p", { class: "warning" }, t("corrected_by", change.reason, change.author))),
    await evidence(match, round).catch((problem) => el("p", { class: "hint" }, problem.message)));
}

async function show(number) {
  try {
    const match = await ask(`/api/v1/matches/${number}`);
    const play = el("button", { type: "button", click: () => send(`/api/v1/matches/${number}/play?board=${here}`).then(() => notice(t("done")), (problem) => notice(problem.message)) }, t("play_this"));
    const log = match.log.map((record) => el("tr", {}, el("th", { scope: "row" }, String(record.revision)), el("td", {}, when(record.at)), el("td", {}, record.author),
      el("td", {}, record.event.replaceAll("_", " "), record.reason ? `: ${record.reason}` : "")));
    find("match").replaceChildren(
      el("div", { class: "panel" },
        el("div", { class: "row" }, el("h2", { tabindex: -1 }, t("match_n", number), ": ", match.sides.map((side) => side.name).join(" – ")), match.status.state === "open" && play),
        match.rounds.length > 0 && plot(match),
        el("h3", {}, t("export")),
        el("p", { class: "taps" }, FORMATS.map((format) => el("a", { class: "button", href: `/api/v1/matches/${number}/export/${format}`, download: "", "data-format": format }, format)))),
      ...(await Promise.all(match.rounds.map((round) => one(match, round)))),
      el("details", { class: "panel" }, el("summary", {}, t("log")), el("div", { class: "scroll" }, el("table", {},
        el("thead", {}, el("tr", {}, ["step", "date", "author", "what"].map((key) => el("th", { scope: "col" }, t(key))))), el("tbody", {}, log)))));
  } catch (problem) {
    notice(problem.message);
  }
}
if (matches.length) show(matches[0].number);
