// What all pages share: words, requests, the state as it is told, and how it is shown.
const language = document.documentElement.lang;
const words = (await (await fetch("/assets/text.json")).json())[language];
const french = language === "fr" ? await (await fetch("/assets/french.json")).json() : { sentences: [], colours: {} };

/** A word or sentence in the page's language; {0}, {1} are filled in. */
export function t(key, ...values) {
  return (words[key] ?? key).replace(/\{(\d)\}/g, (_, at) => values[at] ?? "");
}

/** A colour's name in the page's language. */
export const colour = (name) => french.colours[name] ?? name;

/** A sentence of the count or of the rules in the page's language; what is not known there stays English. */
export function told(sentence) {
  for (const [pattern, instead] of french.sentences) {
    const found = new RegExp(pattern).exec(sentence);
    if (!found) continue;
    const [whole, ...parts] = found;
    const number = (word) => colour(word).replace(/^(\d+)\.(\d+)$/, "$1,$2");
    return instead.replace(/\$(\d)/g, (_, at) => number(parts[at - 1] ?? "")) + (whole.length < sentence.length ? told(sentence.slice(whole.length)) : "");
  }
  return sentence;
}

/** Words in a row: a, b and c. */
export const listed = (names) => new Intl.ListFormat(language).format(names);

/** An input whose value this browser keeps. */
export function remember(input, key) {
  input.value = localStorage.getItem(key) ?? "";
  input.addEventListener("change", () => localStorage.setItem(key, input.value.trim()));
  return input;
}

/** An element. Text is only ever text; functions are listeners. */
export function el(tag, attributes = {}, ...children) {
  const svg = ["svg", "polygon", "polyline", "circle", "image", "text", "rect", "g", "title"].includes(tag);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** The board that this page is about. */
export const here = document.body.dataset.board;

/** An address of that board's API. */
export const atBoard = (path) => `/api/v1/boards/${here}/${path}`;

/** What people call a board. */
export const boardName = ({ id, name }) => name ?? t("board_n", id);

/** Says something for a few seconds. */
let hiding;
export function notice(text) {
  const box = document.querySelector("#notice");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => (box.hidden = true), 8000);
}

async function answer(response) {
  if (response.status === 401 && document.body.dataset.page !== "login") {
    const board = new URLSearchParams(location.search).get("board");
    location.assign("/login?to=" + encodeURIComponent(location.pathname + (board ? `?board=${board}` : "")));
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) {
    const retryAfter = Number(response.headers.get("retry-after")) || undefined;
    throw Object.assign(new Error(told(body?.detail ?? response.statusText)), { kind: body?.kind, retryAfter });
  }
  return body;
}

/** Asks for JSON. */
export const ask = async (path) => answer(await fetch(path));

/** Sends a body as it is. */
export const request = async (method, path, body) => answer(await fetch(path, { method, body }));

/** Sends JSON and gives the answer; a refusal is thrown with what the server says. */
export const send = async (path, body = {}) =>
  answer(await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));

/** Shows whether the service is heard. */
export function connected(on) {
  const connection = document.querySelector("#connection");
  const text = t(on ? "connected" : "disconnected");
  if (connection.textContent === text) return;
  connection.textContent = text;
  connection.className = on ? "on" : "off";
}

/** Listens: `changed(state, event)` is called for every message with the state after it. */
export function listen(changed) {
  const state = { board: null, match: null };
  const source = new EventSource(atBoard("events"));
  source.onopen = () => connected(true);
  source.onerror = () => {
    connected(false);
    if (source.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000);
  };
  source.onmessage = (message) => {
    const event = JSON.parse(message.data);
    apply(state, event);
    changed(state, event);
  };
}

/** What an event changes in the state, as the server keeps it. */
function apply(state, event) {
  if (event.event === "snapshot") return Object.assign(state, { board: event.board, match: event.match, connectors: event.connectors });
  const board = (state.board ??= {});
  switch (event.event) {
    case "match": state.match = event.match; break;
    case "connector":
      state.connectors = (state.connectors ?? []).map((one) => (one.kind === event.connector.kind && one.name === event.connector.name ? event.connector : one));
      break;
    case "watching":
      if (event.state === "starting") state.board = { id: board.id, name: board.name, source: board.source, state: "starting", reason: null };
      else Object.assign(board, { state: event.state, reason: event.reason });
      break;
    case "standing": board.standing = event.standing; break;
    case "board": board.board = event.board; break;
    case "settled": Object.assign(board, { count: event.count, discs: event.discs, held: null }); break;
    case "held": board.held = event.reason; break;
    case "round": board.round = event; break;
    case "camera": board.camera = event.state === "back" ? null : event.state; break;
  }
}

/** Is the count's side a the match's side B? Told by the colours, as the server does. */
export function swapped(count, match) {
  const wanted = match?.sides?.map((side) => side.colour?.toLowerCase() ?? null) ?? [];
  const seen = (count?.sides ?? []).map((side) => side.colour?.toLowerCase() ?? null);
  if (!wanted[0] || !wanted[1]) return false;
  const straight = seen[0] === wanted[0] || seen[1] === wanted[1];
  const crossed = seen[0] === wanted[1] || seen[1] === wanted[0];
  return crossed && !straight;
}

/** The count's sides in the order of the match. */
export function ordered(count, match) {
  const sides = count?.sides ?? [];
  return swapped(count, match) ? [...sides].reverse() : sides;
}

const WAITS = {
  "a board": () => t("wait_board"),
  "the board to rest": () => t("wait_rest"),
  "the camera": () => t("wait_camera"),
  "light: the picture is black or covered": () => t("wait_light"),
  "the camera: its picture does not change": () => t("wait_frozen"),
  "the first shot": () => t("wait_first"),
  "a shot": () => t("wait_shot"),
  "the board to be cleared": () => t("wait_cleared"),
  "an empty board": () => t("wait_empty"),
};

/** What is waited for, as a sentence. */
export function waits(board) {
  if (board?.state === "waiting") return t("waits_for", t("wait_decision"));
  const what = board?.standing?.waits;
  if (board?.held && what === board.held) return "";
  return what ? t("waits_for", WAITS[what]?.() ?? told(what)) : "";
}

/** The round's phase, or what the watching does where it does not watch. */
export function phase(board) {
  if (!board?.state) return t("state_starting");
  const key = board.state === "watching" ? "phase_" + (board.standing?.phase ?? "ready") : "state_" + board.state;
  return t(key);
}

const COLOURS = {
  black: "#22211f", white: "#f6f4ee", natural: "#d9b98a", red: "#b3261e", blue: "#2458a8", green: "#2f7d46", yellow: "#e3b505",
  orange: "#e07b21", purple: "#70409b", brown: "#6b4527", pink: "#d977a8", grey: "#888a8c", walnut: "#5b3a21", maple: "#e3c79b",
};

/** A dot in a disc's colour. */
export function dot(colour) {
  const circle = el("circle", { cx: 8, cy: 8, r: 6.6, class: "swatch" });
  circle.style.fill = COLOURS[colour] ?? "transparent";
  return el("svg", { viewBox: "0 0 16 16", class: "dot", "aria-hidden": "true" }, circle);
}

/** The running count, in the order of the match. */
export function running(board, match) {
  const turned = swapped(board?.count, match);
  return ordered(board?.count, match).map((side, at) => {
    const twenties = board.standing?.twenties ?? [0, 0];
    const name = match?.sides?.[at]?.name ?? side.colour ?? t(at ? "side_b" : "side_a");
    return el("div", { class: "count" },
      el("span", { class: "who" }, dot(side.colour ?? match?.sides?.[at]?.colour), name),
      el("b", {}, String(side.total)),
      el("small", {}, `${t("twenties")}: ${twenties[turned ? 1 - at : at]}`));
  });
}

/** How the match stands, as a word; empty while it goes on. */
export function outcome(match) {
  const status = match?.status;
  if (status?.state === "shoot_out_due") return t("shoot_out");
  if (status?.state !== "over") return "";
  const winner = match.sides.find((side) => side.side === status.winner);
  return winner ? t("over_won", winner.name) : t("over_drawn");
}

/** The table of rounds; `actions(round)` gives what may be done with one. */
export function fillRounds(table, match, actions) {
  const head = el("tr", {}, el("th", { scope: "col" }, t("round")),
    match.sides.map((side) => el("th", { scope: "col", class: "number" }, side.name)), actions && el("td", {}));
  const rows = match.rounds.map((round) =>
    el("tr", { class: round.counts ? "" : "void" },
      el("th", { scope: "row" }, String(round.round),
        round.void && el("span", { class: "badge" }, t("void")),
        round.amendments.length > 0 && el("span", { class: "badge" }, t("corrected"))),
      round.sides.map((side) => el("td", { class: "number" },
        el("b", {}, "+" + side.points), ` ${side.total ?? ""}`,
        side.twenties > 0 && el("small", {}, ` (${side.twenties}×20)`))),
      actions && el("td", { class: "actions" }, actions(round))));
  table.replaceChildren(el("thead", {}, head), el("tbody", {}, rows));
}

/** Makes a button switch to large letters on the whole screen; `?projector` begins with them. */
export function projector(button) {
  button?.addEventListener("click", () => {
    const on = document.body.classList.toggle("projector");
    button.setAttribute("aria-pressed", String(on));
    // Where the browser does not allow it the letters are large all the same.
    if (on) document.documentElement.requestFullscreen?.().catch(() => {});
    else if (document.fullscreenElement) document.exitFullscreen();
  });
  if (new URLSearchParams(location.search).has("projector")) {
    document.body.classList.add("projector");
    button?.setAttribute("aria-pressed", "true");
  }
}

for (const link of document.querySelectorAll("nav a")) {
  if (link.dataset.for === document.body.dataset.page) link.setAttribute("aria-current", "page");
}
// Another language shows the same thing.
for (const link of document.querySelectorAll(".tools a[hreflang]")) link.addEventListener("click", () => (link.hash = location.hash));
