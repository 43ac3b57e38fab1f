// Programs elsewhere on the referee's page: how their connectors do, and the tables of a championship to start a match from.
import { ask, el, here, notice, send, t } from "/assets/common.js";

const FATES = { sent: "croki_sent", waits: "croki_waits", unfit: "croki_unfit" };

/** One line for what a referee should know: where this match was sent, and who cannot be reached. */
export function showConnectors(root, connectors, match) {
  const lines = (connectors ?? []).flatMap((one) => {
    const sent = one.matches?.find((sent) => sent.number === match?.number);
    if (sent) return [[sent.state === "sent", t(FATES[sent.state], one.name, sent.reason ?? "")]];
    return one.state === "fails" ? [[false, t("connector_fails", one.name, one.reason)]] : [];
  });
  root.hidden = lines.length === 0;
  root.replaceChildren(...lines.map(([well, text]) => el("li", { class: well ? "hint" : "warning" }, text)));
}

/** Offers the tables of the championship where there is one; `begin(choice)` starts a match. */
export async function offerTables(root, begin) {
  const { connectors } = await ask("/api/v1/connectors");
  if (!connectors.some((one) => one.kind === "croki")) return;
  const round = el("input", { name: "round", type: "number", min: 1, max: 99 });
  const list = el("select", { name: "table", required: true });
  const start = el("button", { type: "submit", disabled: true }, t("start_match"));
  const load = async () => {
    try {
      const { matches } = await ask("/api/v1/croki/tables" + (round.value ? `?round=${Number(round.value)}` : ""));
      const playable = matches.filter((one) => one.team_a.name && one.team_b.name);
      list.replaceChildren(...playable.map((one) => el("option", { value: JSON.stringify(choice(one)) },
        [one.table && t("table_n", one.table), `${one.team_a.name} – ${one.team_b.name}`, one.status].filter(Boolean).join(" · "))));
      start.disabled = playable.length === 0;
    } catch (problem) {
      notice(problem.message);
    }
  };
  const form = el("form", { class: "pair" }, el("label", {}, t("tournament_round"), round),
    el("button", { type: "button", click: load }, t("load_tables")), el("label", {}, t("table"), list), start);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    begin(JSON.parse(list.value));
  });
  root.replaceChildren(el("h3", {}, "croki.nl"), form);
  root.hidden = false;
}

/** What names a match of the list best. */
function choice({ match_code, match_id, table, round }) {
  const named = Object.entries({ match_code, match_id, table, round }).filter(([, value]) => value !== null);
  return Object.fromEntries(named);
}

/** Starts a match of the championship. */
export const startTable = (choice, author) => send(`/api/v1/croki/matches?board=${here}`, { ...choice, author });
