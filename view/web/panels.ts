import { useState } from "preact/hooks";
import { html } from "./html.ts";
import { NodeLink, TensorLink } from "./links.ts";
import { stage } from "./scene.ts";
import type { Store } from "./store.ts";
import type { Reason } from "./why.ts";
import { bytesText, counted, nodeName, nodeTitle, plain, shapeText, tensorName } from "./words.ts";

/** What the visit that was made last did, and what may come next. */
export function StepTab({ store }: { store: Store }) {
  const r = store.record;
  const run = store.run;
  if (!run) return html`<p class="hint">The record has no sweep.</p>`;
  const ready = run.sequence.filter((n) => stage(store, n) === "ready");
  const i = store.visits - 1;
  const n = store.current;
  const gives = n >= 0 ? store.graph.gives[n] : [];
  const drops = n >= 0 ? store.graph.steps[n]?.drops ?? [] : [];
  const frees = n >= 0 ? run.frees[i] : r.sweep?.before ?? [];
  return html`<div id="visit">
    ${n < 0 ? html`<h3>The sweep starts</h3><p>The loss, <${TensorLink} store=${store} id=${store.content.loss} />, has its cotangent.</p>`
      : html`<h3>Visit ${i + 1}: <${NodeLink} store=${store} id=${n} /></h3>
      ${(r.sweep && store.graph.steps[n]?.replays?.length) ? html`<p>It first replays ${counted(store.graph.steps[n]!.replays!.length, "node")} of a checkpoint.</p>` : ""}
      <p>Hands over</p><ul>${gives.map((g, k) => html`<li>the gradient of <${TensorLink} store=${store} id=${g.tensor} />${g.of > 1 ? `, part ${g.rank + 1} of ${g.of}` : ""}${run.parks[i][k] ? html`: <b class="parked">parked</b>, since part ${g.rank} has not come` : ""}</li>`)}
        ${gives.length === 0 && html`<li>nothing</li>`}</ul>`}
    <p>Lets go of ${frees.length + drops.length === 0 ? "nothing" : ""}</p>
    ${frees.length + drops.length > 0 && html`<ul>${drops.map((t) => html`<li>the gradient of <${TensorLink} store=${store} id=${t} />, ${bytesText(r.tensors[t].bytes)}</li>`)}
      ${frees.slice(0, 20).map((st) => html`<li>${n < 0 ? "a value that no rule reads" : "payload"}: <${TensorLink} store=${store} id=${run.owner[st]} />, ${bytesText(r.storages[st].bytes)}</li>`)}</ul>`}
    <h3>The frontier: ${counted(ready.length, "node")} may go next</h3>
    <ul id="frontier">${ready.slice(0, 20).map((m) => html`<li><${NodeLink} store=${store} id=${m} /></li>`)}${ready.length > 20 && html`<li class="hint">and ${ready.length - 20} more</li>`}</ul>
    <h3>Freedom</h3>
    <p class="row"><button id="critical" aria-pressed=${store.overlay === "critical"} onClick=${() => overlay(store, "critical")}>Critical path: ${counted(store.content.critical.length, "visit")}</button>
    ${store.content.widest.length > 0 && html`<button id="widest" aria-pressed=${store.overlay === "widest"} onClick=${() => overlay(store, "widest")}>Widest: ${counted(store.content.widest.length, "node")} free of each other</button>`}</p>
  </div>`;
}

function overlay(store: Store, what: "critical" | "widest") {
  store.overlay = store.overlay === what ? "" : what;
  store.emit();
}

/** Why must one node wait for another, or are they free of each other? */
export function WhyTab({ store }: { store: Store }) {
  const [a, b] = store.pair;
  const pick = (which: 0 | 1) => (e: any) => {
    const n = parse(e.target.value);
    if (n !== null && n < store.record.nodes.length && store.graph.swept[n]) store.askWhy(which, n);
  };
  const field = (which: 0 | 1, n: number) => html`<input id=${which === 0 ? "first" : "second"} list="nodes" value=${n >= 0 ? nodeName(store.record, n) : ""} placeholder="a node, such as n3" onChange=${pick(which)} aria-label=${which === 0 ? "The first node" : "The second node"} />`;
  return html`<div><p>Must one of ${field(0, a)} and ${field(1, b)} wait for the other?</p>
    <datalist id="nodes">${store.record.nodes.slice(0, 500).map((n) => html`<option value=${nodeName(store.record, n.id)}></option>`)}</datalist>
    <div id="answer" aria-live="polite">${a < 0 || b < 0 ? html`<p class="hint">Choose a node, then hold shift and choose another; or name two here.</p>` : a === b ? html`<p>They are the same node.</p>` : html`<${Because} store=${store} />`}</div></div>`;
}

function parse(text: string): number | null {
  const m = /^\s*n?(\d+)\b/.exec(text);
  return m ? +m[1] : null;
}

function Because({ store }: { store: Store }) {
  const [a, b] = store.pair;
  const { answer, record: r } = store;
  const chain = answer?.waits ?? answer?.back;
  if (chain) {
    const [late, early] = answer!.waits ? [a, b] : [b, a];
    return html`<h3>Required</h3><p><${NodeLink} store=${store} id=${late} /> waits for <${NodeLink} store=${store} id=${early} />, over ${counted(chain.length, "tensor")}:</p>
      <ol class="chain">${[...chain].reverse().map((x) => html`<li><${Link} store=${store} reason=${x} /></li>`)}</ol>`;
  }
  if (!answer?.other) return html`<p>One of them is not in the sweep.</p>`;
  const turn = store.run!.turn;
  const [x, y] = turn[a] < turn[b] ? [a, b] : [b, a];
  return html`<h3>Free</h3><p>Neither waits for the other: that ${nodeName(r, x)} comes before ${nodeName(r, y)} is a choice of this order.
    Here is a legal order in which ${nodeName(r, y)} comes first:</p>
    <p class="sequence" id="other">${answer.other.slice(0, 80).map((n) => html`<span class=${n === a || n === b ? "mark" : ""}>${nodeName(r, n)}</span> `)}${answer.other.length > 80 ? "…" : ""}</p>
    ${!store.content.fixed && html`<p class="row"><button id="take" onClick=${() => store.takeOrder(answer.other!)}>Take this order</button></p>`}`;
}

function Link({ store, reason }: { store: Store; reason: Reason }) {
  const givers = store.graph.givers[reason.tensor];
  const k = givers.findIndex((g) => g.node === reason.to);
  const part = givers.length > 1 ? ` (part ${k + 1} of ${givers.length} of its gradient)` : "";
  return html`<${NodeLink} store=${store} id=${reason.from} /> needs what <${NodeLink} store=${store} id=${reason.to} /> hands over, because that consumes its output <${TensorLink} store=${store} id=${reason.tensor} />${part}`;
}

/** The same content as the canvas, as a list. */
export function ListTab({ store }: { store: Store }) {
  const [most, setMost] = useState(200);
  const boxes = store.picture.boxes;
  const leaves = store.picture.stubs.filter((x, i, all) => !x.end && !x.ghost && all.findIndex((y) => y.t === x.t) === i && store.record.tensors[x.t].producer < 0);
  return html`<h3>${counted(leaves.length, "leaf").replace("leafs", "leaves")}</h3>
    <ul id="leaves" class="list">${leaves.slice(0, most).map((x) => html`<li><${TensorLink} store=${store} id=${x.t} /> ${store.record.tensors[x.t].kind} ${shapeText(store.record.tensors[x.t].shape)}</li>`)}</ul>
    <h3>${counted(boxes.length, "box").replace("boxs", "boxes")}, in tape order</h3>
    <ol id="list" class="list">${boxes.slice(0, most).map((b) => (b[4] >= 0 ? html`<${NodeItem} store=${store} id=${b[4]} />` : html`<${RegionItem} store=${store} id=${b[5]} />`))}</ol>
    ${boxes.length > most && html`<button onClick=${() => setMost(most + 500)}>Show more of ${boxes.length}</button>`}`;
}

function NodeItem({ store, id }: { store: Store; id: number }) {
  const r = store.record;
  const n = r.nodes[id];
  const turn = store.run?.turn[id] ?? -1;
  const state = { current: "just visited", visited: "visited", ready: "ready", waiting: "waiting", outside: "not in the sweep" }[stage(store, id)];
  return html`<li data-node=${id} class=${store.selected?.kind === "node" && store.selected.id === id ? "chosen" : ""}>
    <button class="link" onClick=${() => store.select({ kind: "node", id })}>${nodeTitle(r, id)}</button>
    (${n.inputs.map((t) => tensorName(r, t)).join(", ")}) → ${n.outputs.map((t) => `${tensorName(r, t)} ${shapeText(r.tensors[t].shape)}, ${bytesText(r.tensors[t].bytes)}`).join("; ")}${n.outputs.includes(store.content.loss) ? " (the loss)" : ""}
    ${turn >= 0 ? html` · visit ${turn + 1}, ${state}` : store.swept ? " · not in the sweep" : ""}
    ${n.saves?.length ? ` · keeps ${[...new Set(n.saves.map((x) => tensorName(r, x.tensor)))].join(", ")}` : ""}
    ${store.changes.has(id) ? ` · ${store.changes.get(id)}` : ""}</li>`;
}

function RegionItem({ store, id }: { store: Store; id: number }) {
  const g = store.content.regions[id];
  return html`<li data-region=${id}><button class="link" onClick=${() => store.select({ kind: "region", id })}>${plain(g.label)}</button> ${counted(g.to - g.from, "op")}
    <button aria-label=${`Unfold ${plain(g.label)}`} onClick=${() => store.toggle(id)}>+</button></li>`;
}

/** How the record differs from an older one. */
export function CompareTab({ store }: { store: Store }) {
  const c = store.content.compared!;
  const list = c.differences ?? [];
  const count = (w: string) => list.filter((d) => d.what === w).length;
  return html`<p id="compared">${count("appeared")} appeared, ${count("went")} went, ${count("changed")} changed; ${counted(c.same, "node")} alike.</p>
    <ul id="differences" class="list">${list.slice(0, 500).map((d) => html`<li class=${d.what}><b>${{ appeared: "+", went: "−", changed: "~" }[d.what]}</b>${" "}
      ${d.part === "node" && d.b >= 0 ? html`<${NodeLink} store=${store} id=${d.b} />` : d.part === "leaf" && d.b >= 0 ? html`<${TensorLink} store=${store} id=${d.b} />` : plain(d.name)} ${d.what}${d.scope ? ` in ${plain(d.scope)}` : ""}
      ${d.changes?.length ? html`<ul>${d.changes.map((x) => html`<li>${plain(x.field)}: ${plain(x.old) || "none"} → ${plain(x.new) || "none"}</li>`)}</ul>` : ""}</li>`)}</ul>`;
}
