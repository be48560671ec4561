import type { Graph } from "./graph.ts";

/** The edge that an illegal order breaks: node came before consumer, which consumes its output tensor. */
export interface Fault { node: number; consumer: number; tensor: number }

/** The turn of each node, from 0, or -1. */
export function turns(g: Graph, sequence: number[]): number[] {
  const turn: number[] = new Array(g.record.nodes.length).fill(-1);
  sequence.forEach((n, i) => { turn[n] = i; });
  return turn;
}

/**
 * check returns null for a legal order, and otherwise the first position that
 * is too early, with the largest consumer that is not yet visited there. The
 * sequence has each node of the sweep once.
 */
export function check(g: Graph, sequence: number[]): Fault | null {
  const turn = turns(g, sequence);
  for (const n of sequence) {
    let fault: Fault | null = null;
    for (const c of g.consumers(n)) {
      if (turn[c.node] > turn[n] && (!fault || c.node > fault.consumer)) fault = { node: n, consumer: c.node, tensor: c.tensor };
    }
    if (fault) return fault;
  }
  return null;
}

/** The first and the last place to which a node may move in an order while the others stay. */
export function room(g: Graph, turn: number[], node: number, visits: number): [number, number] {
  let first = 0;
  let last = visits - 1;
  for (const c of g.consumers(node)) first = Math.max(first, turn[c.node] + 1);
  for (const p of g.producers(node)) last = Math.min(last, turn[p.node] - 1);
  return [first, last];
}

/** The contributions to a node's outputs that are still missing after so many visits. */
export function missing(g: Graph, turn: number[], node: number, visits: number): { node: number; tensor: number }[] {
  return g.consumers(node).filter((c) => turn[c.node] >= visits);
}

/** What is held at one moment, in bytes and by cause, as record.Moment has it. */
export interface Moment { params: number; inputs: number; values: number; payload: number; grads: number; parked: number }

export const causes = ["params", "inputs", "values", "payload", "grads", "parked"] as const;
export type Cause = (typeof causes)[number];

export const total = (m: Moment) => m.params + m.inputs + m.values + m.payload + m.grads + m.parked;

/** One thing that is held at a moment. */
export interface Held { cause: Cause; tensor: number; storage: number; node: number; bytes: number }

/** A sweep under one order: what record.Replan and record.Memory say of it. */
export interface Run {
  sequence: number[];
  turn: number[];
  moments: Moment[]; // the start, then one for each visit at its fullest
  peak: number; // index into moments
  parks: boolean[][]; // by visit and give
  frees: number[][]; // by visit: the storages that it is the last to read
  letGo: number[]; // by storage: the visit after which it goes, -1 before the first, or the number of visits
  drops: number[]; // by tensor: the visit after which its gradient goes, or the number of visits
  owner: number[]; // by storage: the tensor that it is known by
  cause: Cause[]; // by storage
  reader: number[]; // by storage: the node that reads it last, or -1
}

/** run follows a legal order from the start to the end. */
export function run(g: Graph, sequence: number[]): Run {
  const { tensors, storages, sweep } = g.record;
  const r: Run = {
    sequence, turn: turns(g, sequence), moments: [], peak: 0, parks: [], frees: releases(g, sequence),
    letGo: storages.map(() => sequence.length), drops: tensors.map(() => sequence.length),
    owner: owners(g), cause: [], reader: readers(g, sequence),
  };
  storages.forEach((s, st) => {
    const kind = r.owner[st] >= 0 ? tensors[r.owner[st]].kind : "";
    if (kind === "param") r.cause.push("params");
    else if (s.leaf || (kind !== "" && kind !== "computed")) r.cause.push("inputs");
    else r.cause.push(r.reader[st] >= 0 ? "payload" : "values");
  });
  const now: Moment = { params: 0, inputs: 0, values: 0, payload: 0, grads: 0, parked: 0 };
  storages.forEach((s, st) => { now[r.cause[st]] += s.bytes; });
  const free = (list: number[], visit: number) => {
    for (const st of list) {
      now[r.cause[st]] -= storages[st].bytes;
      r.letGo[st] = visit;
    }
  };
  const grads = new Gradients(g, now);
  for (const t of sweep?.roots ?? []) grads.hold(t);
  r.moments.push({ ...now });
  free(sweep?.before ?? [], -1);
  sequence.forEach((n, i) => {
    r.parks.push(g.gives[n].map((give) => grads.give(give.tensor, give.rank)));
    r.moments.push({ ...now });
    free(r.frees[i], i);
    for (const t of g.steps[n]?.drops ?? []) {
      r.drops[t] = i;
      grads.drop(t);
    }
  });
  r.moments.forEach((m, i) => { if (total(m) > total(r.moments[r.peak])) r.peak = i; });
  return r;
}

/** Follows which gradients there are and which contributions wait for their turn. */
class Gradients {
  private next: number[];
  private has: boolean[];
  private early: Set<number>[] = [];

  constructor(private g: Graph, private now: Moment) {
    this.next = [...g.seeds];
    this.has = g.seeds.map(() => false);
  }

  hold(t: number) {
    if (!this.has[t]) {
      this.has[t] = true;
      this.now.grads += this.g.record.tensors[t].bytes;
    }
  }

  drop(t: number) {
    if (this.has[t]) {
      this.has[t] = false;
      this.now.grads -= this.g.record.tensors[t].bytes;
    }
  }

  /** Takes a contribution, and says whether it parks. */
  give(t: number, rank: number): boolean {
    const bytes = this.g.record.tensors[t].bytes;
    const early = (this.early[t] ??= new Set());
    if (rank !== this.next[t]) {
      early.add(rank);
      this.now.parked += bytes;
      return true;
    }
    this.hold(t);
    this.next[t]++;
    while (early.delete(this.next[t])) {
      this.now.parked -= bytes;
      this.next[t]++;
    }
    return false;
  }
}

function same(a: number[], b: number[]): boolean {
  return a.length === b.length && a.every((n, i) => n === b[i]);
}

/** By visit: the storages that go after it, because no later visit reads them. */
function releases(g: Graph, sequence: number[]): number[][] {
  const { nodes, tensors, sweep } = g.record;
  if (!sweep || same(sequence, sweep.sequence)) return sequence.map((n) => g.steps[n]?.frees ?? []);
  const goes = new Set<number>();
  for (const s of sweep.steps) for (const st of s.frees ?? []) goes.add(st);
  const last = new Map<number, number>();
  sequence.forEach((n, i) => {
    for (const s of nodes[n].saves ?? []) if (goes.has(tensors[s.tensor].storage)) last.set(tensors[s.tensor].storage, i);
  });
  return sequence.map((n, i) => {
    const list = (nodes[n].saves ?? []).map((s) => tensors[s.tensor].storage).filter((st) => last.get(st) === i);
    return [...new Set(list)];
  });
}

function owners(g: Graph): number[] {
  const { tensors, storages } = g.record;
  const owner: number[] = new Array(storages.length).fill(-1);
  for (let t = tensors.length - 1; t >= 0; t--) {
    const st = tensors[t].storage;
    if (owner[st] < 0 || tensors[owner[st]].kind === "computed" || tensors[t].kind !== "computed") owner[st] = t;
  }
  return owner;
}

function readers(g: Graph, sequence: number[]): number[] {
  const last: number[] = new Array(g.record.storages.length).fill(-1);
  for (const n of sequence) for (const s of g.record.nodes[n].saves ?? []) last[g.record.tensors[s.tensor].storage] = n;
  return last;
}

/** What has become of each contribution to a tensor after so many visits, by ascending rank. */
export function contributions(g: Graph, turn: number[], tensor: number, visits: number): ("added" | "parked" | "missing")[] {
  let due = true;
  return g.givers[tensor].map((giver) => {
    if (turn[giver.node] < 0 || turn[giver.node] >= visits) {
      due = false;
      return "missing";
    }
    return due ? "added" : "parked";
  });
}

/** What is held at a moment, largest first, as record.HeldAt has it. */
export function heldAt(g: Graph, r: Run, moment: number): Held[] {
  const { tensors, storages, nodes } = g.record;
  const held: Held[] = [];
  storages.forEach((s, st) => {
    // A moment comes before what its visit lets go; what goes before the first visit is there at the start.
    if (moment > 0 && r.letGo[st] < moment - 1) return;
    const h: Held = { cause: r.cause[st], tensor: r.owner[st], storage: st, node: -1, bytes: s.bytes };
    if (h.cause === "payload") {
      h.node = r.reader[st];
      h.tensor = nodes[h.node].saves?.find((x) => tensors[x.tensor].storage === st)?.tensor ?? h.tensor;
    }
    held.push(h);
  });
  tensors.forEach((t, id) => {
    const state = contributions(g, r.turn, id, moment);
    if ((g.seeds[id] > 0 || state[0] === "added") && r.drops[id] >= moment - 1) {
      held.push({ cause: "grads", tensor: id, storage: -1, node: -1, bytes: t.bytes });
    }
    state.forEach((s, i) => {
      if (s === "parked") held.push({ cause: "parked", tensor: id, storage: -1, node: g.givers[id][i].node, bytes: t.bytes });
    });
  });
  return held.sort((a, b) => b.bytes - a.bytes || (a.cause < b.cause ? -1 : a.cause > b.cause ? 1 : a.tensor - b.tensor));
}
