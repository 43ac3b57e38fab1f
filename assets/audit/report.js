"use strict";
// Draws the report from the data that the page carries. Nothing is loaded, nothing is sent.

const TEXT = {
  en: {
    audit: "audit", overlay: "lines and values", author: "Your name", reason: "Reason", download: "Download decisions", discard: "Discard", discard_sure: "Discard {0|decision|decisions} not saved yet?",
    search: "Search a picture or row", other: "Français", all: "all", disagrees: "disagree", look: "to look at",
    agrees: "agree", rest: "no row", failed: "not counted", decided: "decided",
    v_disagrees: "disagrees", v_doubtful: "not clear, sheet unlikely", v_open: "close call", v_agrees: "agrees",
    v_unclaimed: "no row in the sheet", v_no_board: "no board", v_unreadable: "cannot be read", v_counted: "counted",
    v_review: "close call", row: "row {0}", pooled: "judged with {0} photos of its camera",
    left_out: "not judged with the other photos: another place, camera, board or set of discs",
    double: "same as {0}", side: "side", sum: "on the board", aside: "set aside", picture: "picture", sheet: "sheet",
    difference: "difference", photo: "Photo", top: "From straight above", closeups: "Close and doubtful discs",
    doubts: "To be looked at", discs: "All discs", disc: "disc", value: "value", line: "line", margin: "margin mm",
    state: "state", confidence: "sure", none: "neither side", no_disc: "no disc", accept: "The count is right",
    withdraw: "Take decisions back", decisions: "Decisions", now: "decided here", kept: "{0}, {1}",
    count_decisions: "{0|decision|decisions} not saved yet", one_line: "{0|picture|pictures}: {1} agree, {2} disagree, {3} to look at, {5} without a row, {4} not counted.",
    counted_line: "{0|picture|pictures}: {1} counted, {2} to look at, {3} not counted.",
    close_line: "{0} of {1} discs are too close to call.", rows: "Rows of the sheet without a picture", faults: "Rows that cannot be used",
    unused: "Columns that were not used: {0}", twenties_all: "The sheet's 20s are read as all 20s of the round.",
    twenties_aside: "The sheet's 20s are read as those taken off the board.",
    twenties_apart: "The sheet's totals are read without the round's 20s, which stand beside them.",
    twenties_beside: "The sheet's 20s are read as those taken off the board, which its totals do not hold.",
    apart: "beside the total",
    no_order: "The sheet keeps no order of its sides ({0} clear rows fit as a and b, {1} the other way round): either order was taken.",
    far: "The circle drawn is where the disc touches the board; its top leans away from the camera.",
    nothing: "Nothing matches.", stale: "A decision no longer fits: no disc is at its place.", help: "Keys",
    other_colours: "Neither side has a colour that the sheet names.",
    exchanged: "The sheet's totals fit with the sides exchanged.", set_aside: "{1} × 20 set aside would explain side {0}.",
    impossible: "No count of side {0} gives {1}.", more_twenties: "{1} discs of side {0} lie in the hole, the sheet has {2} 20s.",
    keys: [["j / k", "next, previous picture"], ["1 … #", "filters"], ["/", "search"], ["o", "lines and values on, off"],
      ["a", "the count of this picture is right"], ["Enter", "enlarge the photo"], ["d", "download decisions"],
      ["l", "Français"], ["?", "this list"]],
    flat: "flat", in_hole: "in the hole", leaning: "leaning", off: "out", missed: "missed disc of side {0}: {1}",
    saved_hint: "Then: crokeye audit … --decisions decisions.json",
  },
  fr: {
    audit: "vérification", overlay: "lignes et valeurs", author: "Votre nom", reason: "Raison", download: "Télécharger les décisions", discard: "Abandonner", discard_sure: "Abandonner {0|décision non enregistrée|décisions non enregistrées} ?",
    search: "Chercher une photo ou une ligne", other: "English", all: "toutes", disagrees: "en désaccord", look: "à regarder",
    agrees: "d’accord", rest: "sans ligne", failed: "non comptées", decided: "décidées",
    v_disagrees: "en désaccord", v_doubtful: "pas nette, feuille peu probable", v_open: "cas serré", v_agrees: "d’accord",
    v_unclaimed: "sans ligne dans la feuille", v_no_board: "pas de plateau", v_unreadable: "illisible", v_counted: "comptée",
    v_review: "cas serré", row: "ligne {0}", pooled: "jugée avec {0} photos de son appareil",
    left_out: "jugée sans les autres photos : autre lieu, appareil, plateau ou jeu de palets",
    double: "comme {0}", side: "camp", sum: "sur le plateau", aside: "mis de côté", picture: "photo", sheet: "feuille",
    difference: "écart", photo: "Photo", top: "Vue d’en haut", closeups: "Palets serrés ou douteux",
    doubts: "À regarder", discs: "Tous les palets", disc: "palet", value: "valeur", line: "ligne", margin: "marge mm",
    state: "état", confidence: "sûr", none: "aucun camp", no_disc: "pas un palet", accept: "Le compte est juste",
    withdraw: "Retirer les décisions", decisions: "Décisions", now: "décidé ici", kept: "{0}, {1}",
    count_decisions: "{0|décision non enregistrée|décisions non enregistrées}", one_line: "{0|photo|photos} : {1} d’accord, {2} en désaccord, {3} à regarder, {5} sans ligne, {4} non comptées.",
    counted_line: "{0|photo|photos} : {1} comptées, {2} à regarder, {3} non comptées.",
    close_line: "{0} palets sur {1} sont trop serrés pour trancher.", rows: "Lignes de la feuille sans photo", faults: "Lignes inutilisables",
    unused: "Colonnes non utilisées : {0}", twenties_all: "Les 20 de la feuille sont lus comme tous ceux de la manche.",
    twenties_aside: "Les 20 de la feuille sont lus comme ceux retirés du plateau.",
    twenties_apart: "Les totaux de la feuille sont lus sans les 20 de la manche, notés à côté.",
    twenties_beside: "Les 20 de la feuille sont lus comme ceux retirés du plateau, que ses totaux ne comptent pas.",
    apart: "à côté du total",
    no_order: "La feuille ne garde pas l’ordre des camps ({0} lignes nettes vont comme a et b, {1} à l’inverse) : les deux ordres sont admis.",
    far: "Le cercle dessiné est l’endroit où le palet touche le plateau ; son dessus penche loin de l’appareil.",
    nothing: "Rien ne correspond.", stale: "Une décision ne convient plus : aucun palet à cet endroit.", help: "Touches",
    other_colours: "Aucun camp n’a une couleur que la feuille nomme.",
    exchanged: "Les totaux de la feuille conviennent si l’on échange les camps.", set_aside: "{1} × 20 mis de côté expliqueraient le camp {0}.",
    impossible: "Aucun compte du camp {0} ne donne {1}.", more_twenties: "{1} palets du camp {0} sont dans le trou, la feuille a {2} 20.",
    keys: [["j / k", "photo suivante, précédente"], ["1 … #", "filtres"], ["/", "chercher"], ["o", "lignes et valeurs oui, non"],
      ["a", "le compte de cette photo est juste"], ["Entrée", "agrandir la photo"], ["d", "télécharger les décisions"],
      ["l", "English"], ["?", "cette liste"]],
    flat: "à plat", in_hole: "dans le trou", leaning: "penché", off: "dehors", missed: "palet oublié du camp {0} : {1}",
    saved_hint: "Puis : crokeye audit … --decisions decisions.json",
  },
};

// The count's sentences, for French readers: patterns and what is said instead. What is not there stays English.
const $ = (id) => document.getElementById(id);
const { sentences: FRENCH, colours: COLOURS } = JSON.parse($("french").textContent);
const audit = JSON.parse($("audit").textContent);
const items = [...document.querySelectorAll("script.item")].map((script) => JSON.parse(script.textContent));
items.forEach((item, at) => { item.at = at; item.name = item.source.split(/[\\/]/).pop(); });
const STORE = "crokeye-audit " + items.map((item) => item.key).join("").slice(0, 512);

const remembered = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* a browser that keeps nothing */ } };

let language = remembered("crokeye-language") || ((navigator.language || "en").startsWith("fr") ? "fr" : "en");
let filter = "all";
let current = -1;
let made = [];
try { made = JSON.parse(remembered(STORE) || "[]"); } catch { made = []; }

// {0} is the first word; {0|picture|pictures} a number with what it counts.
const counted = (number, one, many) => number + " " + (new Intl.PluralRules(language).select(number) === "one" ? one : many);
const t = (key, ...words) => TEXT[language][key].replace(/\{(\d)\|([^|}]*)\|([^}]*)\}/g, (_, at, one, many) => counted(words[at], one, many)).replace(/\{(\d)\}/g, (_, at) => words[at]);
const num = (value, digits = 1) => new Intl.NumberFormat(language, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
const colour = (name) => (language === "fr" && COLOURS[name]) || name;
const sideName = (side) => (side.colour ? colour(side.colour) : t("side") + " " + side.side);
const told = (sentence) => {
  if (language !== "fr") return sentence;
  const rule = FRENCH.find(([pattern]) => new RegExp(pattern).test(sentence));
  if (!rule) return sentence;
  const [whole, ...words] = new RegExp(rule[0]).exec(sentence);
  const french = (word) => colour(word).replace(/^(\d+)\.(\d+)$/, "$1,$2");
  return rule[1].replace(/\$(\d)/g, (_, at) => french(words[at - 1])) + (whole.length < sentence.length ? told(sentence.slice(whole.length)) : "");
};

// Elements: el("p.soft", {title: ".."}, children)
function el(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}
function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// Board millimetres to picture pixels, as the count's JSON says: homography, then radial distortion.
function project(board, [x, y]) {
  const h = board.homography;
  const w = h[2][0] * x + h[2][1] * y + h[2][2];
  let u = (h[0][0] * x + h[0][1] * y + h[0][2]) / w, v = (h[1][0] * x + h[1][1] * y + h[1][2]) / w;
  if (board.distortion) {
    const [cx, cy] = board.camera.principal_px, f = board.camera.focal_px;
    const a = (u - cx) / f, b = (v - cy) / f, r2 = a * a + b * b;
    const scale = 1 + board.distortion.k1 * r2 + board.distortion.k2 * r2 * r2;
    u = cx + f * a * scale; v = cy + f * b * scale;
  }
  return [u, v];
}
const circle = (radius, [x, y] = [0, 0], steps = 90) =>
  Array.from({ length: steps }, (_, k) => { const a = (2 * Math.PI * k) / steps; return [x + radius * Math.cos(a), y + radius * Math.sin(a)]; });
const path = (points) => points.map(([x, y]) => x.toFixed(1) + "," + y.toFixed(1)).join(" ");

// Changes that hold: those of the last run, then those made here.
const here = (item) => made.filter((decision) => decision.sha256 === item.audit.sha256);
function changed(item) {
  const discs = new Map(item.discs.map((disc) => [disc.id, { ...disc }]));
  let accepted = false;
  for (const decision of here(item)) {
    if (decision.decision === "withdraw") { discs.clear(); item.discs.forEach((disc) => discs.set(disc.id, { ...disc })); accepted = false; }
    if (decision.decision === "accept") accepted = true;
    if (decision.decision === "value") Object.assign(discs.get(decision.disc) || {}, { value: decision.value, close: false, here: true });
    if (decision.decision === "no_disc") discs.delete(decision.disc);
  }
  const sides = item.sides.map((side) => {
    const count = { 20: 0, 15: 0, 10: 0, 5: 0, 0: 0 };
    for (const disc of discs.values()) if (disc.side === side.side) count[disc.value] += 1;
    const points = [20, 15, 10, 5].reduce((sum, value) => sum + value * count[value], 0);
    // Discs added by an earlier decision stand in the side's own count alone.
    const missed = item.audit.decisions.filter((d) => d.decision === "missed" && d.side === side.side);
    missed.forEach((d) => { count[d.value] += 1; });
    return { ...side, count, points: points + missed.reduce((sum, d) => sum + d.value, 0) };
  });
  return { discs: [...discs.values()], sides, accepted };
}

const image = (item, name) => {
  const holder = $(item.key + "-" + name);
  return holder ? "data:image/jpeg;base64," + holder.textContent : null;
};
const discClass = (disc) => ["disc", disc.side || "none", disc.value === 0 ? "off" : "", disc.close ? "is-close" : ""].join(" ").trim();
// What was not taken for a disc, but may be one: drawn like a close disc, without a value.
const spots = (item) => item.review.filter((doubt) => doubt.at_mm)
  .map((doubt, k) => ({ at_mm: doubt.at_mm, reason: doubt.reason, name: "spot-" + (k + 1), radius_mm: item.discs.length ? item.discs[0].radius_mm : 16 }));
const SPOT = { value: "?", close: true, side: null };
const label = (at, size, disc) => {
  const text = svg("text", { x: at[0], y: at[1], "font-size": size, class: disc.close ? "is-close" : "", "stroke-width": size / 6 });
  text.textContent = disc.value;
  return text;
};

function photoView(item, state) {
  const source = image(item, "photo");
  if (!source) return null;
  const { width, height } = item.image || { width: 4, height: 3 };
  const view = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": item.name });
  view.append(svg("image", { href: source, width, height }));
  const marks = svg("g", { class: "marks" });
  if (item.board) {
    const at = (point) => { const [u, v] = project(item.board, point); return [u + 0.5, v + 0.5]; };
    item.board.rings.forEach((ring) => marks.append(svg("polygon", { class: "ring", points: path(circle(ring.inner_mm).map(at)) })));
    for (const disc of state.discs) {
      const [bx, by] = at(disc.base_mm), [px, py] = [disc.base_px[0] + 0.5, disc.base_px[1] + 0.5];
      const outline = circle(disc.radius_mm, disc.base_mm, 32).map(at).map(([u, v]) => [u + px - bx, v + py - by]);
      const size = Math.hypot(outline[0][0] - px, outline[0][1] - py);
      marks.append(svg("polygon", { class: discClass(disc), points: path(outline) }), label([px, py], size * 0.85, disc));
    }
  }
  for (const spot of item.board ? spots(item) : []) {
    const outline = circle(spot.radius_mm, spot.at_mm, 32).map((point) => project(item.board, point).map((x) => x + 0.5));
    const middle = project(item.board, spot.at_mm).map((x) => x + 0.5);
    const size = Math.hypot(outline[0][0] - middle[0], outline[0][1] - middle[1]);
    marks.append(svg("polygon", { class: discClass(SPOT) + " spot", points: path(outline) }), label(middle, size * 0.85, SPOT));
  }
  view.append(marks);
  view.addEventListener("click", () => enlarge(view));
  return el("figure", {}, view, el("figcaption", {}, t("photo")));
}

function topView(item, state) {
  const source = image(item, "top");
  if (!source || !item.board) return null;
  const view = svg("svg", { viewBox: "-372 -372 744 744", role: "img", "aria-label": t("top") });
  view.append(svg("image", { href: source, x: -372, y: -372, width: 744, height: 744 }));
  const marks = svg("g", { class: "marks" });
  item.board.rings.forEach((ring) => marks.append(svg("circle", { class: "ring", r: ring.inner_mm })));
  for (const disc of state.discs) {
    const [x, y] = disc.base_mm;
    marks.append(svg("circle", { class: discClass(disc), cx: x, cy: y, r: disc.radius_mm }), label([x, y], 15, disc));
  }
  for (const { at_mm: [x, y], radius_mm } of spots(item)) {
    marks.append(svg("circle", { class: discClass(SPOT) + " spot", cx: x, cy: y, r: radius_mm }), label([x, y], 15, SPOT));
  }
  view.append(marks);
  view.addEventListener("click", () => enlarge(view));
  return el("figure", {}, view, el("figcaption", {}, t("top")));
}

// The enlarged place about [x, y] mm, with the lines and a disc of that class and radius.
function enlarged(item, name, [x, y], kind, radius, title) {
  const source = image(item, name), reach = 34;
  if (!source) return null;
  const view = svg("svg", { viewBox: `${x - reach} ${y - reach} ${2 * reach} ${2 * reach}`, role: "img", "aria-label": title });
  view.append(svg("image", { href: source, x: x - reach, y: y - reach, width: 2 * reach, height: 2 * reach }));
  const marks = svg("g", { class: "marks" });
  item.board.rings.forEach((ring) => marks.append(svg("circle", { class: "ring", r: ring.inner_mm })));
  marks.append(svg("circle", { class: kind, cx: x, cy: y, r: radius }));
  view.append(marks);
  view.addEventListener("click", () => enlarge(view));
  return el("figure", {}, view);
}

function spotCard(item, spot) {
  const card = el("div", { "data-spot": spot.name });
  const view = enlarged(item, spot.name, spot.at_mm, discClass(SPOT), spot.radius_mm, told(spot.reason));
  if (view) card.append(view);
  card.append(el("p", {}, el("b", {}, "? "), told(spot.reason)));
  return card;
}

function closeup(item, state, disc) {
  const shown = state.discs.find((other) => other.id === disc.id);
  const card = el("div", { "data-disc": disc.id });
  const view = enlarged(item, "disc-" + disc.id, disc.base_mm, discClass(shown || disc), disc.radius_mm, t("disc") + " " + disc.id);
  if (view) card.append(view);
  const side = item.sides.find((other) => other.side === disc.side);
  const reasons = item.review.filter((doubt) => doubt.disc === disc.id).map((doubt) => told(doubt.reason));
  card.append(el("p", {}, el("b", {}, "#" + disc.id + " " + (side ? sideName(side) : t("none"))), " ", reasons.join("; ")));
  const values = [20, 15, 10, 5, 0];
  const likely = values.filter((value) => Math.abs(values.indexOf(value) - values.indexOf(disc.value)) <= 1);
  const choose = el("div.choose", { role: "group", "aria-label": t("value") });
  for (const value of likely) {
    const on = Boolean(shown) && shown.value === value && (shown.here || item.audit.decided.includes(disc.id));
    choose.append(el("button", { type: "button", "aria-pressed": on, onclick: () => decide(item, { decision: "value", disc: disc.id, at_mm: disc.base_mm, value }) }, String(value)));
  }
  choose.append(el("button", { type: "button", "aria-pressed": !shown, onclick: () => decide(item, { decision: "no_disc", disc: disc.id, at_mm: disc.base_mm }) }, t("no_disc")));
  card.append(choose);
  return card;
}

function sumOf(side) {
  const parts = [20, 15, 10, 5].filter((value) => side.count[value]).map((value) => side.count[value] + "×" + value);
  return (parts.join(" + ") || "0") + " = " + side.points;
}

// The colour of the side's discs inside the colour in which they are drawn.
function swatch(item, side) {
  const dot = el("span.swatch." + side.side);
  const disc = item.discs.find((other) => other.side === side.side);
  if (disc) dot.style.background = `lab(${disc.colour.lab.join(" ")})`;
  return dot;
}

function totals(item, state) {
  const { claimed, counted, row } = item.audit;
  // What the sheet's way of counting 20s adds to the board, or leaves out.
  const more = item.sides.map((side, index) => (row === null ? 0 : counted[index] - side.total));
  const head = el("tr", {}, el("th", {}, t("side")), el("th.sum", {}, t("sum")));
  const some = more.some((points) => points !== 0);
  if (some) head.append(el("th", {}, t(more.some((points) => points > 0) ? "aside" : "apart")));
  head.append(el("th.n", {}, t("picture")));
  if (row !== null) head.append(el("th.n", {}, t("sheet")), el("th.n", {}, t("difference")));
  const table = el("table", {}, head);
  state.sides.forEach((side, index) => {
    const total = side.points + more[index];
    const line = el("tr", {}, el("td", {}, swatch(item, side), sideName(side)), el("td.sum", {}, sumOf(side)));
    if (some) line.append(el("td", {}, more[index] ? (more[index] < 0 ? "− " : "") + Math.abs(more[index]) / 20 + "×20" : ""));
    line.append(el("td.n", {}, el("b", {}, String(total))));
    if (row !== null) {
      const off = claimed[index] - total;
      line.append(el("td.n", {}, String(claimed[index])), el(off ? "td.n.wrong" : "td.n", {}, off ? (off > 0 ? "+" : "−") + Math.abs(off) : "0"));
    }
    table.append(line);
  });
  return el("div.scroll", {}, table);
}

function remarkText(remark) {
  const words = { set_aside: [remark.side, remark.count], impossible: [remark.side, remark.total], more_twenties: [remark.side, remark.seen, remark.sheet] };
  return t(remark.kind, ...(words[remark.kind] || []));
}

function decisionText(decision) {
  const disc = decision.disc ? "#" + decision.disc + " " : "";
  const what = { value: () => disc + "= " + decision.value, owner: () => disc + "→ " + decision.side, no_disc: () => disc + t("no_disc"),
    missed: () => t("missed", decision.side, decision.value), accept: () => t("accept"), withdraw: () => t("withdraw") };
  const when = new Date(decision.at).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
  return what[decision.decision]() + " (" + t("kept", decision.author || "?", when) + (decision.reason ? ": " + decision.reason : "") + ")";
}

const badge = (item) => {
  const verdict = item.audit.verdict;
  const name = !audit.has_sheet && verdict === "unclaimed" ? item.status : verdict;
  return el("span.badge." + name, {}, t("v_" + name));
};

function body(item) {
  const state = changed(item);
  const parts = [];
  if (item.error) parts.push(el("p", {}, told(item.error)));
  if (state.sides.length) parts.push(totals(item, state));
  if (item.audit.remarks.length) parts.push(el("ul", {}, ...item.audit.remarks.map((remark) => el("li", {}, remarkText(remark)))));
  const doubts = item.review.filter((doubt) => doubt.disc === null && !doubt.at_mm);
  if (doubts.length) parts.push(el("h3", {}, t("doubts")), el("ul", {}, ...doubts.map((doubt) => el("li", {}, told(doubt.reason)))));
  const views = [photoView(item, state), topView(item, state)].filter(Boolean);
  if (views.length) parts.push(el("div.views", {}, ...views));
  const doubted = new Set(item.review.map((doubt) => doubt.disc));
  const close = item.discs.filter((disc) => disc.close || doubted.has(disc.id));
  const doubtful = spots(item);
  if (close.length + doubtful.length) {
    parts.push(el("h3", {}, t("closeups")), el("div.closeups", {}, ...close.map((disc) => closeup(item, state, disc)), ...doubtful.map((spot) => spotCard(item, spot))));
    parts.push(el("p.far", {}, el("small", {}, t("far"))));
  }
  if (item.sides.length) {
    const choose = el("div.choose", {}, el("button.accept", { type: "button", "aria-pressed": state.accepted, onclick: () => decide(item, { decision: "accept" }) }, t("accept")));
    if (item.audit.decisions.length || here(item).length) choose.append(el("button", { type: "button", onclick: () => takeBack(item) }, t("withdraw")));
    parts.push(choose);
  }
  const decisions = [...item.audit.decisions.map(decisionText), ...here(item).map((decision) => decisionText(decision) + " · " + t("now"))];
  if (decisions.length) parts.push(el("h3", {}, t("decisions")), el("ul", {}, ...decisions.map((text) => el("li", {}, text))));
  if (item.audit.stale.length) parts.push(el("p", {}, t("stale")));
  if (item.discs.length) parts.push(discTable(item, state));
  return parts;
}

function discTable(item, state) {
  const head = ["disc", "side", "state", "value", "line", "margin", "confidence"].map((key) => el("th", {}, t(key)));
  const table = el("table", {}, el("tr", {}, ...head));
  for (const disc of state.discs) {
    const side = item.sides.find((other) => other.side === disc.side);
    const margin = disc.margin_mm === null ? "" : num(disc.margin_mm, 2) + " ± " + num(disc.margin_sigma_mm, 2);
    const cells = ["#" + disc.id, side ? sideName(side) : "–", t(disc.state), disc.value, disc.line || "", margin, Math.round(disc.confidence * 100) + " %"];
    table.append(el("tr", {}, ...cells.map((cell) => el("td", {}, String(cell)))));
  }
  return el("details", {}, el("summary", {}, t("discs")), el("div.scroll", {}, table));
}

function card(item) {
  const doubles = items.filter((other) => other !== item && item.audit.double !== null && other.audit.double === item.audit.double);
  const notes = [item.audit.row === null ? null : t("row", item.audit.row), item.audit.taken ? item.audit.taken.replace("T", " ") : null,
    item.audit.pooled > 1 ? t("pooled", item.audit.pooled) : null,
    item.audit.left_out ? t("left_out") : null].filter(Boolean);
  const head = el("div.head", {}, badge(item), el("h2", {}, item.name), el("small", { title: item.source }, notes.join(" · ")));
  for (const other of doubles) head.append(el("button.badge.note", { type: "button", onclick: () => reveal(other) }, t("double", other.name)));
  const article = el("article", { tabindex: "-1", "data-at": item.at, "data-name": item.name }, head, el("div.body"));
  return article;
}

// A card is filled when it comes near the screen, and before printing.
const near = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) fill(entry.target);
}, { rootMargin: "800px" });
function fill(article) {
  const holder = article.querySelector(".body");
  if (holder.childElementCount) return;
  holder.replaceChildren(...body(items[article.dataset.at]));
  near.unobserve(article);
}
function refill(item) {
  const article = document.querySelector(`article[data-at="${item.at}"]`);
  if (article) article.querySelector(".body").replaceChildren(...body(item));
}

const isOpen = (item) => item.needs_eyes && !["disagrees", "no_board", "unreadable"].includes(item.audit.verdict);
const FILTERS = {
  all: () => true,
  disagrees: (item) => item.audit.verdict === "disagrees",
  look: isOpen,
  agrees: (item) => item.audit.verdict === "agrees" || (!audit.has_sheet && item.status === "counted"),
  rest: (item) => audit.has_sheet && item.audit.row === null && Boolean(item.sides.length),
  failed: (item) => !item.sides.length,
  decided: (item) => item.audit.decisions.length > 0 || here(item).length > 0,
};
function shown() {
  const words = $("search").value.trim().toLowerCase();
  const fits = (item) => !words || item.source.toLowerCase().includes(words) || String(item.audit.row) === words;
  return items.filter((item) => FILTERS[filter](item) && fits(item));
}

function list() {
  current = -1;
  const cards = shown().map(card);
  $("list").replaceChildren(...(cards.length ? cards : [el("p", {}, t("nothing"))]));
  cards.forEach((article) => near.observe(article));
}

function summary() {
  const tally = audit.tally;
  const look = items.filter(isOpen).length, failed = tally.no_board + tally.unreadable;
  const lines = [audit.has_sheet ? t("one_line", tally.pictures, tally.agree, tally.disagree, look, failed, tally.unclaimed)
    : t("counted_line", tally.pictures, tally.pictures - look - failed, look, failed),
    t("close_line", tally.close_discs, tally.discs)];
  if (audit.has_sheet) {
    if (audit.conventions.twenties !== "all") lines.push(t("twenties_" + audit.conventions.twenties));
    if (!audit.conventions.sides_fixed) lines.push(t("no_order", audit.conventions.in_order, audit.conventions.exchanged));
    if (audit.unused.length) lines.push(t("unused", audit.unused.join(", ")));
  }
  $("summary").replaceChildren(...lines.map((line) => el("p", {}, line)));
  const table = (title, rows) => rows.length ? [el("h2", {}, t(title)), el("ul", {}, ...rows.map(([row, reason]) => el("li", {}, t("row", row) + (language === "fr" ? " : " : ": ") + told(reason))))] : [];
  $("rows").replaceChildren(...table("rows", audit.unmatched), ...table("faults", audit.faults));
}

function filters() {
  const names = Object.keys(FILTERS).filter((name) => name === "all" || items.some(FILTERS[name]));
  $("filters").replaceChildren(...names.map((name, at) => el("button", { type: "button", "data-filter": name, "aria-pressed": name === filter,
    onclick: () => { filter = name; filters(); list(); } }, el("kbd", {}, String(at + 1)), t(name === "agrees" && !audit.has_sheet ? "v_counted" : name),
    el("b", {}, String(items.filter(FILTERS[name]).length)))));
}

// Who decides, and why; what is not said yet is asked for before the decisions are saved.
const said = (field) => $(field).value.trim() || null;
const signed = () => ({ author: said("author"), reason: said("reason") });
function sign() {
  made = made.map((decision) => ({ ...decision, author: decision.author || said("author"), reason: decision.reason || said("reason") }));
  keep(null);
}

function decide(item, change) {
  const place = (decision) => decision.sha256 === item.audit.sha256 && decision.disc === change.disc;
  const values = ["value", "no_disc"];
  made = made.filter((decision) => !(place(decision) && (decision.decision === change.decision || (values.includes(decision.decision) && values.includes(change.decision)))));
  made.push({ picture: item.name, sha256: item.audit.sha256, ...change, ...signed(), at: new Date().toISOString() });
  keep(item);
}
function takeBack(item) {
  made = made.filter((decision) => decision.sha256 !== item.audit.sha256);
  if (item.audit.decisions.length) made.push({ picture: item.name, sha256: item.audit.sha256, decision: "withdraw", ...signed(), at: new Date().toISOString() });
  keep(item);
}
function keep(item) {
  remember(STORE, JSON.stringify(made));
  if (item) refill(item);
  bar();
  filters();
}
function bar() {
  $("decisions").hidden = made.length === 0;
  $("decision-count").textContent = t("count_decisions", made.length);
  $("decisions").title = t("saved_hint");
}
function download() {
  sign();
  const asked = ["author", "reason"].find((field) => made.some((decision) => !decision[field]));
  if (asked) { $(asked).value = ""; $(asked).required = true; $(asked).reportValidity(); return; }
  const kept = items.flatMap((item) => item.audit.decisions);
  const text = JSON.stringify({ schema: "crokeye.decisions/1", decisions: [...kept, ...made] }, null, 1);
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type: "application/json" })), download: "decisions.json" });
  document.body.append(link);
  link.click();
  link.remove();
}

function enlarge(view) {
  $("zoom").lastElementChild.replaceChildren(view.cloneNode(true));
  $("zoom").showModal();
}
function help() {
  const rows = TEXT[language].keys.map(([key, text]) => [key.replace("#", $("filters").children.length), text]).map(([key, text]) => el("tr", {}, el("td", {}, el("kbd", {}, key)), el("td", {}, text)));
  $("help").lastElementChild.replaceChildren(el("h2", {}, t("help")), el("table", {}, ...rows), el("p", {}, t("saved_hint")));
  $("help").showModal();
}
function reveal(item) {
  if (!document.querySelector(`article[data-at="${item.at}"]`)) { filter = "all"; $("search").value = ""; filters(); list(); }
  step(0, document.querySelector(`article[data-at="${item.at}"]`));
}
function step(by, to) {
  const cards = [...document.querySelectorAll("article")];
  if (!cards.length) return;
  current = to ? cards.indexOf(to) : Math.min(cards.length - 1, Math.max(0, current + by));
  cards.forEach((article, at) => article.classList.toggle("current", at === current));
  fill(cards[current]);
  cards[current].focus({ preventScroll: true });
  cards[current].scrollIntoView({ block: "start" });
}
const at = () => { const article = document.querySelectorAll("article")[current]; return article ? items[article.dataset.at] : null; };

function speak(next) {
  language = next;
  remember("crokeye-language", next);
  document.documentElement.lang = next;
  document.title = "crokeye · " + t("audit");
  document.querySelectorAll("[data-t]").forEach((node) => { node.textContent = t(node.dataset.t); });
  $("language").textContent = t("other");
  $("search").placeholder = t("search");
  $("search").setAttribute("aria-label", t("search"));
  summary(); filters(); list(); bar();
}
function overlay(on) {
  $("overlay").checked = on;
  document.body.classList.toggle("marks-off", !on);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches("input:not([type=checkbox])")) { if (event.key === "Escape") event.target.blur(); return; }
  if (document.querySelector("dialog[open]")) return;
  const number = Number(event.key);
  const buttons = [...$("filters").children];
  const article = document.querySelectorAll("article")[current];
  const keys = {
    j: () => step(1), k: () => step(-1), "/": () => $("search").focus(), o: () => overlay(!$("overlay").checked), d: () => made.length && download(),
    l: () => speak(language === "en" ? "fr" : "en"), "?": help, a: () => at() && at().sides.length && decide(at(), { decision: "accept" }),
  };
  if (event.key === "Enter" && event.target === article) { const view = article.querySelector("figure svg"); if (view) enlarge(view); }
  else if (number >= 1 && number <= buttons.length) buttons[number - 1].click();
  else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
});
document.querySelectorAll("dialog").forEach((dialog) => dialog.addEventListener("click", (event) => {
  if (event.target === dialog || event.target.matches(".close") || event.target.closest("svg")) dialog.close();
}));
$("search").addEventListener("input", list);
$("overlay").addEventListener("change", (event) => overlay(event.target.checked));
$("language").addEventListener("click", () => speak(language === "en" ? "fr" : "en"));
$("help-button").addEventListener("click", help);
$("download").addEventListener("click", download);
$("discard").addEventListener("click", () => { if (!confirm(t("discard_sure", made.length))) return; made = []; remember(STORE, "[]"); list(); bar(); filters(); });
$("author").value = remembered("crokeye-author") || "";
$("author").addEventListener("change", (event) => { remember("crokeye-author", event.target.value); sign(); });
$("reason").addEventListener("change", sign);
// Paper holds what the screen folds away.
window.addEventListener("beforeprint", () => {
  document.querySelectorAll("article").forEach(fill);
  document.querySelectorAll("details").forEach((details) => { details.open = true; });
});
window.addEventListener("afterprint", () => document.querySelectorAll("details").forEach((details) => { details.open = false; }));
speak(language);
