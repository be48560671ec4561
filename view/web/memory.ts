import { Curve, tints } from "./curve.ts";
import { html } from "./html.ts";
import type { Store } from "./store.ts";
import { causes, type Held, heldAt, type Run, total } from "./sweep.ts";
import { bytesText, nodeName, orderName, siteText } from "./words.ts";
import { NodeLink, TensorLink } from "./links.ts";

const causeNames = { params: "parameters", inputs: "inputs and constants", values: "values for handles", payload: "payload", grads: "gradients", parked: "parked" };

/** The memory curve, what is held at the peak or now, and what another order would hold. */
export function MemoryTab({ store }: { store: Store }) {
  const r = store.run;
  if (!r) return html`<p class="hint">The record has no sweep, so there is no memory curve.</p>`;
  const peak = r.moments[r.peak];
  return html`<div class="memory">
    <p id="peak">Peak: <b>${bytesText(total(peak))}</b> ${momentText(store, r, r.peak)}
      <button onClick=${() => store.seek(r.peak)}>Go there</button></p>
    <${Curve} store=${store} run=${r} other=${store.whatIf >= 0 ? store.runOf(store.plans[store.whatIf]) : null} />
    <ul class="legend">${causes.map((c) => html`<li><i style=${{ background: tints[c] }}></i>${causeNames[c]} <b>${bytesText(r.moments[store.visits][c])}</b></li>`)}</ul>
    <${WhatIf} store=${store} run=${r} />
    <h3>Held ${momentText(store, r, store.visits)}: ${bytesText(total(r.moments[store.visits]))}</h3>
    <${HeldList} store=${store} held=${heldAt(store.graph, r, store.visits)} />
  </div>`;
}

function momentText(store: Store, r: Run, moment: number): string {
  return moment === 0 ? "when the sweep starts" : `at visit ${moment} of ${r.sequence.length}, ${nodeName(store.record, r.sequence[moment - 1])}`;
}

function WhatIf({ store, run }: { store: Store; run: Run }) {
  const here = total(run.moments[run.peak]);
  return html`<table id="orders"><caption>What another order would hold</caption>
    <thead><tr><th>order</th><th>peak</th><th>beside this</th><th></th></tr></thead>
    <tbody>${store.plans.map((p, i) => {
      const r = store.runOf(p)!;
      const bytes = total(r.moments[r.peak]);
      const change = here === 0 ? 0 : Math.round((100 * (bytes - here)) / here);
      return html`<tr class=${i === store.plan ? "current" : ""}><td>${orderName(p)}</td><td>${bytesText(bytes)}</td>
        <td>${i === store.plan ? "this one" : bytes === here ? "the same" : `${change > 0 ? "+" : ""}${change} %`}</td>
        <td>${i !== store.plan && html`<button aria-label=${`Compare with ${orderName(p)}`} aria-pressed=${store.whatIf === i}
          onClick=${() => { store.whatIf = store.whatIf === i ? -1 : i; store.emit(); }}>draw</button>
          <button aria-label=${`Take ${orderName(p)}`} onClick=${() => store.choosePlan(i)}>take</button>`}</td></tr>`;
    })}</tbody></table>`;
}

function HeldList({ store, held }: { store: Store; held: Held[] }) {
  const r = store.record;
  const most = 12;
  return html`<div id="held">${causes.map((c) => {
    const list = held.filter((h) => h.cause === c);
    if (list.length === 0) return null;
    const sum = list.reduce((a, h) => a + h.bytes, 0);
    return html`<details open=${c === "payload" || c === "grads" || c === "parked"}><summary><i style=${{ background: tints[c] }}></i>${causeNames[c]}: ${bytesText(sum)} in ${list.length}</summary>
      ${c === "payload" && html`<p class="hint">by rule: ${byRule(store, list)}</p>`}
      <ul>${list.slice(0, most).map((h) => html`<li>${bytesText(h.bytes)} <${TensorLink} store=${store} id=${h.tensor} />
        ${h.cause === "payload" && html` for <${NodeLink} store=${store} id=${h.node} /> ${siteText(r, r.nodes[h.node].site)}`}
        ${h.cause === "parked" && html` from <${NodeLink} store=${store} id=${h.node} />`}</li>`)}
        ${list.length > most && html`<li class="hint">and ${list.length - most} more</li>`}</ul></details>`;
  })}</div>`;
}

function byRule(store: Store, list: Held[]): string {
  const sums = new Map<string, number>();
  for (const h of list) {
    const op = store.record.nodes[h.node].op;
    sums.set(op, (sums.get(op) ?? 0) + h.bytes);
  }
  return [...sums].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([op, bytes]) => `${op} ${bytesText(bytes)}`).join(", ");
}
