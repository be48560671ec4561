import type { GradState, Record, Tensor } from "./record.ts";

/** A text from a record, fit for one line: control characters and direction marks are replaced. */
export function plain(s: string): string {
  return s.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\uFFFD");
}

export function short(s: string, most: number): string {
  return s.length <= most ? s : s.slice(0, Math.max(0, most - 1)) + "…";
}

export function nodeName(r: Record, n: number): string {
  return n < 0 ? "nothing" : `n${n} ${short(plain(r.nodes[n].op), 60)}`;
}

/** The name with its attributes, as on a box. */
export function nodeTitle(r: Record, n: number): string {
  const a = r.nodes[n].attrs;
  return nodeName(r, n) + (a ? `(${short(plain(a), 80)})` : "");
}

export function tensorName(r: Record, t: number): string {
  const name = t >= 0 ? r.tensors[t].name : "";
  return name ? short(plain(name), 80) : `t${t}`;
}

/** The name with the id, when it has a name of its own. */
export function tensorText(r: Record, t: number): string {
  return r.tensors[t].name ? `${tensorName(r, t)} (t${t})` : `t${t}`;
}

export function shapeText(shape: number[]): string {
  return shape.length === 0 ? "scalar" : short(shape.join("×"), 60);
}

export function bytesText(n: number): string {
  if (n < 1024) return `${n} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let f = n / 1024;
  let u = 0;
  for (; f >= 1023.95 && u < units.length - 1; u++) f /= 1024;
  return f >= 100 ? `${f.toFixed(0)} ${units[u]}` : `${f.toFixed(1)} ${units[u]}`.replace(".0 ", " ");
}

export function scopePath(r: Record, scope: number): string {
  const names: string[] = [];
  for (let s = scope; s > 0 && names.length < 64; s = r.scopes[s].parent) names.unshift(short(plain(r.scopes[s].name), 40));
  return names.join("/");
}

export function siteText(r: Record, site: number): string {
  const s = site >= 0 ? r.sites?.[site] : undefined;
  return s ? `${plain(s.file)}:${s.line}` : "";
}

export function gradWords(grad: GradState | undefined): string {
  switch (grad) {
    case "computed": return "computed, and kept until the tape's Reset";
    case "unconnected": return "unconnected: zero by mathematics, and none is computed";
    case "released": return "released: computed, consumed by its producer's rule, and let go";
    case "not_asked": return "not asked for: nothing that was asked for leads to it, so none is computed";
  }
  return "no sweep has run";
}

export function describeTensor(x: Tensor): string {
  return `${plain(x.dtype)} ${shapeText(x.shape)}, ${bytesText(x.bytes)}`;
}

export function counted(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}

export function orderName(p: { order: string; seed?: number; own?: boolean }): string {
  const names: { [order: string]: string } = {
    tape: "reverse tape", depth: "depth first", breadth: "breadth first", leanest: "leanest", random: `random, seed ${p.seed}`, given: "given", yours: "yours",
  };
  return (names[p.order] ?? plain(p.order)) + (p.own ? ", as recorded" : "");
}
