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

/** Sends a command for the match as it is shown; whoever changed it meanwhile is not overwritten. Gives why it is refused. */
async function attempt(path, body = {}) {
  try {
    await send(`/api/v1/matches/${match.number}/${path}`, { author: author.value, expected: match.revision, ...body });
    return null;
  } catch (problem) {
    return problem.message;
  }
}

/** The same, with a notice of a refusal. */
async function act(path, body) {
  const refused = await attempt(path, body);
  if (refused) notice(refused);
  return !refused;
}

/** Asks for a reason and more, until `decide` takes it: that gives why it is refused, or null. `fields` are inputs. */
function say(title, decide, ...fields) {
  const dialog = find("dialog");
  const refused = el("p", { class: "warning", role: "alert", hidden: true });
  const submit = async (event) => {
    event.preventDefault();
    refused.textContent = (await decide(Object.fromEntries(new FormData(form)))) ?? "";
    refused.hidden = !refused.textContent;
    if (refused.hidden) dialog.close();
  };
  const reason = el("input", { name: "reason", required: true, maxlength: 200 });
  const form = el("form", { submit }, el("h2", { id: "dialog-title" }, title), ...fields, el("label", {}, t("reason"), reason), refused,
    el("p", { class: "row" }, el("button", { class: "main" }, t("save")), el("button", { type: "button", click: () => dialog.close() }, t("cancel"))));
  dialog.replaceChildren(form);
  dialog.showModal();
  (form.querySelector("input") ?? reason).focus();
}

const number = (name, label, value) => el("label", {}, label, el("input", { name, type: "number", min: 0, max: 1000, required: true, value }));

function correct(round) {
  const fields = round.sides.map((side, at) => el("fieldset", {}, el("legend", {}, match.sides[at].name),
    number(`total${at}`, t("total"), side.total ?? 0), number(`twenties${at}`, t("twenties"), side.twenties ?? 0)));
  const decide = (said) => {
    const sides = round.sides.map((_, at) => ({ total: Number(said[`total${at}`]), twenties: Number(said[`twenties${at}`]) }));
    return attempt(`rounds/${round.round}/correct`, { sides, reason: said.reason });
  };
  say(t("correct_title", round.round), decide, ...fields);
}

const voidRound = (round) => say(t("void_title", round.round), ({ reason }) => attempt(`rounds/${round.round}/void`, { reason }));

const dismiss = (proposal) => say(t("dismiss_title"), ({ reason }) => attempt(`proposals/${proposal.number}/dismiss`, { reason }));

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
  // What the camera proposed last is what is taken back first.
  find("undo").textContent = match?.proposals.some((proposal) => proposal.number === match.undoable) ? t("undo_proposal") : t("undo");
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
