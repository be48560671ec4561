import { useState } from "preact/hooks";
import { html } from "./html.ts";
import type { Selection, Store } from "./store.ts";
import { counted, nodeTitle, plain, shapeText, tensorText } from "./words.ts";

interface Hit { s: Selection; text: string }

/** What a text may mean: an id, a name, an op, a shape or a scope. */
export function find(store: Store, text: string, most = 30): Hit[] {
  const r = store.record;
  const q = text.trim().toLowerCase();
  const hits: Hit[] = [];
  if (!q) return hits;
  const shape = q.replace(/\s*[x*,]\s*/g, "×");
  const exact = /^([nt])(\d+)$/.exec(q);
  const node = (id: number) => hits.push({ s: { kind: "node", id }, text: nodeTitle(r, id) });
  const tensor = (id: number) => hits.push({ s: { kind: "tensor", id }, text: `${tensorText(r, id)} ${shapeText(r.tensors[id].shape)}` });
  if (exact && exact[1] === "n" && +exact[2] < r.nodes.length) node(+exact[2]);
  if (exact && exact[1] === "t" && +exact[2] < r.tensors.length) tensor(+exact[2]);
  for (const t of r.tensors) {
    if (hits.length >= most) return hits;
    if (t.name?.toLowerCase().includes(q) || (/\d/.test(shape) && t.shape.length > 0 && shapeText(t.shape) === shape)) tensor(t.id);
  }
  for (const n of r.nodes) {
    if (hits.length >= most) return hits;
    if (n.op.toLowerCase().includes(q)) node(n.id);
  }
  store.content.regions.forEach((g, id) => {
    if (hits.length < most && g.label.toLowerCase().includes(q)) hits.push({ s: { kind: "region", id }, text: `${plain(g.label)}: ${counted(g.to - g.from, "op")}` });
  });
  return hits;
}

export function Search({ store }: { store: Store }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const hits = find(store, text);
  const take = (h: Hit | undefined) => {
    if (!h) return;
    setText("");
    store.select(h.s);
  };
  const key = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") setAt(Math.min(hits.length - 1, at + 1));
    else if (e.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (e.key === "Enter") take(hits[at]);
    else if (e.key === "Escape") setText("");
    else return;
    e.preventDefault();
  };
  return html`<div class="search"><input id="search" type="search" placeholder="Search: name, op, shape, id" aria-label="Search by name, op, shape or id" value=${text}
      role="combobox" aria-expanded=${hits.length > 0} aria-controls="hits" autocomplete="off"
      onInput=${(e: any) => { setText(e.target.value); setAt(0); }} onKeyDown=${key} />
    <ul id="hits" role="listbox" aria-label="Found" hidden=${hits.length === 0}>${hits.map((h, i) => html`<li role="option" aria-selected=${i === at} class=${i === at ? "at" : ""} onPointerDown=${() => take(h)}>${h.text}</li>`)}</ul>
    ${text.trim() && hits.length === 0 ? html`<p class="none" role="status">Nothing is called that.</p>` : ""}</div>`;
}
