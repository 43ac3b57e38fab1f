// A proposed round: what was counted, and what a person makes of it before it is confirmed.
import { ask, dot, el, swapped, t, told } from "/assets/common.js";
import { closeUp, draw } from "/assets/board.js";

const VALUES = [20, 15, 10, 5, 0];
const tenths = new Intl.NumberFormat(document.documentElement.lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** A card for a proposal; `confirm(sides, reason)` and `dismiss()` are what its buttons do. */
export async function card(match, proposal, { confirm, dismiss }) {
  const at = (kind) => proposal.round.evidence.find((evidence) => evidence.kind === kind);
  const path = (evidence) => `/api/v1/matches/${match.number}/evidence/${evidence.sha256}`;
  const count = await ask(path(at("count")));
  const photo = at("photo") ? path(at("photo")) : null;
  const turned = swapped(count, match);
  const party = (side) => (side === null ? null : (side === "a") !== turned ? 0 : 1);
  const asCounted = () => ({
    discs: count.discs.map((disc) => ({ id: disc.id, party: party(disc.side), value: disc.value, seen: disc })),
    aside: [0, 1].map((at) => proposal.round.sides[at].set_aside ?? 0),
  });
  let edit = asCounted();
  const before = JSON.stringify(edit);
  const root = el("section", { class: "panel proposal", "aria-label": t("proposed"), "data-proposal": proposal.number });

  const of = (at) => edit.discs.filter((disc) => disc.party === at);
  const total = (at) => of(at).reduce((sum, disc) => sum + disc.value, 20 * edit.aside[at]);
  const entry = (at) => {
    const zones = Object.fromEntries(VALUES.map((value) => [value, of(at).filter((disc) => disc.value === value).length]));
    return { zones, set_aside: edit.aside[at] };
  };
  const change = (what) => {
    what();
    const focused = document.activeElement?.dataset?.key;
    show();
    if (focused) root.querySelector(`[data-key="${focused}"]`)?.focus();
  };

  // The values on both sides of the line in doubt; where no line is, all that the disc could be.
  const neighbours = (disc) => {
    const seen = disc.seen;
    if (seen.state === "in_hole" || seen.state === "leaning") return [20, 15];
    const line = Number(seen.line);
    return line ? [line, VALUES[VALUES.indexOf(line) + 1]] : VALUES.slice(0, 4);
  };
  const taps = (disc, values) => values.map((value) =>
    el("button", { type: "button", class: "tap", "data-key": `d${disc.id}v${value}`, "aria-pressed": String(disc.value === value), click: () => change(() => (disc.value = value)) }, String(value)));

  const doubt = (review) => {
    const disc = edit.discs.find((disc) => disc.id === review.disc);
    if (!disc) return el("li", {}, told(review.reason));
    const seen = disc.seen, close = seen.close && seen.margin_mm !== null;
    const key = seen.margin_mm < 0 ? "margin_beyond" : "margin";
    const text = close ? t(key, tenths.format(Math.abs(seen.margin_mm)), seen.line, tenths.format(seen.margin_sigma_mm)) : told(review.reason);
    return el("li", { class: "doubt", "data-disc": disc.id },
      photo && closeUp(photo, count, seen),
      el("div", {}, el("strong", {}, dot(seen.colour.name), ` ${t("disc")} ${disc.id}`), el("p", {}, text), el("p", { class: "hint" }, t("camera_says", seen.value)),
        el("div", { class: "taps", role: "group", "aria-label": t("value") }, taps(disc, neighbours(disc)))));
  };

  const stepper = (at) => {
    const step = (by, label) => el("button", { type: "button", class: "step", "data-key": `a${at}${by}`, "aria-label": `${label}: ${t("set_aside")}, ${match.sides[at].name}`,
      disabled: edit.aside[at] + by < 0, click: () => change(() => (edit.aside[at] += by)) }, by > 0 ? "+" : "−");
    return el("span", { class: "stepper" }, step(-1, t("less")), el("b", {}, String(edit.aside[at])), step(1, t("more")));
  };

  const row = (disc) => {
    const side = el("select", { "aria-label": `${t("side")}, ${t("disc")} ${disc.id}`, "data-key": `s${disc.id}`, change: (event) => change(() => (disc.party = event.target.value === "" ? null : Number(event.target.value))) },
      el("option", { value: "", selected: disc.party === null }, t("no_side")),
      match.sides.map((named, at) => el("option", { value: at, selected: disc.party === at }, named.name)));
    const value = el("select", { "aria-label": `${t("value")}, ${t("disc")} ${disc.id}`, "data-key": `v${disc.id}`, change: (event) => change(() => (disc.value = Number(event.target.value))) },
      VALUES.map((value) => el("option", { selected: disc.value === value }, String(value))));
    const remove = el("button", { type: "button", click: () => change(() => (edit.discs = edit.discs.filter((other) => other !== disc))) }, t("remove"));
    return el("tr", { "data-row": disc.id }, el("th", { scope: "row" }, String(disc.id)), el("td", {}, side), el("td", {}, value), el("td", {}, remove));
  };

  const adder = (at) => el("p", { class: "taps" }, el("span", {}, match.sides[at].name),
    VALUES.slice(0, 4).map((value) => el("button", { type: "button", class: "tap", "aria-label": `${t("add_disc")}: ${match.sides[at].name} ${value}`, click: () => change(() => {
      const id = Math.max(0, ...edit.discs.map((disc) => disc.id)) + 1;
      edit.discs.push({ id, party: at, value, seen: { id, line: null, state: "flat" } });
    }) }, `+${value}`)));

  // What was changed, in words: the log keeps it as the reason, with what the referee adds.
  const changes = () => {
    const name = (at) => (at === null ? t("no_side") : match.sides[at].name);
    const said = [];
    for (const was of asCounted().discs) {
      const now = edit.discs.find((disc) => disc.id === was.id && disc.seen === was.seen);
      if (!now) said.push(t("change_removed", was.id, was.value));
      else {
        if (now.value !== was.value) said.push(t("change_value", was.id, now.value, was.value));
        if (now.party !== was.party) said.push(t("change_side", was.id, name(now.party), name(was.party)));
      }
    }
    for (const disc of edit.discs.filter((disc) => !count.discs.includes(disc.seen))) said.push(t("change_added", name(disc.party), disc.value));
    const aside = asCounted().aside;
    [0, 1].filter((at) => edit.aside[at] !== aside[at]).forEach((at) => said.push(t("change_aside", name(at), edit.aside[at], aside[at])));
    return said.join("; ");
  };
  const why = el("input", { maxlength: 200, autocomplete: "off", "data-key": "why" });
  const reason = () => [changes(), why.value.trim()].filter(Boolean).join(": ");

  let open = false;
  function show() {
    const edited = JSON.stringify(edit) !== before;
    const svg = el("svg", { role: "img", "aria-label": t("marks") });
    draw(svg, count, { values: new Map(edit.discs.map((disc) => [disc.id, disc.value])) });
    const discs = el("details", { open, toggle: (event) => (open = event.target.open) }, el("summary", {}, t("all_discs", edit.discs.length)),
      photo && el("figure", { class: "board" }, el("img", { src: photo, alt: "" }), svg),
      el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("disc")), el("th", { scope: "col" }, t("side")), el("th", { scope: "col" }, t("value")), el("td", {}))),
        el("tbody", {}, edit.discs.map(row)))),
      el("h4", {}, t("add_disc")), adder(0), adder(1));
    root.replaceChildren(
      el("div", { class: "row" }, el("h3", {}, t("proposed")), edited && el("span", { class: "badge" }, t("edited"))),
      el("div", { class: "running" }, [0, 1].map((at) => el("div", { class: "count" },
        el("span", { class: "who" }, dot(match.sides[at].colour), match.sides[at].name), el("b", {}, String(total(at))),
        el("small", {}, t("set_aside"), stepper(at))))),
      proposal.held.length ? el("p", { class: "warning" }, t("held_rules", proposal.held.map(told).join("; "))) : "",
      count.review.length ? el("ul", { class: "doubts" }, count.review.map(doubt)) : el("p", { class: "hint" }, t("clear")),
      edited ? el("label", {}, t("why_changed"), why) : "",
      edited ? el("p", { class: "hint changes" }, changes()) : "",
      el("p", { class: "row" },
        el("button", { type: "button", class: "main confirm", "data-key": "confirm", click: () => (edited ? confirm([entry(0), entry(1)], reason()) : confirm(null)) }, t("confirm", total(0), total(1))),
        edited && el("button", { type: "button", click: () => change(() => (edit = asCounted())) }, t("reset")),
        el("button", { type: "button", class: "dismiss", click: dismiss }, t("dismiss"))),
      discs);
  }
  show();
  return root;
}
