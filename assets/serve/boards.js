// All boards of the hall at a glance, asked for once a second: a stream for each would use up a browser's connections.
import { ask, boardName, connected, dot, el, outcome, phase, projector, running, t, waits } from "/assets/common.js";

const EVERY_MS = 1000;
const STALE_S = 10;
const hall = document.getElementById("boards");
const shown = new Map();

/** What is wrong with a board, as a sentence; empty where nothing is. */
function trouble({ board, frame_age_s }) {
  if (board?.state === "restarting") return [t("state_restarting"), board.reason].filter(Boolean).join(": ");
  if (board?.camera) return waits(board);
  if (board?.state === "watching" && frame_age_s > STALE_S) return t("no_frames");
  return board?.held ? t("held", board.held) : "";
}

function card(one) {
  const { id, board, match } = one;
  const wrong = trouble(one);
  const sides = (match?.sides ?? []).map((side) => el("p", { class: "line" },
    el("span", { class: "who" }, dot(side.colour), side.name),
    match.next_first?.side === side.side && el("span", { class: "badge" }, t("starts_next")),
    el("b", {}, String(side.points))));
  const end = outcome(match);
  return el("article", { class: "panel", "data-id": id },
    el("div", { class: "row" },
      el("h2", {}, el("a", { href: `/?board=${id}` }, boardName(one))),
      el("span", {}, match?.proposals > 0 && el("a", { class: "badge due", href: `/referee?board=${id}` }, t("to_confirm")),
        el("span", { class: "badge" }, phase(board)))),
    match ? sides : el("p", { class: "hint" }, t("no_match")),
    end && el("p", { class: "outcome" }, end),
    el("div", { class: "running" }, running(board, match)),
    wrong && el("p", { class: "warning" }, wrong));
}

async function look() {
  try {
    const { boards } = await ask("/api/v1/boards");
    connected(true);
    for (const one of boards) {
      const made = card(one), html = made.outerHTML, before = shown.get(one.id);
      if (before?.html === html) continue;
      // A board at which nothing changed keeps its links, and with them the focus.
      if (before) before.root.replaceWith(made);
      else hall.append(made);
      shown.set(one.id, { html, root: made });
    }
  } catch {
    connected(false);
  }
  setTimeout(look, EVERY_MS);
}
look();
projector(document.getElementById("projector"));
