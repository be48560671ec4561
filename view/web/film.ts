import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.ts";
import type { Store } from "./store.ts";
import { nodeName, orderName, short } from "./words.ts";

/** The controls of the film, and the order as a strip of nodes that can be dragged. */
export function Film({ store }: { store: Store }) {
  useEffect(() => {
    if (!store.playing) return;
    const timer = setInterval(() => {
      if (store.visits >= store.sequence.length) {
        store.playing = false;
        store.emit();
      } else {
        store.seek(store.visits + Math.max(1, Math.round(store.speed / 30)));
      }
    }, Math.max(33, 1000 / store.speed));
    return () => clearInterval(timer);
  }, [store.playing, store.speed]);
  if (!store.swept) {
    return html`<section class="film" aria-label="The sweep"><p class="hint">The record has no sweep, so there is no film. Record the tape after Backward with Trace, or after Plan.</p></section>`;
  }
  const n = store.sequence.length;
  const seek = (k: number) => { store.playing = false; store.seek(k); };
  return html`<section class="film" aria-label="The sweep">
    <div class="controls">
      <button id="start" title="To the start (Home)" aria-label="To the start" onClick=${() => seek(0)}>⏮</button>
      <button id="back" title="One visit back (,)" aria-label="One visit back" disabled=${store.visits === 0} onClick=${() => seek(store.visits - 1)}>◀</button>
      <button id="play" title="Play (space)" aria-label=${store.playing ? "Pause" : "Play"} onClick=${() => play(store)}>${store.playing ? "⏸" : "▶"}</button>
      <button id="step" title="One visit on (.)" aria-label="One visit on" disabled=${store.visits === n} onClick=${() => seek(store.visits + 1)}>▶|</button>
      <button id="end" title="To the end (End)" aria-label="To the end" onClick=${() => seek(n)}>⏭</button>
      <input id="moment" type="range" min="0" max=${n} value=${store.visits} aria-label="Visits made" onInput=${(e: any) => seek(+e.target.value)} />
      <output id="visits">${store.visits} of ${n}</output>
      <label>speed <select id="speed" value=${store.speed} onChange=${(e: any) => { store.speed = +e.target.value; store.emit(); }}>
        ${[1, 2, 5, 20, 200].map((v) => html`<option value=${v}>${v}/s</option>`)}
      </select></label>
      <label>order <${Orders} store=${store} /></label>
    </div>
    <${Strip} store=${store} />
  </section>`;
}

export function play(store: Store) {
  if (!store.playing && store.visits >= store.sequence.length) store.visits = 0;
  store.playing = !store.playing;
  store.emit();
}

function Orders({ store }: { store: Store }) {
  const choose = (e: any) => {
    if (e.target.value === "seed") {
      const seed = 4 + store.plans.filter((p) => p.order === "random").length;
      void store.addPlan("random", seed);
    } else {
      store.choosePlan(+e.target.value);
    }
  };
  return html`<select id="order" value=${store.plan} onChange=${choose} title=${store.content.fixed ?? "The order in which the sweep visits the nodes"}>
    ${store.plans.map((p, i) => html`<option value=${i} selected=${i === store.plan}>${orderName(p)}</option>`)}
    ${store.content.live && !store.content.fixed && html`<option value="seed">random, another seed</option>`}
  </select>`;
}

const chip = 104; // pixels from one chip to the next

interface Drag { node: number; from: number; x: number; dx: number }

function Strip({ store }: { store: Store }) {
  const ref = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState(0);
  const [drag, setDrag] = useState<Drag | null>(null);
  const seq = store.sequence;
  useEffect(() => {
    const el = ref.current!;
    const at = (store.visits - 1) * chip;
    if (!drag && (at < el.scrollLeft || at + chip > el.scrollLeft + el.clientWidth)) el.scrollLeft = Math.max(0, at - el.clientWidth / 2);
  }, [store.visits, store.plan]);
  const width = ref.current?.clientWidth ?? 1280;
  const lo = Math.max(0, Math.floor(scroll / chip) - 8);
  const hi = Math.min(seq.length, Math.ceil((scroll + width) / chip) + 8);
  const shown = [];
  for (let i = lo; i < hi; i++) shown.push(i);
  if (drag && (drag.from < lo || drag.from >= hi)) shown.push(drag.from);
  const target = drag ? Math.max(0, Math.min(seq.length - 1, drag.from + Math.round(drag.dx / chip))) : -1;
  const range = drag ? store.room(drag.node) : store.selected?.kind === "node" && store.run!.turn[store.selected.id] >= 0 ? store.room(store.selected.id) : null;
  const down = (e: PointerEvent, i: number) => {
    if (e.button !== 0) return;
    (e.currentTarget as Element).setPointerCapture(e.pointerId);
    setDrag({ node: seq[i], from: i, x: e.clientX, dx: 0 });
  };
  const move = (e: PointerEvent) => { if (drag) setDrag({ ...drag, dx: e.clientX - drag.x }); };
  const up = () => {
    if (!drag) return;
    setDrag(null);
    if (Math.abs(drag.dx) < 5) {
      store.playing = false;
      store.visits = drag.from + 1;
      store.select({ kind: "node", id: drag.node });
    } else if (target !== drag.from) {
      store.move(drag.node, target);
    }
  };
  const key = (e: KeyboardEvent, i: number) => {
    if (e.altKey && (e.key === "ArrowLeft" || e.key === "ArrowRight")) {
      e.preventDefault();
      store.move(seq[i], Math.max(0, Math.min(seq.length - 1, i + (e.key === "ArrowLeft" ? -1 : 1))));
    } else if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      e.stopPropagation();
      store.visits = i + 1;
      store.select({ kind: "node", id: seq[i] });
    }
  };
  return html`<div class="strip" id="strip" ref=${ref} tabindex="0" onScroll=${(e: any) => setScroll(e.target.scrollLeft)} role="group"
      aria-label="The order. Drag a node, or press Alt and an arrow key on it, to move it.">
    <div class="reel" style=${{ width: `${seq.length * chip}px` }}>
      ${range && html`<div class="room" style=${{ left: `${range[0] * chip}px`, width: `${(range[1] - range[0] + 1) * chip - 6}px` }}></div>`}
      ${shown.map((i) => {
        const node = seq[i];
        const dragged = drag?.node === node;
        const illegal = dragged && range && (target < range[0] || target > range[1]);
        const state = i === store.visits - 1 ? "now" : i < store.visits ? "done" : "";
        const chosen = store.selected?.kind === "node" && store.selected.id === node ? " chosen" : "";
        return html`<button key=${node} class=${`chip ${state}${chosen}${dragged ? " dragged" : ""}${illegal ? " illegal" : ""}`} data-node=${node}
          style=${{ left: `${i * chip + (dragged ? drag!.dx : 0)}px` }} title=${`Visit ${i + 1}: ${nodeName(store.record, node)}. Drag it to move it.`}
          onPointerDown=${(e: PointerEvent) => down(e, i)} onPointerMove=${move} onPointerUp=${up} onPointerCancel=${() => setDrag(null)}
          onKeyDown=${(e: KeyboardEvent) => key(e, i)}><b>${i + 1}</b> ${short(nodeName(store.record, node), 13)}</button>`;
      })}
    </div>
  </div>`;
}
