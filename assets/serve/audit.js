// Photos against a sheet of scores: they are sent one by one, counted, shown, decided; the report is downloaded.
import { ask, colour, dot, el, listed, notice, remember, request, send, t, told } from "/assets/common.js";
import { draw } from "/assets/board.js";

const VALUES = [20, 15, 10, 5, 0];
const FILES = ["report.html", "results.csv", "results.xlsx", "discs.csv", "decisions.json"];
const LOOK = ["disagrees", "doubtful", "open"];
const find = (id) => document.getElementById(id);
const author = remember(find("author"), "author");

let audit = null;
/** Files that wait or could not be sent, with what became of them. */
let queue = [];
let sending = false;
let wanted = null;

const path = (rest = "") => `/api/v1/audits/${audit.id}${rest}`;

/** Begins an audit with the first file; its name stands in the address, so that a reload goes on with it. */
async function begun() {
  if (!audit) {
    audit = await send("/api/v1/audits");
    history.replaceState(null, "", "#" + audit.id);
  }
  return audit;
}

const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

/** Sends a photo. Who is told that the queue is full, or hears nothing, waits and tries again. */
async function sent(file) {
  for (let again = 0; ; again++) {
    try {
      return await request("POST", path(`/photos?name=${encodeURIComponent(file.webkitRelativePath || file.name)}`), file);
    } catch (problem) {
      const passes = problem.kind === "busy" || problem.kind === "slow_down" || problem.kind === undefined;
      if (!passes || again >= (problem.kind === undefined ? 5 : 600)) throw problem;
      await wait(problem.retryAfter ?? Math.min(2 ** again, 10));
    }
  }
}

async function work() {
  if (sending) return;
  sending = true;
  try {
    await begun();
    for (let next; (next = queue.find((one) => one.state === "waiting")); ) {
      next.state = "counting";
      show();
      try {
        const picture = await sent(next.file);
        audit.pictures = [...audit.pictures.filter((known) => known.source !== picture.source || known.audit.sha256 !== picture.audit.sha256), picture];
        queue.splice(queue.indexOf(next), 1);
      } catch (problem) {
        Object.assign(next, { state: "failed", reason: problem.message });
      }
      show();
    }
    // What photos say of each other, and of the sheet, is known with the last of them.
    audit = await ask(path());
  } catch (problem) {
    notice(problem.message);
  }
  sending = false;
  show();
}

const isSheet = (file) => /\.(csv|tsv|txt|xlsx)$/i.test(file.name);

function take(files) {
  const sheet = [...files].filter(isSheet).at(-1);
  const photos = [...files].filter((file) => !isSheet(file)).map((file) => ({ file, state: "waiting" }));
  queue = [...queue.filter((one) => one.state !== "failed"), ...photos];
  if (sheet) takeSheet(sheet);
  if (photos.length) work();
}

async function takeSheet(file) {
  try {
    await begun();
    audit = await request("PUT", path(`/sheet?name=${encodeURIComponent(file.name)}`), file);
    show();
  } catch (problem) {
    notice(problem.message);
  }
}

async function decide(picture, change) {
  try {
    audit = await send(path("/decisions"), { author: author.value, reason: find("reason").value, sha256: picture.audit.sha256, ...change });
    // What was decided stays in view, also when nothing is wrong with it any more.
    wanted = picture.source;
    show();
  } catch (problem) {
    notice(problem.message);
  }
}

/** A button; the one that was pressed keeps the focus when all is drawn anew. */
const button = (key, text, click, attributes = {}) => el("button", { type: "button", "data-key": key, click, ...attributes }, text);

const sideName = (picture, side) => {
  const known = picture.sides.find((one) => one.side === side);
  return known?.colour ? colour(known.colour) : t(side === "a" ? "side_a" : "side_b");
};

function values(disc) {
  if (disc.state === "in_hole" || disc.state === "leaning") return [20, 15];
  const line = Number(disc.line);
  return line ? [line, VALUES[VALUES.indexOf(line) + 1]] : VALUES;
}

/** A disc in doubt: enlarged, with what is doubtful and what it may be. */
function doubt(picture, disc) {
  const key = picture.audit.sha256.slice(0, 8) + disc.id;
  const reasons = picture.review.filter((one) => one.disc === disc.id).map((one) => told(one.reason));
  const place = { disc: disc.id, at_mm: disc.base_mm };
  const taps = values(disc).map((value) => button(`${key}v${value}`, String(value), () => decide(picture, { decision: "value", value, ...place }),
    { class: "tap", "aria-pressed": String(disc.value === value) }));
  const owners = ["a", "b"].filter((side) => disc.side === null || side !== disc.side).map((side) =>
    button(`${key}s${side}`, t("belongs_to", sideName(picture, side)), () => decide(picture, { decision: "owner", side, ...place })));
  return el("li", { class: "doubt", "data-disc": disc.id },
    el("img", { class: "closeup", src: path(`/pictures/${picture.audit.sha256}/disc-${disc.id}.jpg`), alt: `${t("close_call")}: ${t("disc")} ${disc.id}` }),
    el("div", {},
      el("strong", {}, dot(disc.colour.name), ` ${t("disc")} ${disc.id}: ${disc.value}`),
      reasons.map((reason) => el("p", {}, reason)),
      el("div", { class: "taps", role: "group", "aria-label": `${t("value")}, ${t("disc")} ${disc.id}` }, taps),
      el("p", { class: "taps" }, owners, button(`${key}n`, t("no_disc"), () => decide(picture, { decision: "no_disc", ...place })))));
}

function missed(picture) {
  const rows = ["a", "b"].map((side) => el("p", { class: "taps" }, el("span", {}, sideName(picture, side)),
    VALUES.slice(0, 4).map((value) => button(`${picture.audit.sha256.slice(0, 8)}m${side}${value}`, `+${value}`, () => decide(picture, { decision: "missed", side, value }),
      { class: "tap", "aria-label": `${t("add_disc")}: ${sideName(picture, side)} ${value}` }))));
  return el("details", {}, el("summary", {}, t("add_disc")), rows);
}

const total = (picture, at) => picture.sides[at]?.total ?? "–";
const verdict = (picture) => {
  const said = picture.audit.verdict;
  if (said === "unclaimed" && !audit.sheet) return t(picture.status === "review" ? "review" : "nothing_close");
  return t(`verdict_${said}`);
};

/** A picture with its lines and discs, what is doubtful, and what may be decided. */
function card(picture) {
  const { audit: about } = picture;
  const photo = about.shows.find((name) => name.startsWith("photo"));
  const marks = el("svg", { role: "img", "aria-label": t("marks") });
  if (picture.board) draw(marks, picture);
  const discs = picture.discs.filter((disc) => disc.close || picture.review.some((one) => one.disc === disc.id));
  const rest = picture.review.filter((one) => one.disc === null || !discs.some((disc) => disc.id === one.disc));
  const counted = picture.sides.length > 0;
  const key = about.sha256.slice(0, 8);
  return el("article", { class: "panel picture", "data-picture": picture.source },
    el("div", { class: "row" }, el("h3", { tabindex: -1 }, picture.source), el("span", { class: "badge" }, verdict(picture))),
    counted && el("div", { class: "running" }, picture.sides.map((side, at) => el("div", { class: "count" },
      el("span", { class: "who" }, dot(side.colour), sideName(picture, side.side)), el("b", {}, String(side.total)),
      about.claimed && about.row !== null && el("small", {}, t("sheet_says", about.claimed[at]))))),
    picture.error && el("p", { class: "warning" }, told(picture.error)),
    about.remarks?.length > 0 && el("ul", {}, about.remarks.map((remark) => el("li", {}, t(`remark_${remark.kind}`, remark.side ? sideName(picture, remark.side) : "", remark.count ?? remark.total ?? remark.seen, remark.sheet)))),
    rest.length > 0 && el("ul", {}, rest.map((one) => el("li", {}, told(one.reason)))),
    discs.length > 0 && el("ul", { class: "doubts" }, discs.map((disc) => doubt(picture, disc))),
    counted && picture.status === "review" && el("p", {}, button(key + "ok", t("count_is_right"), () => decide(picture, { decision: "accept" }), { class: "main" })),
    about.decisions.length > 0 && el("p", { class: "row" }, el("span", { class: "hint" }, t("decided_by", listed([...new Set(about.decisions.map((one) => one.author))]))),
      button(key + "back", t("withdraw"), () => decide(picture, { decision: "withdraw" }))),
    counted && missed(picture),
    photo && el("figure", { class: "board" }, el("img", { src: path(`/pictures/${about.sha256}/${photo}`), alt: picture.source, loading: "lazy", width: picture.image.width, height: picture.image.height }), marks));
}

function table() {
  const open = (picture) => button("show" + picture.audit.sha256 + picture.source, t("show"), () => {
    wanted = picture.source;
    show();
    const shown = document.querySelector(`[data-picture="${CSS.escape(picture.source)}"]`);
    shown?.scrollIntoView({ block: "start" });
    shown?.querySelector("h3").focus();
  }, { "aria-label": `${t("show")}: ${picture.source}` });
  const row = (picture) => el("tr", { class: "verdict-" + picture.audit.verdict },
    el("th", { scope: "row" }, picture.source), el("td", {}, verdict(picture)),
    [0, 1].map((at) => el("td", { class: "number" }, dot(picture.sides[at]?.colour), String(total(picture, at)))),
    el("td", { class: "number" }, picture.audit.row === null || !picture.audit.claimed ? "" : picture.audit.claimed.join(" : ")), el("td", { class: "actions" }, open(picture)));
  const waits = (one) => el("tr", {}, el("th", { scope: "row" }, one.file.name), el("td", { colspan: 4 }, one.state === "failed" ? one.reason : t(one.state)),
    el("td", { class: "actions" }, one.state === "failed" && button("again" + one.file.name, t("try_again"), () => ((one.state = "waiting"), work()))));
  find("pictures").replaceChildren(
    el("thead", {}, el("tr", {}, ["picture", "result", "side_a", "side_b", "sheet"].map((key, at) => el("th", { scope: "col", class: at > 1 ? "number" : "" }, t(key))), el("td", {}))),
    el("tbody", {}, queue.map(waits), audit.pictures.map(row)));
}

function show() {
  const left = queue.filter((one) => one.state !== "failed").length;
  find("progress-line").hidden = left === 0;
  if (!audit) return;
  const done = audit.pictures.length;
  Object.assign(find("progress"), { max: done + left, value: done });
  find("progress-text").textContent = left ? t("counted_of", done, done + left) : "";
  find("result").hidden = done + queue.length === 0;
  const focused = document.activeElement?.dataset?.key;
  const of = (...statuses) => audit.pictures.filter((picture) => statuses.includes(picture.status)).length;
  const failed = of("no_board", "error") + queue.filter((one) => one.state === "failed").length;
  const say = [t("audit_tally", done, of("counted"), of("review"), failed)];
  if (audit.sheet) say.push(t("audit_sheet_tally", audit.tally.agree, audit.tally.disagree));
  find("tally").textContent = say.join(" ");
  const rows = [...audit.rows_without_picture, ...audit.unusable_rows].map((row) => t("row_says", row.row, told(row.reason)));
  if (audit.unused_columns.length) rows.push(t("unused_columns", listed(audit.unused_columns)));
  find("remarks").replaceChildren(...rows.map((text) => el("li", {}, text)));
  find("sheet-name").hidden = !audit.sheet;
  find("sheet-name").replaceChildren(...(audit.sheet ? [el("span", {}, t("sheet_is", audit.sheet)), button("nosheet", t("remove"), async () => {
    audit = await request("DELETE", path("/sheet")).catch((problem) => (notice(problem.message), audit));
    show();
  })] : []));
  find("files").replaceChildren(el("span", {}, t("download")), ...FILES.map((name) => el("a", { class: name === "report.html" ? "button main" : "button", href: path("/" + name), download: "" }, name)));
  const look = audit.pictures.filter((picture) => picture.audit.needs_eyes && picture.sides.length > 0 || LOOK.includes(picture.audit.verdict) || picture.source === wanted);
  find("look").replaceChildren(...look.map(card));
  table();
  if (focused) document.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

for (const id of ["photos", "camera", "sheet"]) {
  find(id).addEventListener("change", (event) => {
    take(event.target.files);
    event.target.value = "";
  });
}
const drop = find("drop");
for (const name of ["dragenter", "dragover"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
}
document.addEventListener("dragleave", (event) => event.relatedTarget === null && drop.classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  if (event.dataTransfer.files.length) take(event.dataTransfer.files);
});
find("delete").addEventListener("click", async () => {
  if (!confirm(t("delete_sure"))) return;
  try {
    await request("DELETE", path());
    location.assign("/audit");
  } catch (problem) {
    notice(problem.message);
  }
});
addEventListener("beforeunload", (event) => sending && event.preventDefault());

const { audits } = await ask("/api/v1/audits");
const named = location.hash.slice(1);
if (audits.some((one) => one.id === named)) {
  audit = await ask(`/api/v1/audits/${named}`);
  show();
}
const others = audits.filter((one) => one.id !== named && one.pictures > 0);
const when = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
find("others-panel").hidden = others.length === 0;
find("others").append(...others.map((one) => el("li", {}, el("a", { href: "#" + one.id }, `${when.format(new Date(one.began_at))}, ${t("pictures_n", one.pictures)}`))));
addEventListener("hashchange", () => location.reload());
