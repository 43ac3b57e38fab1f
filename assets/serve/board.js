// The count drawn over its picture: rings, discs, values; and a close call enlarged.
import { el, t } from "/assets/common.js";

const CORNERS = 96;

/** Board mm to picture px, lens distortion included. */
export function project(board, [x, y]) {
  const [a, b, c] = board.homography;
  const w = c[0] * x + c[1] * y + c[2];
  let u = (a[0] * x + a[1] * y + a[2]) / w, v = (b[0] * x + b[1] * y + b[2]) / w;
  if (board.distortion) {
    const [cx, cy] = board.camera.principal_px, f = board.camera.focal_px;
    const dx = (u - cx) / f, dy = (v - cy) / f, r2 = dx * dx + dy * dy;
    const bent = 1 + board.distortion.k1 * r2 + board.distortion.k2 * r2 * r2;
    u = cx + f * dx * bent;
    v = cy + f * dy * bent;
  }
  return [u, v];
}

function outline(board, [x, y], radius) {
  const points = [];
  for (let i = 0; i < CORNERS; i++) {
    const angle = (2 * Math.PI * i) / CORNERS;
    points.push(project(board, [x + radius * Math.cos(angle), y + radius * Math.sin(angle)]).map((v) => v.toFixed(1)).join(","));
  }
  return points.join(" ");
}

/** Draws a count into an SVG that lies over its picture. `values` overrides values by disc, `pick(disc)` answers a tap. */
export function draw(svg, count, { board = count?.board, values = new Map(), pick } = {}) {
  svg.replaceChildren();
  if (!board) return;
  if (count?.image) svg.setAttribute("viewBox", `-0.5 -0.5 ${count.image.width} ${count.image.height}`);
  for (const ring of board.rings) svg.append(el("polygon", { class: "ring", points: outline(board, [0, 0], ring.inner_mm) }));
  svg.append(el("polygon", { class: "ring", points: outline(board, [0, 0], board.hole_mm) }));
  for (const disc of count?.discs ?? []) {
    const value = values.get(disc.id) ?? disc.value;
    const name = `${t("disc")} ${disc.id}: ${value}`;
    const group = el("g", { class: `disc ${disc.side ?? "neither"}${disc.close ? " close" : ""}` }, el("title", {}, name),
      el("polygon", { points: outline(board, disc.base_mm, disc.radius_mm) }));
    const label = el("text", { x: disc.base_px[0], y: disc.base_px[1] }, String(value));
    label.style.fontSize = `${size(board, disc) * 0.95}px`;
    group.append(label);
    if (pick) group.addEventListener("click", () => pick(disc));
    svg.append(group);
  }
}

/** Radius of a disc in the picture, px. */
function size(board, disc) {
  const [x, y] = project(board, disc.base_mm), [u, v] = project(board, [disc.base_mm[0] + disc.radius_mm, disc.base_mm[1]]);
  return Math.hypot(u - x, v - y);
}

/** A disc's far edge and the line beside it, enlarged. */
export function closeUp(photo, count, disc) {
  const board = count.board, radius = size(board, disc);
  const [x, y] = disc.base_mm, far = Math.hypot(x, y) || 1;
  const [u, v] = project(board, [x + (x / far) * disc.radius_mm, y + (y / far) * disc.radius_mm]);
  const span = radius * 1.5;
  const ring = board.rings.find((ring) => ring.name === disc.line);
  return el("svg", { class: "closeup", role: "img", "aria-label": t("close_call"), viewBox: `${u - span / 2} ${v - span / 2} ${span} ${span}` },
    el("image", { href: photo, x: -0.5, y: -0.5, width: count.image.width, height: count.image.height }),
    ring && el("polygon", { class: "edge", points: outline(board, [0, 0], ring.inner_mm) }),
    el("polygon", { class: "touch", points: outline(board, disc.base_mm, disc.radius_mm) }));
}
