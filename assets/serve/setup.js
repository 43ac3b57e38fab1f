// Set-up: which camera, where the board is, which colours and trays, which match; and what is wrong.
import { ask, atBoard, colour, el, here, listen, notice, phase, remember, send, t, told } from "/assets/common.js";
import { draw, project } from "/assets/board.js";

const COLOURS = ["black", "white", "natural", "red", "blue", "green", "yellow", "orange", "purple", "brown", "pink", "grey", "walnut", "cherry", "maple"];
const SIZES = ["640x480", "800x600", "1280x720", "1280x960", "1920x1080", "2560x1440", "3840x2160"];
const RATES = [5, 10, 15, 25, 30, 60];
const HANDLES = 8;
/** Fewer pictures a second of a camera than this lose shots. */
const SLOW = 5;
const find = (id) => document.getElementById(id);
const marks = find("marks"), author = remember(find("author"), "author");

let now = null;        // what the server says of camera and choices
let state = null;      // the board as it is told
let tool = "look";
let points = null;     // {hole: [x, y], line: [[x, y], ...]} px
let preview = null;    // the board that the points lead to
let tray = null;       // {x, y, width, height} px
let size = [1280, 720];

find("picture").src = atBoard("picture.mjpeg");

async function choose(body, said = t("done")) {
  try {
    now = await send(atBoard("setup"), { author: author.value, ...body });
    fill();
    notice(said);
    return true;
  } catch (problem) {
    notice(problem.message);
    return false;
  }
}

// What is drawn over the picture: the board as it is known, or what is being set.
const scale = () => size[0] / (marks.clientWidth || size[0]);
const board = () => preview ?? state?.board ?? state?.count?.board ?? null;

function show() {
  marks.setAttribute("viewBox", `-0.5 -0.5 ${size[0]} ${size[1]}`);
  const focused = document.activeElement?.dataset?.handle;
  draw(marks, tool === "look" ? state?.count : null, { board: tool.startsWith("tray") ? null : board() });
  marks.setAttribute("viewBox", `-0.5 -0.5 ${size[0]} ${size[1]}`);
  const trays = now?.chosen.trays ?? [null, null];
  trays.forEach((region, at) => region && tool !== "tray" + at && marks.append(rectangle(region, "tray " + "ab"[at])));
  if (tool === "points" && points) {
    points.line.forEach((at, i) => marks.append(handle(at, `line${i}`, t("point_n", i + 1))));
    marks.append(handle(points.hole, "hole", t("hole")));
  }
  if (tool.startsWith("tray") && tray) marks.append(rectangle(tray, "tray set"));
  if (focused) marks.querySelector(`[data-handle="${focused}"]`)?.focus();
}

const rectangle = ({ x, y, width, height }, kind) => el("rect", { class: kind, x: x - 0.5, y: y - 0.5, width, height });

function handle([x, y], name, label) {
  const radius = 14 * scale();
  return el("g", { class: "handle " + (name === "hole" ? "hole" : ""), tabindex: 0, role: "button", "data-handle": name, "aria-label": `${label}: ${Math.round(x)}, ${Math.round(y)}`,
    pointerdown: (event) => grab(event, name), keydown: (event) => nudge(event, name) },
    el("circle", { cx: x, cy: y, r: radius }), el("circle", { class: "spot", cx: x, cy: y, r: radius / 6 }));
}

const inPicture = (event) => {
  const box = marks.getBoundingClientRect();
  return [((event.clientX - box.left) / box.width) * size[0] - 0.5, ((event.clientY - box.top) / box.height) * size[1] - 0.5];
};

/** Moves a point; the hole takes all others along, so that the rings can be dragged as one. */
function move(name, [dx, dy]) {
  const by = ([x, y]) => [x + dx, y + dy];
  if (name === "hole") points = { hole: by(points.hole), line: points.line.map(by) };
  else points.line[Number(name.slice(4))] = by(points.line[Number(name.slice(4))]);
  preview = null;
  find("keep").disabled = true;
  show();
}

function grab(event, name) {
  event.preventDefault();
  event.stopPropagation();
  let from = inPicture(event);
  const drag = (moved) => {
    const to = inPicture(moved);
    move(name, [to[0] - from[0], to[1] - from[1]]);
    from = to;
  };
  const drop = () => ["pointermove", "pointerup", "pointercancel"].forEach((kind) => removeEventListener(kind, kind === "pointermove" ? drag : drop));
  addEventListener("pointermove", drag);
  addEventListener("pointerup", drop);
  addEventListener("pointercancel", drop);
  marks.querySelector(`[data-handle="${name}"]`)?.focus();
}

function nudge(event, name) {
  const step = event.shiftKey ? 10 : 1;
  const by = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
  if (!by) return;
  event.preventDefault();
  move(name, by);
}

/** Points to begin with: those kept, else those of the board that is seen, else a circle in the middle. */
function begin() {
  const kept = now?.chosen.start;
  if (kept) {
    const by = size[0] / kept.size_px[0], at = ([x, y]) => [(x + 0.5) * by - 0.5, (y + 0.5) * by - 0.5];
    return { hole: at(kept.hole_px), line: kept.line_px.map(at) };
  }
  const around = (radius) => Array.from({ length: HANDLES }, (_, i) => [radius * Math.cos((2 * Math.PI * i) / HANDLES), radius * Math.sin((2 * Math.PI * i) / HANDLES)]);
  const seen = board();
  if (seen) return { hole: project(seen, [0, 0]), line: around(seen.rings[0].inner_mm).map((at) => project(seen, at)) };
  const [x, y] = [size[0] / 2, size[1] / 2], radius = 0.4 * Math.min(...size);
  return { hole: [x, y], line: around(radius).map(([dx, dy]) => [x + dx, y + dy]) };
}

const start = () => ({ size_px: size, hole_px: points.hole, line_px: points.line });

async function look(body) {
  find("found").textContent = t("looking");
  try {
    const found = await send(atBoard("calibration"), body);
    preview = found.board;
    find("found").textContent = t("found_board", found.board.model, found.residual_px.toFixed(1));
    find("keep").disabled = false;
  } catch (problem) {
    preview = null;
    find("found").textContent = problem.message;
    find("keep").disabled = true;
  }
  show();
}

function pick(name) {
  tool = name;
  for (const button of document.querySelectorAll("[data-tool]")) button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
  const trays = tool.startsWith("tray");
  find("points-actions").hidden = tool !== "points";
  find("tray-actions").hidden = !trays;
  find("tool-hint").textContent = t(trays ? "hint_tray" : tool === "points" ? "hint_points" : "hint_look");
  find("found").textContent = "";
  preview = null;
  if (tool === "points") points = begin();
  if (trays) setTray(now?.chosen.trays[Number(tool.slice(4))] ?? null);
  show();
}

const fields = [...find("tray-fields").querySelectorAll("input")];
function setTray(region) {
  tray = region;
  for (const field of fields) field.value = region ? region[field.name] : "";
  show();
}
find("tray-fields").addEventListener("input", () => {
  const region = Object.fromEntries(fields.map((field) => [field.name, Math.max(0, Math.round(Number(field.value)))]));
  tray = region.width && region.height ? region : null;
  show();
});

marks.addEventListener("pointerdown", (event) => {
  if (!tool.startsWith("tray")) return;
  event.preventDefault();
  const clamp = (value, most) => Math.round(Math.min(Math.max(value, 0), most));
  const corner = (moved) => inPicture(moved).map((value, axis) => clamp(value, size[axis]));
  const from = corner(event);
  const drag = (moved) => {
    const to = corner(moved);
    const region = { x: Math.min(from[0], to[0]), y: Math.min(from[1], to[1]), width: Math.abs(from[0] - to[0]), height: Math.abs(from[1] - to[1]) };
    setTray(region.width > 4 && region.height > 4 ? region : null);
  };
  const drop = () => (removeEventListener("pointermove", drag), removeEventListener("pointerup", drop));
  addEventListener("pointermove", drag);
  addEventListener("pointerup", drop);
});

for (const button of document.querySelectorAll("[data-tool]")) button.addEventListener("click", () => pick(button.dataset.tool));
find("preview").addEventListener("click", () => look({ start: start() }));
find("keep").addEventListener("click", async () => (await choose({ start: preview && now ? start() : null }, t("kept"))) && pick("look"));
find("automatic").addEventListener("click", async () => (await choose({ start: null }, t("automatic_again"))) && pick("look"));
const keepTray = (region) => {
  const trays = [...(now?.chosen.trays ?? [null, null])];
  trays[Number(tool.slice(4))] = region;
  return choose({ trays });
};
find("keep-tray").addEventListener("click", () => tray && keepTray(tray));
find("no-tray").addEventListener("click", async () => (await keepTray(null)) && setTray(null));

// The forms.
const camera = find("camera"), colours = find("colours"), match = find("new");
const options = (select, entries, chosen) => select.replaceChildren(...entries.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));

async function fillCameras() {
  const { cameras } = await ask("/api/v1/cameras");
  const kept = now.chosen.source;
  const known = cameras.map((one) => [one.source, one.name ? `${one.source}: ${one.name}` : t("camera_n", one.source)]);
  const isAddress = kept !== null && !known.some(([source]) => source === kept) && kept !== "sample";
  options(camera.elements.source, [["", t("source_configured", now.configured)], ...known, ["sample", t("source_sample")], ["address", t("source_address")]], isAddress ? "address" : kept ?? "");
  if (isAddress) camera.elements.address.value = kept;
  showAddress();
}
const showAddress = () => (find("address-label").hidden = camera.elements.source.value !== "address");
camera.elements.source.addEventListener("change", showAddress);
camera.addEventListener("submit", (event) => {
  event.preventDefault();
  const { source, address, size, fps } = Object.fromEntries(new FormData(camera));
  choose({ source: source === "address" ? address.trim() : source || null, size: size || null, fps: fps ? Number(fps) : null }, t("camera_changed"));
});
colours.addEventListener("submit", (event) => {
  event.preventDefault();
  const { a, b } = Object.fromEntries(new FormData(colours));
  if (!a !== !b) return notice(t("both_colours"));
  choose({ colours: a ? [a, b] : null });
});

function fill() {
  if (now.size_px) size = now.size_px;
  const chosen = now.chosen;
  options(camera.elements.size, [["", t("as_it_comes")], ...SIZES.map((one) => [one, one.replace("x", " × ")])], chosen.size ?? "");
  options(camera.elements.fps, [["", t("as_it_comes")], ...RATES.map((rate) => [String(rate), t("rate", rate)])], chosen.fps === null ? "" : String(chosen.fps));
  for (const [name, at] of [["a", 0], ["b", 1]]) options(colours.elements[name], [["", t("learnt")], ...COLOURS.map((one) => [one, colour(one)])], chosen.colours?.[at] ?? "");
  show();
}

/** What is wrong, worst first, each with what to do. */
function troubles() {
  const out = [];
  if (now.state === "restarting") out.push(["bad", t("trouble_source", told(now.reason ?? ""))]);
  for (const code of now.troubles) out.push([code === "no_picture" || code === "no_board" ? "bad" : "warn", t(`trouble_${code}`)]);
  if (now.live && now.state === "watching" && now.troubles.length === 0 && rate !== null && rate < SLOW) out.push(["warn", t("trouble_slow")]);
  if (now.not_found && now.chosen.start) out.push(["bad", told(now.not_found)]);
  if (state?.held) out.push(["warn", t("held", told(state.held))]);
  if (now.size_px && chosenSize() && now.size_px.join("x") !== chosenSize()) out.push(["warn", t("trouble_size", chosenSize().replace("x", " × "), now.size_px.join(" × "))]);
  return out;
}
const chosenSize = () => now.chosen.size;

let counted = null, rate = null;
async function poll() {
  try {
    now = await ask(atBoard("setup"));
    const at = performance.now();
    rate = counted && at > counted.at ? (1000 * (now.frames - counted.frames)) / (at - counted.at) : null;
    counted = { at, frames: now.frames };
    if (now.size_px && now.size_px.join() !== size.join()) {
      size = now.size_px;
      show();
    }
    const light = now.light;
    const facts = [["source", now.source], ["picture_size", now.size_px?.join(" × ") ?? "–"], ["frame_rate", rate === null ? "–" : t("rate", rate.toFixed(rate < 10 ? 1 : 0))],
      ["brightness", light ? `${Math.round((100 * light.brightness) / 255)} %` : "–"], ["board_word", now.model ?? "–"]];
    find("facts").replaceChildren(...facts.flatMap(([key, value]) => [el("dt", {}, t(key)), el("dd", {}, value)]));
    const wrong = troubles();
    const text = wrong.map(([, said]) => said).join("\n") || t("all_well");
    // A reader that speaks hears what changed, not the same every two seconds.
    if (find("troubles").dataset.said !== text) {
      find("troubles").dataset.said = text;
      find("troubles").replaceChildren(...(wrong.length ? wrong.map(([kind, said]) => el("li", { class: kind }, said)) : [el("li", { class: "good" }, t("all_well"))]));
    }
  } catch (problem) {
    notice(problem.message);
  }
}

// Who plays.
function fillPlayers() {
  const before = Object.fromEntries(new FormData(match));
  const sides = match.elements.format.value.split(",").map(Number);
  const letters = ["A", "B", "C"];
  find("players").replaceChildren(...sides.flatMap((many, side) => Array.from({ length: many }, (_, at) => {
    const name = `p${side}${at}`;
    return el("label", {}, many > 1 ? t("player_n", letters[side], at + 1) : t(`side_${"abc"[side]}`), el("input", { name, required: true, maxlength: 60, value: before[name] ?? "" }));
  })), ...(sides.length === 2 ? sides.map((_, side) => el("label", {}, `${t("colour")} ${letters[side]}`, colourOf(`c${side}`, before[`c${side}`] ?? now?.chosen.colours?.[side] ?? ""))) : []));
  options(match.elements.first, sides.map((_, side) => [letters[side], t(`side_${"abc"[side]}`)]), before.first ?? "A");
}
function colourOf(name, chosen) {
  const select = el("select", { name });
  options(select, [["", "–"], ...COLOURS.map((one) => [one, colour(one)])], chosen);
  return select;
}
match.elements.format.addEventListener("change", fillPlayers);
match.addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = Object.fromEntries(new FormData(match));
  const sides = said.format.split(",").map((many, side) => Array.from({ length: Number(many) }, (_, at) => said[`p${side}${at}`].trim()).join("/"));
  const both = said.c0 && said.c1 ? [said.c0, said.c1] : [];
  try {
    await send(`/api/v1/matches?board=${here}`, { author: author.value, sides, rules: said.rules, first: said.first, colours: both });
    location.assign("/referee" + location.search);
  } catch (problem) {
    notice(problem.message);
  }
});

now = await ask(atBoard("setup"));
const { rules } = await ask("/api/v1/rules");
options(match.elements.rules, rules.map((set) => [set.name, `${set.name}: ${set.title}`]), "nca");
fill();
fillPlayers();
await fillCameras();
pick("look");
listen(({ board: latest }, event) => {
  state = latest;
  if (event.event === "board" && event.change === "moved") notice(t("moved", event.moved_px, event.turned_deg));
  find("phase").textContent = phase(state);
  // What is being dragged stays as it is.
  if (tool === "look") show();
});
await poll();
setInterval(() => document.visibilityState === "visible" && poll(), 2000);
addEventListener("resize", show);
