import type { Give, Record, Step } from "./record.ts";

/** One contribution to a tensor's gradient, from the node that makes it. */
export interface Giver { node: number; slot: number; rank: number }

/**
 * The dependencies of a sweep: who gives to which tensor, and so who waits for
 * whom. A node may be visited when all that give to its outputs have been.
 */
export class Graph {
  readonly gives: Give[][]; // by node
  readonly givers: Giver[][]; // by tensor, by ascending rank
  readonly swept: boolean[]; // by node: the sweep visits it
  readonly seeds: number[]; // by tensor: contributions that roots bring along
  readonly steps: (Step | undefined)[]; // by node, of the record's own plan

  constructor(readonly record: Record) {
    const { nodes, tensors, sweep } = record;
    this.gives = nodes.map(() => []);
    this.givers = tensors.map(() => []);
    this.seeds = tensors.map(() => 0);
    this.swept = nodes.map(() => !sweep);
    this.steps = new Array(nodes.length).fill(undefined);
    for (const t of sweep?.roots ?? []) this.seeds[t]++;
    for (const n of sweep?.sequence ?? []) this.swept[n] = true;
    for (const s of sweep?.steps ?? []) {
      this.steps[s.node] = s;
      this.gives[s.node] = s.gives ?? [];
    }
    if (!this.gives.some((g) => g.length > 0)) this.guess();
    nodes.forEach((_, n) => {
      for (const g of this.gives[n]) this.givers[g.tensor].push({ node: n, slot: g.slot, rank: g.rank });
    });
    for (const list of this.givers) list.sort((a, b) => a.rank - b.rank);
  }

  /** Without a plan every operand counts. */
  private guess() {
    for (const n of this.record.nodes) {
      if (this.swept[n.id]) this.gives[n.id] = n.inputs.map((tensor, slot) => ({ slot, tensor, rank: 0, of: 0 }));
    }
  }

  /** The nodes that must be visited before a node, each with the tensor between them. */
  consumers(node: number): { node: number; tensor: number }[] {
    const list: { node: number; tensor: number }[] = [];
    for (const t of this.record.nodes[node].outputs) {
      for (const g of this.givers[t]) if (this.swept[g.node]) list.push({ node: g.node, tensor: t });
    }
    return list;
  }

  /** The nodes that must be visited after a node. */
  producers(node: number): { node: number; tensor: number }[] {
    const list: { node: number; tensor: number }[] = [];
    for (const g of this.gives[node]) {
      const p = this.record.tensors[g.tensor].producer;
      if (p >= 0 && this.swept[p]) list.push({ node: p, tensor: g.tensor });
    }
    return list;
  }
}
