import { Graph } from "./graph.ts";
import type { Content, Picture, Plan } from "./record.ts";
import { check, type Fault, room, run, type Run } from "./sweep.ts";
import { type Answer, why } from "./why.ts";
import { nodeName, orderName, tensorName } from "./words.ts";

export type Selection = { kind: "node" | "tensor" | "region"; id: number } | null;
export type Tab = "step" | "why" | "memory" | "list" | "compare";

/** All that the page shows, and all that a person can do to it. */
export class Store {
  readonly graph: Graph;
  picture: Picture;
  plans: Plan[];
  plan = 0; // index into plans
  runs = new Map<Plan, Run>();
  visits = 0; // that have been made
  playing = false;
  speed = 2; // visits a second
  selected: Selection = null;
  hovered: Selection = null;
  pair: [number, number] = [-1, -1]; // nodes of the question why
  answer: Answer | null = null;
  refused: (Fault & { text: string }) | null = null;
  whatIf = -1; // index of the plan to compare with
  tab: Tab = "step";
  overlay: "" | "critical" | "widest" = "";
  notice = "";
  changes = new Map<number, string>(); // by node, how it differs from the older record
  listeners = new Set<() => void>();
  /** The canvas brings a thing into view. */
  reveal: (s: Selection) => void = () => {};
  fit: () => void = () => {};

  constructor(readonly content: Content) {
    this.graph = new Graph(content.record);
    this.picture = content.pictures[0];
    this.plans = content.plans;
    for (const d of content.compared?.differences ?? []) if (d.part === "node" && d.b >= 0) this.changes.set(d.b, d.what);
    if (content.compared) this.tab = "compare";
  }

  emit() { for (const f of this.listeners) f(); }

  get record() { return this.content.record; }
  get swept() { return this.plans.length > 0; }
  get sequence(): number[] { return this.plans[this.plan]?.sequence ?? []; }
  get run(): Run | null { return this.runOf(this.plans[this.plan]); }

  runOf(p: Plan | undefined): Run | null {
    if (!p) return null;
    let r = this.runs.get(p);
    if (!r) this.runs.set(p, r = run(this.graph, p.sequence));
    return r;
  }

  /** The node of the visit that was made last, or -1. */
  get current(): number { return this.visits > 0 ? this.sequence[this.visits - 1] : -1; }

  seek(visits: number) {
    this.visits = Math.max(0, Math.min(visits, this.sequence.length));
    this.emit();
  }

  select(s: Selection, show = true) {
    this.selected = s;
    this.refused = null;
    const hash = s && s.kind !== "region" ? `#${s.kind === "node" ? "n" : "t"}${s.id}` : "";
    history.replaceState(null, "", hash || location.pathname + location.search);
    this.emit();
    if (s && show) void this.show(s);
  }

  /** Opens what a thing lies in, and brings it into view. */
  async show(s: Selection) {
    const n = s?.kind === "node" ? s.id : s?.kind === "tensor" ? this.home(s.id) : -1;
    if (n >= 0 && !this.picture.boxes.some((b) => b[4] === n)) {
      const open = new Set(this.picture.open);
      this.content.regions.forEach((r, i) => { if (r.from <= n && n < r.to) open.add(i); });
      await this.open([...open]);
    }
    this.reveal(s);
  }

  /** The node at which a tensor is drawn. */
  home(t: number): number {
    const x = this.record.tensors[t];
    return x.producer >= 0 ? x.producer : this.record.nodes.find((n) => n.inputs.includes(t))?.id ?? -1;
  }

  choosePlan(i: number) {
    this.plan = i;
    this.refused = null;
    this.answerWhy();
    this.seek(this.visits);
  }

  async addPlan(order: string, seed: number) {
    const found = this.plans.findIndex((p) => p.order === order && (p.seed ?? 0) === seed);
    if (found >= 0) return this.choosePlan(found);
    const p = await this.ask<Plan>(`plan.json?order=${order}&seed=${seed}`);
    if (!p) return;
    this.plans = [...this.plans, p];
    this.choosePlan(this.plans.length - 1);
  }

  /** Takes an order of the person's own. */
  takeOrder(sequence: number[]) {
    const own = this.plans.findIndex((p) => p.order === "yours");
    const p: Plan = { order: "yours", sequence };
    if (own >= 0) this.plans = this.plans.map((q, i) => (i === own ? p : q));
    else this.plans = [...this.plans, p];
    this.choosePlan(this.plans.findIndex((q) => q === p));
  }

  /** Moves a node to another place in the order, or says which edge forbids it. */
  move(node: number, to: number): boolean {
    if (this.content.fixed) {
      this.notice = this.content.fixed;
      this.emit();
      return false;
    }
    const moved = this.sequence.filter((n) => n !== node);
    moved.splice(to, 0, node);
    const fault = check(this.graph, moved);
    this.selected = { kind: "node", id: node };
    if (fault) {
      const r = this.record;
      this.refused = { ...fault, text: `${nodeName(r, fault.node)} cannot be visited before ${nodeName(r, fault.consumer)}, which consumes its output ${tensorName(r, fault.tensor)}.` };
      this.notice = "Refused: " + this.refused.text;
      this.emit();
      return false;
    }
    this.refused = null;
    this.notice = `Moved ${nodeName(this.record, node)} to visit ${to + 1}. The order is legal.`;
    if (moved.some((n, i) => n !== this.sequence[i])) this.takeOrder(moved);
    else this.emit();
    return true;
  }

  room(node: number): [number, number] {
    return room(this.graph, this.run!.turn, node, this.sequence.length);
  }

  askWhy(which: 0 | 1, node: number) {
    this.pair = which === 0 ? [node, this.pair[1]] : [this.pair[0], node];
    this.tab = "why";
    this.answerWhy();
    this.emit();
  }

  private answerWhy() {
    const [a, b] = this.pair;
    this.answer = a >= 0 && b >= 0 && a !== b ? why(this.graph, this.sequence, a, b) : null;
  }

  async toggle(region: number) {
    const open = new Set(this.picture.open);
    if (!open.delete(region)) open.add(region);
    await this.open([...open], region);
  }

  /** Shows the picture with these regions open; without a server, the one most like it. */
  async open(regions: number[], about = -1) {
    const list = this.content.regions;
    const wanted = new Set(regions);
    for (const r of [...wanted]) {
      for (let p = list[r].parent; p >= 0; p = list[p].parent) if (!wanted.has(p)) { wanted.delete(r); break; }
    }
    const differs = (p: Picture) => p.open.filter((r) => !wanted.has(r)).length + [...wanted].filter((r) => !p.open.includes(r)).length;
    const style = this.picture.style;
    let best = this.content.pictures.filter((p) => p.style === style && (about < 0 || p.open.includes(about) === wanted.has(about)));
    best = best.sort((a, b) => differs(a) - differs(b));
    if (best[0] && (differs(best[0]) === 0 || !this.content.live)) return this.use(best[0]);
    if (!this.content.live) return this.use(this.content.pictures[0]);
    await this.fetchPicture([...wanted].sort((a, b) => a - b).join(","), style);
  }

  async openAll() {
    await this.open(this.content.regions.map((_, i) => i));
  }

  async setStyle(style: "ops" | "bipartite") {
    const key = this.picture.open.join();
    const found = this.content.pictures.find((p) => p.style === style && p.open.join() === key) ??
      (this.content.live ? undefined : this.content.pictures.find((p) => p.style === style));
    if (found) return this.use(found);
    await this.fetchPicture(key, style);
  }

  private async fetchPicture(open: string, style: string) {
    const p = await this.ask<Picture>(`picture.json?style=${style}&open=${open}`);
    if (!p) return;
    this.content.pictures.push(p);
    this.use(p);
  }

  private use(p: Picture) {
    this.picture = p;
    this.emit();
  }

  private async ask<T>(url: string): Promise<T | null> {
    try {
      const r = await fetch(url);
      if (!r.ok) throw new Error(await r.text());
      return await r.json();
    } catch (e) {
      this.notice = `The server did not answer: ${(e as Error).message}`;
      this.emit();
      return null;
    }
  }

  planName(i: number): string { return orderName(this.plans[i]); }
}
