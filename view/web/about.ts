import { html } from "./html.ts";
import { NodeLink, TensorLink } from "./links.ts";
import type { Stats } from "./record.ts";
import { stage } from "./scene.ts";
import type { Store } from "./store.ts";
import { contributions, missing } from "./sweep.ts";
import { bytesText, counted, describeTensor, gradWords, nodeTitle, plain, scopePath, shapeText, siteText, tensorText } from "./words.ts";

/** What is chosen, and all there is to say of it. */
export function About({ store }: { store: Store }) {
  const s = store.selected;
  if (!s) return html`<section class="about" id="about" aria-label="What is chosen"><p class="hint">Choose a node or a tensor in the graph or the list. Hold shift and choose a second node to ask why.</p></section>`;
  return html`<section class="about" id="about" aria-label="What is chosen">
    ${s.kind === "node" ? html`<${AboutNode} store=${store} id=${s.id} />` : s.kind === "tensor" ? html`<${AboutTensor} store=${store} id=${s.id} />` : html`<${AboutRegion} store=${store} id=${s.id} />`}
  </section>`;
}

function join(list: any[]): any[] {
  return list.flatMap((x, i) => (i > 0 ? [", ", x] : [x]));
}

function AboutNode({ store, id }: { store: Store; id: number }) {
  const r = store.record;
  const n = r.nodes[id];
  const where = [scopePath(r, n.scope), siteText(r, n.site)].filter(Boolean).join(", at ");
  const run = store.run;
  const turn = run ? run.turn[id] : -1;
  const w = store.content.windows[id];
  const visits = store.sequence.length;
  return html`<h2>${nodeTitle(r, id)}</h2>
    ${where && html`<p class="hint">in ${where}</p>`}
    <p>takes ${n.inputs.length ? join(n.inputs.map((t) => html`<${TensorLink} store=${store} id=${t} /> ${shapeText(r.tensors[t].shape)}`)) : "nothing"};
      gives ${join(n.outputs.map((t) => html`<${TensorLink} store=${store} id=${t} /> ${shapeText(r.tensors[t].shape)}`))}${n.forward_cost ? `; ${n.forward_cost.toLocaleString("en")} multiply-adds` : ""}</p>
    ${store.changes.has(id) && html`<p class="warn">It ${store.changes.get(id)}, beside the older record.</p>`}
    ${run && turn < 0 && html`<p>The sweep does not visit it.</p>`}
    ${run && turn >= 0 && html`<p id="window">Visit ${turn + 1} of ${visits}${w && w[0] >= 0 ? (w[0] === w[1] ? "; no legal order has it elsewhere" : `; over all legal orders, from ${w[0] + 1} to ${w[1] + 1}`) : ""}. <${Waiting} store=${store} id=${id} /></p>
      <p class="row"><button onClick=${() => store.move(id, Math.max(0, turn - 1))} disabled=${turn === 0}>Move earlier</button>
      <button onClick=${() => store.move(id, Math.min(visits - 1, turn + 1))} disabled=${turn === visits - 1}>Move later</button></p>`}
    ${n.saves?.length ? html`<h3>Keeps</h3><ul>${n.saves.map((x) => html`<li><${TensorLink} store=${store} id=${x.tensor} /> (its ${plain(x.role)}, ${bytesText(r.storages[r.tensors[x.tensor].storage].bytes)}): ${plain(x.reason)}</li>`)}</ul>`
      : html`<p>Its rule reads nothing back, so it keeps nothing.</p>`}
    <p class="row"><button id="why-a" onClick=${() => store.askWhy(0, id)}>Why this</button><button id="why-b" onClick=${() => store.askWhy(1, id)}>… before or after this?</button></p>`;
}

/** Where a node stands in the film. */
function Waiting({ store, id }: { store: Store; id: number }) {
  switch (stage(store, id)) {
    case "current": return html`<span>It has just been visited.</span>`;
    case "visited": return html`<span>It has been visited.</span>`;
    case "ready": return html`<span>It is ready: all contributions to its output are there.</span>`;
  }
  const list = missing(store.graph, store.run!.turn, id, store.visits);
  return html`<span>It waits for ${counted(list.length, "contribution")}: ${join(list.slice(0, 6).map((m) => html`<${NodeLink} store=${store} id=${m.node} />`))}${list.length > 6 ? " …" : ""}.</span>`;
}

function AboutTensor({ store, id }: { store: Store; id: number }) {
  const r = store.record;
  const t = r.tensors[id];
  const uses = r.nodes.filter((n) => n.inputs.includes(id));
  const views = r.tensors.filter((x) => x.storage === t.storage && x.id !== id);
  const kind = t.kind === "computed" ? "" : t.kind === "param" ? "parameter, " : t.kind + ", ";
  return html`<h2>${tensorText(r, id)}</h2>
    <p>${kind}${describeTensor(t)}${id === store.content.loss ? "; the loss" : ""}${t.watched && t.kind !== "param" ? "; watched" : ""}</p>
    <p>${t.producer >= 0 ? html`made by <${NodeLink} store=${store} id=${t.producer} />; ` : ""}consumed by ${uses.length ? join(uses.slice(0, 12).map((n) => html`<${NodeLink} store=${store} id=${n.id} />`)) : "nothing"}${uses.length > 12 ? ` and ${uses.length - 12} more` : ""}</p>
    ${views.length > 0 && html`<p>shares its storage with ${join(views.slice(0, 8).map((x) => html`<${TensorLink} store=${store} id=${x.id} />`))}</p>`}
    <h3>What keeps it</h3><${Kept} store=${store} id=${id} />
    <h3>Its gradient</h3><p id="gradient">${gradWords(t.grad)}.</p>
    ${t.grad === "unconnected" && html`<${Ends} store=${store} id=${id} />`}
    <${Contributions} store=${store} id=${id} />
    ${t.stats && html`<h3>Its value</h3><p>${statsText(t.stats)}</p>`}
    ${id === store.content.nan && html`<p class="warn">It is the first tensor with a NaN or an infinity: none was in what it was computed from.</p>`}`;
}

function Kept({ store, id }: { store: Store; id: number }) {
  const r = store.record;
  const t = r.tensors[id];
  const savers = r.nodes.flatMap((n) => (n.saves ?? []).filter((x) => r.tensors[x.tensor].storage === t.storage).map((x) => ({ n, x })));
  const run = store.run;
  let until = "";
  if (run) {
    const at = run.letGo[t.storage];
    const visits = run.sequence.length;
    if (at < 0) until = "Let go before the first visit, since no rule of the sweep reads it.";
    else if (at < visits) until = `Let go after visit ${at + 1} of ${visits}, which is the last to read it`;
    else if (r.storages[t.storage].leaf || t.kind !== "computed") until = "It belongs to a leaf, and outlives the sweep.";
    else if (t.kept) until = "It was told to Keep, until the tape's Reset.";
    else until = "It lives until the tape's Reset: it is a root of the sweep, or the sweep retains it.";
    const reader = at >= 0 && at < visits ? run.sequence[at] : -1;
    const gone = at < store.visits && at < visits;
    return html`<div id="kept">${savers.length ? html`<ul>${savers.slice(0, 12).map(({ n, x }) => html`<li><${NodeLink} store=${store} id=${n.id} /> keeps it as its ${plain(x.role)}: ${plain(x.reason)}</li>`)}</ul>` : html`<p>No rule reads it.</p>`}
      <p>${until}${reader >= 0 ? html`: <${NodeLink} store=${store} id=${reader} />.` : ""} ${at >= 0 && at < visits ? (gone ? "By now it is gone." : "It is still there.") : ""}</p></div>`;
  }
  return html`<div id="kept"><ul>${savers.slice(0, 12).map(({ n, x }) => html`<li><${NodeLink} store=${store} id=${n.id} /> keeps it as its ${plain(x.role)}: ${plain(x.reason)}</li>`)}</ul>${savers.length === 0 && html`<p>No rule reads it.</p>`}</div>`;
}

function Ends({ store, id }: { store: Store; id: number }) {
  const ends = store.content.ends[id] ?? [];
  return html`<p id="ends">${ends.length ? html`The connection ends at ${join(ends.map((n) => html`<${NodeLink} store=${store} id=${n} />`))}, through which no gradient comes back.` : "No path leads from it to the loss."}</p>`;
}

function Contributions({ store, id }: { store: Store; id: number }) {
  const run = store.run;
  const givers = store.graph.givers[id];
  if (!run || (givers.length === 0 && store.graph.seeds[id] === 0)) return null;
  const state = contributions(store.graph, run.turn, id, store.visits);
  const gone = run.drops[id] < store.visits;
  return html`<ol class="parts">${store.graph.seeds[id] > 0 && html`<li>the sweep's own cotangent: added</li>`}
    ${givers.map((g, i) => html`<li class=${state[i]}>from <${NodeLink} store=${store} id=${g.node} />: ${gone ? "consumed, and let go" : state[i] === "parked" ? "parked, until those before it have come" : state[i]}</li>`)}</ol>`;
}

function statsText(s: Stats): string {
  const parts = [`from ${s.min} to ${s.max}, mean ${s.mean}`];
  if (s.zeros) parts.push(counted(s.zeros, "zero"));
  if (s.nans) parts.push(counted(s.nans, "NaN"));
  if (s.infs) parts.push(counted(s.infs, "infinity").replace("ys", "ies"));
  return parts.join(", ");
}

function AboutRegion({ store, id }: { store: Store; id: number }) {
  const g = store.content.regions[id];
  const open = store.picture.open.includes(id);
  const bytes = new Map<number, number>();
  for (let n = g.from; n < g.to; n++) {
    for (const x of store.record.nodes[n].saves ?? []) {
      const st = store.record.storages[store.record.tensors[x.tensor].storage];
      if (!st.leaf) bytes.set(st.id, st.bytes);
    }
  }
  return html`<h2>${plain(g.label)}</h2>
    <p>${counted(g.to - g.from, "op")}, n${g.from} to n${g.to - 1}; they keep ${bytesText([...bytes.values()].reduce((a, b) => a + b, 0))}.</p>
    <p class="row"><button id="fold" onClick=${() => store.toggle(id)}>${open ? "Fold" : "Unfold"}</button></p>`;
}
