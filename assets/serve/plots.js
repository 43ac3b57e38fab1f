// Plots as SVG: bars of a match's rounds, lines of a player's matches.
import { el, t } from "/assets/common.js";

const WIDTH = 320, HEIGHT = 120, LEFT = 34, BOTTOM = 100, TOP = 10;

/** Totals of both sides, a group of bars a round. */
export function rounds(match) {
  const played = match.rounds.filter((round) => round.counts);
  const most = Math.max(5, ...played.flatMap((round) => round.sides.map((side) => side.total ?? 0)));
  const bars = played.flatMap((round, i) => round.sides.map((side, at) => {
    const height = (60 * (side.total ?? 0)) / most;
    return el("g", { class: `bar ${"abc"[at]}` }, el("title", {}, `${t("round")} ${round.round}, ${match.sides[at].name}: ${side.total ?? "–"}`),
      el("rect", { x: i * 40 + at * 14 + 4, y: 76 - height, width: 12, height }),
      el("text", { x: i * 40 + at * 14 + 10, y: 72 - height }, String(side.total ?? "")));
  }));
  const names = played.map((round, i) => el("text", { class: "axis", x: i * 40 + 17, y: 88 }, String(round.round)));
  return el("svg", { class: "plot", role: "img", "aria-label": t("totals_plot"), viewBox: `0 0 ${Math.max(4, played.length) * 40} 92` }, bars, names);
}

/** A round number at or above the value, for an axis. */
function ceiling(value) {
  const step = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * step).find((top) => top >= value) ?? 10 * step;
}

/** A line through values over time; `points` are {label, value}, values that are not known leave a gap. */
export function line(title, points, format, least = 1) {
  const known = points.filter((point) => point.value !== null);
  if (!known.length) return null;
  const top = ceiling(Math.max(least, ...known.map((point) => point.value)));
  const x = (at) => LEFT + ((WIDTH - LEFT - 12) * (at + 0.5)) / points.length;
  const y = (value) => BOTTOM - ((BOTTOM - TOP) * value) / top;
  const runs = [];
  points.forEach((point, at) => {
    if (point.value === null) return runs.push([]);
    (runs.at(-1) ?? (runs.push([]), runs.at(-1))).push(`${x(at).toFixed(1)},${y(point.value).toFixed(1)}`);
  });
  const grid = [0, top / 2, top].flatMap((value) => [
    el("polyline", { class: "grid", points: `${LEFT},${y(value)} ${WIDTH - 8},${y(value)}` }),
    el("text", { class: "axis end", x: LEFT - 4, y: y(value) + 3 }, format(value))]);
  const marks = points.map((point, at) => point.value === null ? null :
    el("circle", { class: "mark", cx: x(at), cy: y(point.value), r: 3 }, el("title", {}, `${point.label}: ${format(point.value)}`)));
  const ends = [0, points.length - 1].filter((at, i, all) => all.indexOf(at) === i);
  const names = ends.map((at) => el("text", { class: "axis" + (at && points.length > 1 ? " end" : ""), x: at ? WIDTH - 8 : LEFT, y: BOTTOM + 14 }, points[at].label));
  return el("figure", { class: "chart" }, el("figcaption", {}, title),
    el("svg", { role: "img", "aria-label": `${title}: ${known.map((point) => `${point.label} ${format(point.value)}`).join(", ")}`, viewBox: `0 0 ${WIDTH} ${HEIGHT}` },
      grid, runs.filter((run) => run.length > 1).map((run) => el("polyline", { class: "line", points: run.join(" ") })), marks, names));
}

/** Shares of a whole as one bar: [{label, share, kind}]. */
export function shares(title, parts) {
  const whole = parts.reduce((sum, part) => sum + part.share, 0);
  if (!whole) return null;
  let from = 0;
  const bars = parts.filter((part) => part.share > 0).map((part) => {
    const width = (WIDTH * part.share) / whole, x = from;
    from += width;
    const percent = `${Math.round((100 * part.share) / whole)} %`;
    return el("g", { class: "part " + part.kind }, el("title", {}, `${part.label}: ${percent}`), el("rect", { x, y: 4, width, height: 22 }),
      width > 30 && el("text", { x: x + width / 2, y: 18 }, part.label));
  });
  const said = parts.map((part) => `${part.label} ${Math.round((100 * part.share) / whole)} %`).join(", ");
  return el("figure", { class: "chart" }, el("figcaption", {}, title), el("svg", { role: "img", "aria-label": `${title}: ${said}`, viewBox: `0 0 ${WIDTH} 30` }, bars));
}
