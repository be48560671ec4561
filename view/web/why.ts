import type { Graph } from "./graph.ts";

/** The node from cannot be visited until the node to has been, because to consumes its output tensor. */
export interface Reason { from: number; to: number; tensor: number }

/**
 * path is the shortest chain of reasons for which node a waits for node b, from
 * b to a: the first reason's to is b, the last one's from is a. It is null when
 * a does not wait for b.
 */
export function path(g: Graph, a: number, b: number): Reason[] | null {
  const by = new Map<number, Reason | null>([[a, null]]);
  let wave = [a];
  while (wave.length > 0 && !by.has(b)) {
    const next: number[] = [];
    for (const n of wave) {
      for (const c of g.consumers(n)) {
        if (by.has(c.node)) continue;
        by.set(c.node, { from: n, to: c.node, tensor: c.tensor });
        next.push(c.node);
      }
    }
    wave = next;
  }
  if (a === b || !by.has(b)) return null;
  const chain: Reason[] = [];
  for (let r = by.get(b); r; r = by.get(r.from)) chain.push(r);
  return chain;
}

/**
 * first is the legal order that is most like the given one and has node a as
 * early as can be: all that a waits for, a, then the rest.
 */
export function first(g: Graph, sequence: number[], a: number): number[] {
  const need = new Set<number>([a]);
  const stack = [a];
  for (let n = stack.pop(); n !== undefined; n = stack.pop()) {
    for (const c of g.consumers(n)) {
      if (need.has(c.node)) continue;
      need.add(c.node);
      stack.push(c.node);
    }
  }
  return [...sequence.filter((n) => need.has(n)), ...sequence.filter((n) => !need.has(n))];
}

export interface Answer {
  waits: Reason[] | null; // a waits for b
  back: Reason[] | null; // b waits for a
  other: number[] | null; // where both orders are legal: one in which they stand the other way round
}

/** why answers whether node a must wait for node b, or b for a, or neither. */
export function why(g: Graph, sequence: number[], a: number, b: number): Answer {
  const waits = path(g, a, b);
  const back = waits ? null : path(g, b, a);
  if (waits || back || a === b || sequence.length === 0) return { waits, back, other: null };
  const later = sequence.indexOf(a) < sequence.indexOf(b) ? b : a;
  return { waits, back, other: first(g, sequence, later) };
}
