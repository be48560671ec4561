import type { Rect } from "./record.ts";
import { advance, type Painter } from "./painter.ts";
import type { Selection, Store } from "./store.ts";
import { contributions, missing } from "./sweep.ts";
import { counted, bytesText, nodeTitle, plain, short, tensorName } from "./words.ts";

/** The colors of the page, read from its style sheet. */
export type Colors = { [name: string]: string };

const names = ["paper", "ink", "soft", "faint", "line", "box", "sweep", "sweep-soft", "ready", "warn", "bad", "param", "param-line", "input", "input-line",
  "constant", "constant-line", "keep", "lit", "new"];

export function readColors(): Colors {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(names.map((n) => [n, style.getPropertyValue("--" + n).trim()]));
}

/** What is lit up on an edge or a box, and in what color. */
interface Lights { edges: Map<string, string>; boxes: Map<number, string>; tensors: Map<number, string> }

const edgeKey = (tensor: number, to: number) => `${tensor}>${to}`;

function lights(s: Store, c: Colors): Lights {
  const l: Lights = { edges: new Map(), boxes: new Map(), tensors: new Map() };
  if (s.overlay === "critical") for (const n of s.content.critical) l.boxes.set(n, c.lit);
  if (s.overlay === "widest") for (const n of s.content.widest) l.boxes.set(n, c.lit);
  if (s.overlay === "critical") {
    const on = new Set(s.content.critical);
    for (const n of on) for (const g of s.graph.consumers(n)) if (on.has(g.node)) l.edges.set(edgeKey(g.tensor, g.node), c.lit);
  }
  for (const [n, what] of s.changes) l.boxes.set(n, what === "appeared" ? c.new : c.warn);
  if (s.tab === "why") {
    for (const r of s.answer?.waits ?? s.answer?.back ?? []) {
      l.edges.set(edgeKey(r.tensor, r.to), c.lit);
      l.boxes.set(r.from, c.lit).set(r.to, c.lit);
    }
    for (const n of s.pair) if (n >= 0) l.boxes.set(n, c.lit);
  }
  if (s.refused) {
    l.edges.set(edgeKey(s.refused.tensor, s.refused.consumer), c.bad);
    l.boxes.set(s.refused.node, c.bad).set(s.refused.consumer, c.bad);
  }
  for (const x of [s.hovered, s.selected]) if (x?.kind === "tensor") l.tensors.set(x.id, c.sweep);
  return l;
}

/** The part of the picture that is looked at. */
export interface View { x: number; y: number; w: number; h: number; scale: number }

const meets = (v: View, x: number, y: number, w: number, h: number) => x < v.x + v.w && v.x < x + w && y < v.y + v.h && v.y < y + h;

/** draw paints the part of the picture that is in view. */
export function draw(s: Store, p: Painter, v: View, c: Colors) {
  const lit = lights(s, c);
  const fine = v.scale > 0.32;
  drawFrames(s, p, v, c, fine);
  drawEdges(s, p, v, c, lit, fine);
  if (fine) {
    for (const l of s.picture.labels) {
      if (meets(v, ...l.r)) p.text(l.r[0], l.r[1] + 10.5, l.s, { size: 10.5, color: lit.tensors.get(l.t) ?? c.soft, bold: lit.tensors.has(l.t) });
    }
  }
  drawStubs(s, p, v, c, lit, fine);
  s.picture.boxes.forEach((b, i) => { if (meets(v, b[0] - 14, b[1] - 10, b[2] + 28, b[3] + 20)) drawBox(s, p, c, lit, i, fine); });
}

function drawFrames(s: Store, p: Painter, v: View, c: Colors, fine: boolean) {
  for (const f of s.picture.frames) {
    if (!meets(v, ...f.r) || f.region < 0) continue;
    p.rect(...f.r, 8, { fill: c.lit, alpha: 0.06 });
    p.rect(...f.r, 8, { stroke: c.faint, width: 1 });
    if (fine) p.text(f.r[0] + 10, f.r[1] + 15, "− " + short(plain(s.content.regions[f.region].label), Math.floor((f.r[2] - 30) / 7)), { size: 11, bold: true, color: c.soft });
  }
}

function drawEdges(s: Store, p: Painter, v: View, c: Colors, lit: Lights, fine: boolean) {
  const turn = s.run?.turn;
  const boxes = s.picture.boxes;
  for (const e of s.picture.edges) {
    const q = e.p;
    const top = q[1];
    const bottom = q[q.length - 1];
    if (top > v.y + v.h || bottom < v.y) continue;
    let left = q[0];
    let right = q[0];
    for (let i = 2; i < q.length; i += 2) {
      left = Math.min(left, q[i]);
      right = Math.max(right, q[i]);
    }
    if (left > v.x + v.w || right < v.x) continue;
    const node = e.b >= 0 ? boxes[e.b][4] : -1;
    const tensor = s.record.tensors[e.t];
    let color = tensor.producer < 0 ? (tensor.kind === "param" ? c["param-line"] : c.line) : c.line;
    let width = 1.3;
    let dash: number[] = [];
    if (turn && node >= 0 && s.visits > 0) {
      const k = s.graph.givers[e.t].findIndex((g) => g.node === node && (g.slot === e.slot || e.slot < 0));
      const state = k >= 0 ? contributions(s.graph, turn, e.t, s.visits)[k] : "missing";
      if (state === "added") [color, width] = [c.sweep, 2];
      if (state === "parked") [color, width, dash] = [c.warn, 2.4, [5, 4]];
    }
    const light = lit.edges.get(edgeKey(e.t, node)) ?? lit.tensors.get(e.t) ?? (e.b >= 0 && boxes[e.b][4] < 0 ? regionLight(s, lit, e.t, e.b) : undefined);
    if (light) [color, width] = [light, 3.4];
    p.line(q, { stroke: color, width: fine ? width : width * 1.6, dash });
    if (fine && (e.b >= 0 || s.picture.style === "bipartite")) p.triangle(q[q.length - 2], bottom, { fill: color });
  }
}

/** The light of an edge that leads into a folded region. */
function regionLight(s: Store, lit: Lights, tensor: number, box: number): string | undefined {
  const r = s.content.regions[s.picture.boxes[box][5]];
  for (const g of s.graph.givers[tensor]) {
    const light = g.node >= r.from && g.node < r.to ? lit.edges.get(edgeKey(tensor, g.node)) : undefined;
    if (light) return light;
  }
  return undefined;
}

function drawStubs(s: Store, p: Painter, v: View, c: Colors, lit: Lights, fine: boolean) {
  const circles = s.picture.style === "bipartite";
  for (const x of s.picture.stubs) {
    if (!meets(v, x.r[0], x.r[1], x.r[2] + 200, x.r[3])) continue;
    const t = s.record.tensors[x.t];
    const loss = x.t === s.content.loss && (x.end || circles);
    const kind = t.kind === "computed" ? "box" : t.kind;
    const fill = loss ? c.bad : x.ghost ? c.paper : c[kind];
    const stroke = lit.tensors.get(x.t) ?? (loss ? c.bad : c[kind + "-line"] ?? c.line);
    p.rect(...x.r, x.r[3] / 2, { fill, stroke, width: lit.tensors.has(x.t) ? 3 : 1.2, dash: x.ghost ? [3, 2] : [] });
    if (!fine) continue;
    const ink = loss && !circles ? "#ffffff" : x.ghost ? c.soft : c.ink;
    if (circles) p.text(x.r[0] + x.r[2] + 5, x.r[1] + x.r[3] / 2 + 3.5, x.s, { size: 10.5, color: ink === "#ffffff" ? c.ink : ink, italic: x.ghost });
    else p.text(x.r[0] + x.r[2] / 2, x.r[1] + x.r[3] / 2 + 3.5, x.s, { size: 10.5, color: ink, middle: true, italic: x.ghost, bold: loss });
    if (x.t === s.content.nan) p.text(x.r[0], x.r[1] - 4, "first NaN or Inf", { size: 10.5, color: c.bad, bold: true });
  }
}

/** How far a node is in the film. */
export function stage(s: Store, n: number): "visited" | "current" | "ready" | "waiting" | "outside" {
  const turn = s.run?.turn[n] ?? -1;
  if (turn < 0) return "outside";
  if (turn === s.visits - 1) return "current";
  if (turn < s.visits) return "visited";
  return missing(s.graph, s.run!.turn, n, s.visits).length === 0 ? "ready" : "waiting";
}

/** The nodes of a box. */
export function nodesOf(s: Store, box: number): number[] {
  const b = s.picture.boxes[box];
  if (b[4] >= 0) return [b[4]];
  const r = s.content.regions[b[5]];
  return Array.from({ length: r.to - r.from }, (_, i) => r.from + i);
}

function drawBox(s: Store, p: Painter, c: Colors, lit: Lights, i: number, fine: boolean) {
  const [x, y, w, h, node, region] = s.picture.boxes[i];
  const nodes = nodesOf(s, i);
  const stages = s.swept ? nodes.map((n) => stage(s, n)) : [];
  const is = (what: string) => stages.some((st) => st === what);
  const all = stages.length > 0 && stages.every((st) => st === "visited" || st === "current" || st === "outside") && !stages.every((st) => st === "outside");
  let fill = c.box;
  let stroke = c.line;
  let width = 1.2;
  if (s.swept && stages.every((st) => st === "outside")) fill = c.paper;
  if (all && s.visits > 0) fill = c["sweep-soft"];
  if (is("ready")) [stroke, width] = [c.ready, 2.4];
  if (is("current")) [fill, stroke, width] = [c["sweep-soft"], c.sweep, 3];
  let light: string | undefined;
  for (const n of nodes) light ??= lit.boxes.get(n);
  const chosen = (q: Selection) => q && ((q.kind === "node" && nodes.includes(q.id)) || (q.kind === "region" && q.id === region));
  if (light) p.rect(x - 5, y - 5, w + 10, h + 10, 9, { stroke: light, width: 3 });
  if (chosen(s.selected)) p.rect(x - 3, y - 3, w + 6, h + 6, 7, { stroke: c.ink, width: 1.6, dash: [4, 3] });
  else if (chosen(s.hovered)) p.rect(x - 2, y - 2, w + 4, h + 4, 6, { stroke: c.soft, width: 1 });
  if (region >= 0) p.rect(x + 3, y + 3, w, h, 5, { fill: c.box, stroke });
  p.rect(x, y, w, h, 5, { fill, stroke, width });
  if (!fine) return;
  const room = Math.floor((w - 14) / (12 * advance));
  if (region >= 0) {
    const r = s.content.regions[region];
    p.text(x + 8, y + 17, short("+ " + plain(r.label), room), { size: 12, bold: true, color: c.ink });
    if (h > 34) p.text(x + 8, y + 32, short(counted(r.to - r.from, "op"), Math.floor((w - 14) / (10.5 * advance))), { size: 10.5, color: c.soft });
  } else {
    drawNode(s, p, c, node, x, y, w, h);
  }
  drawBadges(s, p, c, nodes, x, y, w);
}

function drawNode(s: Store, p: Painter, c: Colors, node: number, x: number, y: number, w: number, h: number) {
  const r = s.record;
  const badge = s.swept ? badgeWidth(s, node) : 0;
  p.text(x + 9 + badge, y + 17, short(nodeTitle(r, node), Math.max(6, Math.floor((w - 12 - badge) / (12 * advance)))), { size: 12, color: c.ink, bold: true });
  const saves = r.nodes[node].saves ?? [];
  if (saves.length > 0 && h > 34) {
    const storages = [...new Set(saves.map((q) => r.tensors[q.tensor].storage))].filter((st) => !r.storages[st].leaf);
    const bytes = storages.reduce((sum, st) => sum + r.storages[st].bytes, 0);
    const run = s.run;
    const gone = run !== null && run.turn[node] >= 0 && run.turn[node] < s.visits;
    const tensors = [...new Set(saves.map((q) => tensorName(r, q.tensor)))].join(", ");
    const tail = " · " + (bytes > 0 ? bytesText(bytes) : "leaves");
    const most = Math.floor((w - 14) / (10.5 * advance));
    p.text(x + 9, y + 32, short(short(`keeps ${tensors}`, most - tail.length) + tail, most), { size: 10.5, color: gone ? c.faint : c.keep, strike: gone });
  }
}

function badgeWidth(s: Store, node: number): number {
  const turn = s.run!.turn[node];
  return turn < 0 ? 0 : Math.max(18, String(turn + 1).length * 10.5 * advance + 10) + 5;
}

/** The turn in the sweep, and what a node still waits for. */
function drawBadges(s: Store, p: Painter, c: Colors, nodes: number[], x: number, y: number, w: number) {
  const run = s.run;
  if (!run) return;
  const places = nodes.map((n) => run.turn[n]).filter((t) => t >= 0);
  if (nodes.length === 1 && places.length === 1) {
    const bw = badgeWidth(s, nodes[0]) - 5;
    p.rect(x + 6, y + 5, bw, 15, 7.5, { fill: c.sweep });
    p.text(x + 6 + bw / 2, y + 16.3, String(places[0] + 1), { size: 10.5, bold: true, color: "#ffffff", middle: true });
  } else if (places.length > 0) {
    const text = `${places.reduce((a, b) => Math.min(a, b)) + 1}–${places.reduce((a, b) => Math.max(a, b)) + 1}`;
    const bw = text.length * 10.5 * advance + 10;
    p.rect(x + w - bw / 2 - 8, y - 8, bw, 15, 7.5, { fill: c.sweep });
    p.text(x + w - 8, y + 3.3, text, { size: 10.5, bold: true, color: "#ffffff", middle: true });
  }
  if (nodes.length !== 1) return;
  const n = nodes[0];
  if (s.record.nodes[n].outputs.includes(s.content.nan)) p.text(x, y - 5, "first NaN or Inf", { size: 10.5, color: c.bad, bold: true });
  const st = stage(s, n);
  if (st === "waiting" && s.visits > 0) {
    const count = missing(s.graph, run.turn, n, s.visits).length;
    const text = `waits for ${count}`;
    p.rect(x + w - 70, y - 9, 76, 14, 7, { fill: c.paper, stroke: c.faint });
    p.text(x + w - 32, y + 1.5, text, { size: 9.5, color: c.soft, middle: true });
  } else if (st === "ready") {
    p.rect(x + w - 40, y - 9, 46, 14, 7, { fill: c.ready });
    p.text(x + w - 17, y + 1.5, "ready", { size: 9.5, color: "#ffffff", middle: true, bold: true });
  }
}

/** What is at a point of the picture; near is how far an edge may be off. */
export function hit(s: Store, x: number, y: number, near: number): Selection | { kind: "fold"; id: number } {
  const inside = (r: Rect | number[]) => x >= r[0] && x <= r[0] + r[2] && y >= r[1] && y <= r[1] + r[3];
  for (const b of s.picture.boxes) {
    if (inside(b)) return b[4] >= 0 ? { kind: "node", id: b[4] } : { kind: "region", id: b[5] };
  }
  for (const q of s.picture.stubs) if (inside(q.r)) return { kind: "tensor", id: q.t };
  for (const l of s.picture.labels) if (inside(l.r)) return { kind: "tensor", id: l.t };
  for (let i = s.picture.frames.length - 1; i >= 0; i--) {
    const f = s.picture.frames[i];
    if (f.region >= 0 && inside([f.r[0], f.r[1], f.r[2], 20])) return { kind: "fold", id: f.region };
  }
  for (const e of s.picture.edges) if (nearEdge(e.p, x, y, near)) return { kind: "tensor", id: e.t };
  return null;
}

function nearEdge(p: number[], x: number, y: number, near: number): boolean {
  if (y < p[1] - near || y > p[p.length - 1] + near) return false;
  for (let i = 2; i < p.length; i += 2) {
    const [ax, ay, bx, by] = [p[i - 2], p[i - 1], p[i], p[i + 1]];
    const dx = bx - ax;
    const dy = by - ay;
    const t = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
    if (Math.hypot(ax + t * dx - x, ay + t * dy - y) <= near) return true;
  }
  return false;
}
