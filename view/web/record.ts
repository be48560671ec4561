// A record as the page is told it: package record's JSON, and what package view
// adds to it.

export type Kind = "param" | "input" | "constant" | "computed";
export type GradState = "" | "computed" | "unconnected" | "released" | "not_asked";

export interface Stats { min: number | string; mean: number | string; max: number | string; zeros: number; nans: number; infs: number }

export interface Tensor {
  id: number; name?: string; kind: Kind; producer: number; output: number; dtype: string; shape: number[];
  bytes: number; storage: number; watched?: boolean; kept?: boolean; grad?: GradState; scope: number; stats?: Stats;
}
export interface Save { tensor: number; role: string; reason: string }
export interface Node {
  id: number; op: string; attrs?: string; inputs: number[]; outputs: number[]; scope: number; site: number;
  saves?: Save[]; forward_cost?: number; reverse_cost?: number;
}
export interface Give { slot: number; tensor: number; rank: number; of: number; parked?: boolean }
export interface Step { node: number; replays?: number[]; gives?: Give[]; frees?: number[]; drops?: number[] }
export interface Sweep {
  roots: number[]; order: string; seed?: number; workers: number; retain?: boolean; sequence: number[]; steps: Step[]; before?: number[];
}
export interface Record {
  title?: string; tensors: Tensor[]; nodes: Node[]; scopes: { id: number; parent: number; name: string }[];
  storages: { id: number; bytes: number; leaf?: boolean }[]; sites?: { func?: string; file: string; line: number }[]; sweep?: Sweep;
}

export interface Plan { order: string; seed?: number; own?: boolean; sequence: number[] }
export interface Region { parent: number; from: number; to: number; scope: number; label: string; depth: number }
export type Rect = [number, number, number, number];
export interface Picture {
  open: number[]; style: "ops" | "bipartite"; w: number; h: number;
  boxes: [number, number, number, number, number, number][];
  stubs: { t: number; r: Rect; s: string; ghost?: boolean; end?: boolean }[];
  labels: { t: number; s: string; r: Rect }[];
  edges: { t: number; a: number; b: number; slot: number; ghost?: boolean; p: number[] }[];
  frames: { region: number; r: Rect }[];
}
export interface Difference {
  what: "appeared" | "went" | "changed"; part: string; a: number; b: number; name: string; scope: string;
  changes?: { field: string; old: string; new: string }[];
}
export interface Content {
  record: Record; loss: number; plans: Plan[]; fixed?: string; regions: Region[]; pictures: Picture[]; live: boolean;
  windows: [number, number][]; critical: number[]; widest: number[]; ends: { [tensor: string]: number[] }; nan: number;
  compared?: { same: number; differences: Difference[] | null }; dot?: string; mermaid?: string;
}
