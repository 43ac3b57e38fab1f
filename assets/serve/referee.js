// The referee's page: the live board, what is proposed, and what is decided about it.
import { ask, atBoard, el, fillRounds, here, listen, notice, outcome, phase, running, send, t, told, waits } from "/assets/common.js";
import { draw } from "/assets/board.js";
import { card } from "/assets/proposal.js";
import { offerTables, showConnectors, startTable } from "/assets/connectors.js";

const find = (id) => document.getElementById(id);
const author = find("author");
author.value = localStorage.getItem("author") ?? "";
author.addEventListener("change", () => localStorage.setItem("author", author.value.trim()));

let match = null;
const cards = new Map();

/** Sends a command for the match as it is shown; whoever changed it meanwhile is not overwritten. */
async function act(path, body = {}) {
  try {
    await send(`/api/v1/matches/${match.number}/${path}`, { author: author.value, expected: match.revision, ...body });
    return true;
  } catch (problem) {
    notice(problem.message);
    return false;
  }
}

/** Asks for a reason and more; `fields` are inputs. Gives what was said, or null. */
function say(title, ...fields) {
  const dialog = find("dialog");
  const reason = el("input", { name: "reason", required: true, maxlength: 200 });
  const form = el("form", { method: "dialog" }, el("h2", { id: "dialog-title" }, title), ...fields, el("label", {}, t("reason"), reason),
    el("p", { class: "row" }, el("button", { class: "main", value: "ok" }, t("save")), el("button", { value: "", formnovalidate: true }, t("cancel"))));
  dialog.replaceChildren(form);
  dialog.returnValue = "";
  dialog.showModal();
  (form.querySelector("input") ?? reason).focus();
  return new Promise((done) =>
    dialog.addEventListener("close", () => done(dialog.returnValue === "ok" ? Object.fromEntries(new FormData(form)) : null), { once: true }));
}

const number = (name, label, value) => el("label", {}, label, el("input", { name, type: "number", min: 0, max: 1000, required: true, value }));

async function correct(round) {
  const fields = round.sides.map((side, at) => el("fieldset", {}, el("legend", {}, match.sides[at].name),
    number(`total${at}`, t("total"), side.total ?? 0), number(`twenties${at}`, t("twenties"), side.twenties ?? 0)));
  const said = await say(t("correct_title", round.round), ...fields);
  if (!said) return;
  const sides = round.sides.map((_, at) => ({ total: Number(said[`total${at}`]), twenties: Number(said[`twenties${at}`]) }));
  await act(`rounds/${round.round}/correct`, { sides, reason: said.reason });
}

async function voidRound(round) {
  const said = await say(t("void_title", round.round));
  if (said) await act(`rounds/${round.round}/void`, { reason: said.reason });
}

async function dismiss(proposal) {
  const said = await say(t("dismiss_title"));
  if (said) await act(`proposals/${proposal.number}/dismiss`, { reason: said.reason });
}

async function showProposals() {
  const wanted = match?.proposals ?? [];
  const key = (proposal) => `${match.number}/${proposal.number}`;
  for (const [known, root] of cards) {
    if (!wanted.some((proposal) => key(proposal) === known)) {
      cards.delete(known);
      (await root)?.remove();
    }
  }
  for (const proposal of wanted) {
    if (cards.has(key(proposal))) continue;
    const made = card(match, proposal, { confirm: (sides, reason) => act(`proposals/${proposal.number}/confirm`, { sides, reason }), dismiss: () => dismiss(proposal) });
    cards.set(key(proposal), made.catch((problem) => (notice(problem.message), null)));
    const root = await cards.get(key(proposal));
    // Decided while its evidence was on the way: then it is not shown any more.
    if (root && cards.has(key(proposal))) find("proposals").append(root);
  }
}

function showMatch() {
  const sides = (match?.sides ?? []).flatMap((side, at) => [at ? el("span", {}, ":") : "", el("span", { class: "who" }, side.name), el("b", {}, String(side.points))]);
  find("score").replaceChildren(...(match ? sides : [t("no_match")]), match ? el("span", { class: "hint" }, ` ${match.rules.name} ${outcome(match)}`) : "");
  find("step").textContent = match ? t("match_n", match.number) : "";
  find("undo").disabled = !match || match.undoable === null || match.undoable <= 1;
  find("redo").disabled = !match;
  find("rounds-panel").hidden = !match?.rounds.length;
  if (match) {
    fillRounds(find("rounds"), match, (round) => round.void ? [] : [
      el("button", { type: "button", click: () => correct(round) }, t("correct")),
      el("button", { type: "button", click: () => voidRound(round) }, t("void_round"))]);
  }
  if (!match) find("new-panel").open = true;
  showProposals();
}

listen(({ board, match: now, connectors }, event) => {
  if (event.event === "snapshot" || event.event === "match") {
    match = now;
    showMatch();
  }
  if (event.event === "not_proposed") notice(t("not_proposed", event.round, told(event.reason)));
  showConnectors(find("connectors"), connectors, match);
  find("phase").textContent = phase(board);
  find("waits").textContent = [waits(board), board?.reason && told(board.reason)].filter(Boolean).join(" ");
  find("held").hidden = !board?.held;
  find("held").textContent = board?.held ? t("held", told(board.held)) : "";
  find("running").replaceChildren(...running(board, match));
  draw(find("marks"), board?.count, { board: board?.board ?? board?.count?.board });
});

find("undo").addEventListener("click", () => act("undo", { of: match.undoable }));
find("redo").addEventListener("click", () => act("redo"));
for (const [id, key] of [["end-round", "end_round"], ["look", "look"]]) {
  find(id).addEventListener("click", () => send(atBoard(`keys/${key}`)).catch((problem) => notice(problem.message)));
}

find("new").addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = Object.fromEntries(new FormData(event.target));
  const colours = said.colour_a && said.colour_b ? [said.colour_a, said.colour_b] : [];
  try {
    await send(`/api/v1/matches?board=${here}`, { author: author.value, sides: [said.a, said.b], rules: said.rules, first: said.first, colours });
    find("new-panel").open = false;
  } catch (problem) {
    notice(problem.message);
  }
});
const { rules } = await ask("/api/v1/rules");
find("new").elements.rules.append(...rules.map((set) => el("option", { value: set.name, selected: set.name === "nca" }, `${set.name}: ${set.title}`)));
find("colours").append(...["black", "white", "natural", "red", "blue", "green", "yellow", "orange"].map((name) => el("option", { value: name })));
await offerTables(find("tables"), async (choice) => {
  try {
    await startTable(choice, author.value);
    find("new-panel").open = false;
  } catch (problem) {
    notice(problem.message);
  }
});
