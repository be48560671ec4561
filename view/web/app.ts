import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { About } from "./about.ts";
import { GraphCanvas } from "./canvas.ts";
import { Exports } from "./exports.ts";
import { Film, play } from "./film.ts";
import { html } from "./html.ts";
import { MemoryTab } from "./memory.ts";
import { CompareTab, ListTab, StepTab, WhyTab } from "./panels.ts";
import type { Content } from "./record.ts";
import { Search } from "./search.ts";
import { Store, type Tab } from "./store.ts";
import { counted, plain, short } from "./words.ts";

function App({ store }: { store: Store }) {
  const [, turn] = useState(0);
  useEffect(() => {
    const again = () => turn((n) => n + 1);
    store.listeners.add(again);
    return () => { store.listeners.delete(again); };
  }, []);
  useEffect(() => {
    const key = (e: KeyboardEvent) => keys(store, e);
    const hash = () => follow(store);
    addEventListener("keydown", key);
    addEventListener("hashchange", hash);
    hash();
    return () => {
      removeEventListener("keydown", key);
      removeEventListener("hashchange", hash);
    };
  }, []);
  const r = store.record;
  const tabs: [Tab, string][] = [["step", "Visit"], ["why", "Why"], ["memory", "Memory"], ["list", "List"]];
  if (store.content.compared) tabs.push(["compare", "Compare"]);
  return html`<header>
      <h1 title=${plain(r.title ?? "")}>${short(plain(r.title || "Backsweep"), 90)}</h1><span class="hint">${counted(r.nodes.length, "op")}, ${counted(r.tensors.length, "tensor")}</span>
      <${Search} store=${store} /><${Folding} store=${store} /><${Exports} store=${store} />
      <button id="theme" aria-label="Light or dark" title="Light or dark" onClick=${() => theme()}>◐</button>
    </header>
    <main>
      <div class="picture"><${GraphCanvas} store=${store} />
        <div class="zoom"><button id="fit" title="Fit (0)" aria-label="Fit the picture" onClick=${() => store.fit()}>⤢</button></div>
        <${Key} /></div>
      <aside>
        <${About} store=${store} />
        <div role="tablist" aria-label="About the sweep" class="tabs">${tabs.map(([id, name]) => html`<button role="tab" id=${`tab-${id}`} aria-selected=${store.tab === id} aria-controls="panel" onClick=${() => { store.tab = id; store.emit(); }}>${name}</button>`)}</div>
        <div role="tabpanel" id="panel" aria-labelledby=${`tab-${store.tab}`} tabindex="0">
          ${store.tab === "step" ? html`<${StepTab} store=${store} />` : store.tab === "why" ? html`<${WhyTab} store=${store} />` : store.tab === "memory" ? html`<${MemoryTab} store=${store} />`
            : store.tab === "list" ? html`<${ListTab} store=${store} />` : html`<${CompareTab} store=${store} />`}
        </div>
      </aside>
      <${Film} store=${store} />
    </main>
    <div id="notice" role=${store.refused ? "alert" : "status"} class=${store.refused ? "bad" : ""} hidden=${!store.notice}>${store.notice}
      <button aria-label="Close" onClick=${() => { store.notice = ""; store.refused = null; store.emit(); }}>×</button></div>`;
}

function Folding({ store }: { store: Store }) {
  return html`<span class="row">${store.content.regions.length > 0 && html`<button id="unfold-all" onClick=${() => store.openAll()}>Unfold all</button><button id="fold-all" onClick=${() => store.open([])}>Fold all</button>`}
    <button id="style" aria-pressed=${store.picture.style === "bipartite"} title="Circles for tensors, boxes for ops" onClick=${() => store.setStyle(store.picture.style === "ops" ? "bipartite" : "ops")}>Tensors as circles</button></span>`;
}

function Key() {
  return html`<ul class="key" aria-label="Key"><li><i class="param"></i>parameter</li><li><i class="input"></i>input</li><li><i class="constant"></i>constant</li><li><i class="loss"></i>loss</li><li><i class="turn"></i>turn in the sweep</li><li><i class="ready"></i>ready</li><li><i class="parked"></i>parked</li></ul>`;
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.getElementById("graph")!.dispatchEvent(new Event("recolor"));
}

function keys(store: Store, e: KeyboardEvent) {
  const el = e.target as HTMLElement;
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(el.tagName)) return;
  const seek = (k: number) => { store.playing = false; store.seek(k); };
  switch (e.key) {
    case " ": if (el.tagName === "BUTTON" || el.tagName === "SUMMARY" || !store.swept) return; play(store); break;
    case ".": seek(store.visits + 1); break;
    case ",": seek(store.visits - 1); break;
    case "Home": seek(0); break;
    case "End": seek(store.sequence.length); break;
    case "/": document.getElementById("search")!.focus(); break;
    default: return;
  }
  e.preventDefault();
}

/** Follows a link to a node or a tensor: #n12, #t3. */
function follow(store: Store) {
  const m = /^#([nt])(\d+)$/.exec(location.hash);
  if (!m) return;
  const id = +m[2];
  if (m[1] === "n" && id < store.record.nodes.length) store.select({ kind: "node", id });
  if (m[1] === "t" && id < store.record.tensors.length) store.select({ kind: "tensor", id });
}

async function content(): Promise<Content> {
  const inside = document.getElementById("content");
  if (inside) return JSON.parse(inside.textContent!);
  const r = await fetch("content.json");
  if (!r.ok) throw new Error(await r.text());
  return r.json();
}

const root = document.getElementById("app")!;
content().then(
  (c) => render(html`<${App} store=${new Store(c)} />`, root),
  (e: Error) => { root.textContent = `The record cannot be shown: ${e.message}`; },
);
