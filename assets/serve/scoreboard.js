// The scoreboard: who plays, how it stands, what lies on the board.
import { dot, el, fillRounds, listen, outcome, phase, running, t, waits } from "/assets/common.js";

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
  find("nomatch").hidden = match !== null;
  find("phase").textContent = phase(board);
  find("waits").textContent = waits(board);
  find("rounds-panel").hidden = !match?.rounds.length;
  if (match) fillRounds(find("rounds"), match);
});

const button = find("projector");
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
