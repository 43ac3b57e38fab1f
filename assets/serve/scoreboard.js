// The scoreboard: who plays, how it stands, what lies on the board.
import { boardName, dot, el, fillRounds, listen, outcome, phase, projector, running, t, waits } from "/assets/common.js";

const find = (id) => document.getElementById(id);

listen(({ board, match }) => {
  const sides = (match?.sides ?? []).map((side) => {
    const starts = match.next_first?.side === side.side;
    return el("article", { class: "side" },
      el("h2", {}, dot(side.colour), side.name),
      el("p", { class: "points" }, String(side.points), el("span", { class: "quiet" }, " " + t("points"))),
      el("p", { class: "facts" }, `${t("twenties")}: ${side.twenties ?? "–"}`, starts && el("span", { class: "badge" }, t("starts_next"))));
  });
  const end = outcome(match);
  find("sides").replaceChildren(...sides, end ? el("p", { class: "outcome" }, end) : "");
  find("running").replaceChildren(...running(board, match));
  if (!find("phase")) return;
  find("where").hidden = document.body.dataset.boards === "1" || !board?.id;
  if (board?.id) find("where").textContent = boardName(board);
  find("nomatch").hidden = match !== null;
  find("phase").textContent = phase(board);
  find("waits").textContent = waits(board);
  find("rounds-panel").hidden = !match?.rounds.length;
  if (match) fillRounds(find("rounds"), match);
});

projector(find("projector"));
