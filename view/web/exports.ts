import { html } from "./html.ts";
import { CanvasPainter, SVGPainter } from "./painter.ts";
import { draw, readColors } from "./scene.ts";
import type { Store } from "./store.ts";
import { plain, short } from "./words.ts";

/** Saves the picture as it is shown, or the graph as text. */
export function Exports({ store }: { store: Store }) {
  const c = store.content;
  return html`<details class="menu" id="export"><summary>Export</summary><div>
    <button id="save-svg" onClick=${() => save(store, "svg", new Blob([svg(store)], { type: "image/svg+xml" }))}>SVG</button>
    <button id="save-png" onClick=${() => png(store)}>PNG</button>
    ${c.dot && html`<button id="save-dot" onClick=${() => save(store, "dot", new Blob([c.dot!], { type: "text/vnd.graphviz" }))}>DOT</button>`}
    ${c.mermaid && html`<button id="save-mermaid" onClick=${() => save(store, "mmd", new Blob([c.mermaid!], { type: "text/plain" }))}>Mermaid</button>`}
    <button onClick=${() => print()}>Print</button></div></details>`;
}

const whole = (store: Store) => ({ x: -1, y: -1, w: store.picture.w + 2, h: store.picture.h + 2, scale: 1 });

export function svg(store: Store): string {
  const p = new SVGPainter();
  const colors = readColors();
  draw(store, p, whole(store), colors);
  return p.document(store.picture.w, store.picture.h, colors.paper, plain(store.record.title ?? "A backward sweep"));
}

/** No browser paints larger canvases. */
const largest = 8192;

function png(store: Store) {
  const { w, h } = store.picture;
  const scale = Math.min(2, largest / w, largest / h);
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(w * scale);
  canvas.height = Math.ceil(h * scale);
  const context = canvas.getContext("2d")!;
  const colors = readColors();
  context.fillStyle = colors.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(scale, scale);
  draw(store, new CanvasPainter(context), { ...whole(store), scale: 1 }, colors);
  canvas.toBlob((b) => { if (b) save(store, "png", b); }, "image/png");
}

function save(store: Store, ending: string, blob: Blob) {
  const a = document.createElement("a");
  const name = short((store.record.title ?? "").replace(/[^\w]+/g, "-").replace(/^-+|-+$/g, ""), 40).replace("…", "") || "sweep";
  a.href = URL.createObjectURL(blob);
  a.download = `${name}.${ending}`;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}
