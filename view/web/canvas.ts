import { useEffect, useRef } from "preact/hooks";
import { html } from "./html.ts";
import { CanvasPainter } from "./painter.ts";
import { draw, hit, readColors } from "./scene.ts";
import type { Selection, Store } from "./store.ts";

/** Where the picture stands on the canvas. */
interface Camera { x: number; y: number; scale: number }

const smallest = 0.02;
const largest = 4;

/** The graph: drag to pan, turn the wheel or pinch to zoom, click to choose, double-click to fold and unfold. */
export function GraphCanvas({ store }: { store: Store }) {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => attach(ref.current!, store), []);
  return html`<canvas ref=${ref} id="graph" tabindex="0" role="application" aria-describedby="graph-help"
    aria-label="The graph. Arrow keys go along edges; the list beside it has the same content."></canvas>
    <p id="graph-help" class="unseen">Arrow keys choose a node; Enter folds and unfolds; plus, minus and 0 zoom and fit; space plays the sweep, comma and period step it.</p>`;
}

function attach(canvas: HTMLCanvasElement, store: Store): () => void {
  const context = canvas.getContext("2d")!;
  const camera: Camera = { x: 0, y: 0, scale: 1 };
  let colors = readColors();
  let picture = store.picture;
  let frame = 0;
  let touched = false; // the person has moved the picture

  const paint = () => {
    frame = 0;
    const ratio = devicePixelRatio || 1;
    const w = canvas.clientWidth;
    const h = canvas.clientHeight;
    if (w === 0 || h === 0) return;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
    }
    const started = performance.now();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colors.paper;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.setTransform(ratio * camera.scale, 0, 0, ratio * camera.scale, ratio * camera.x, ratio * camera.y);
    const view = { x: -camera.x / camera.scale, y: -camera.y / camera.scale, w: w / camera.scale, h: h / camera.scale, scale: camera.scale };
    draw(store, new CanvasPainter(context), view, colors);
    canvas.dataset.camera = `${camera.x},${camera.y},${camera.scale}`;
    canvas.dataset.painted = String((Number(canvas.dataset.painted) || 0) + 1);
    canvas.dataset.took = (performance.now() - started).toFixed(1);
  };
  const ask = () => { frame ||= requestAnimationFrame(paint); };

  const fit = () => {
    const w = canvas.clientWidth;
    const h = canvas.clientHeight;
    const p = store.picture;
    const whole = Math.min(w / (p.w + 16), h / (p.h + 16), 1.25);
    // A tall picture is fitted to the width, and begins at the loss.
    camera.scale = Math.max(whole, Math.min(w / (p.w + 16), 0.55), smallest);
    camera.x = (w - p.w * camera.scale) / 2;
    camera.y = camera.scale > whole ? h - p.h * camera.scale - 8 : (h - p.h * camera.scale) / 2;
    touched = false;
    ask();
  };
  store.fit = fit;

  const place = (s: Selection): number[] | null => {
    const p = store.picture;
    if (!s) return null;
    if (s.kind !== "tensor") {
      const of = (b: number[]) => (s.kind === "region" ? b[5] === s.id : b[4] === s.id);
      const inside = (b: number[]) => s.kind === "node" && b[5] >= 0 && store.content.regions[b[5]].from <= s.id && s.id < store.content.regions[b[5]].to;
      return p.boxes.find(of) ?? p.boxes.find(inside) ?? null;
    }
    return p.stubs.find((q) => q.t === s.id)?.r ?? p.labels.find((q) => q.t === s.id)?.r ?? null;
  };
  store.reveal = (s) => {
    const r = place(s);
    if (!r) return;
    const margin = 40;
    const left = r[0] * camera.scale + camera.x;
    const top = r[1] * camera.scale + camera.y;
    const seen = left > margin && top > margin && left + r[2] * camera.scale < canvas.clientWidth - margin && top + r[3] * camera.scale < canvas.clientHeight - margin;
    if (seen && camera.scale > 0.3) return;
    camera.scale = Math.max(camera.scale, 0.6);
    camera.x = canvas.clientWidth / 2 - (r[0] + r[2] / 2) * camera.scale;
    camera.y = canvas.clientHeight / 2 - (r[1] + r[3] / 2) * camera.scale;
    touched = true;
    ask();
  };

  const zoom = (by: number, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) => {
    const scale = Math.max(smallest, Math.min(largest, camera.scale * by));
    camera.x = x - ((x - camera.x) * scale) / camera.scale;
    camera.y = y - ((y - camera.y) * scale) / camera.scale;
    camera.scale = scale;
    touched = true;
    ask();
  };

  const at = (e: PointerEvent | MouseEvent) => {
    const r = canvas.getBoundingClientRect();
    return hit(store, (e.clientX - r.left - camera.x) / camera.scale, (e.clientY - r.top - camera.y) / camera.scale, 6 / camera.scale);
  };

  const pointers = new Map<number, { x: number; y: number }>();
  let moved = 0;
  const down = (e: PointerEvent) => {
    canvas.setPointerCapture(e.pointerId);
    pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
    if (pointers.size === 1) moved = 0;
  };
  const move = (e: PointerEvent) => {
    const before = pointers.get(e.pointerId);
    if (!before) {
      const found = at(e);
      canvas.style.cursor = found ? "pointer" : "grab";
      const next = found?.kind === "fold" ? null : (found as Selection);
      if (next?.kind !== store.hovered?.kind || next?.id !== store.hovered?.id) {
        store.hovered = next;
        ask();
      }
      return;
    }
    const [dx, dy] = [e.clientX - before.x, e.clientY - before.y];
    moved += Math.abs(dx) + Math.abs(dy);
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== e.pointerId)![1];
      const r = canvas.getBoundingClientRect();
      const was = Math.hypot(before.x - other.x, before.y - other.y);
      const is = Math.hypot(e.clientX - other.x, e.clientY - other.y);
      if (was > 0) zoom(is / was, (e.clientX + other.x) / 2 - r.left, (e.clientY + other.y) / 2 - r.top);
    } else if (moved > 4) {
      camera.x += dx;
      camera.y += dy;
      touched = true;
      ask();
    }
    pointers.set(e.pointerId, { x: e.clientX, y: e.clientY });
  };
  const up = (e: PointerEvent) => {
    const single = pointers.size === 1;
    if (!pointers.delete(e.pointerId) || !single || moved > 4 || e.type === "pointercancel") return;
    const found = at(e);
    if (found?.kind === "fold") void store.toggle(found.id);
    else if (found?.kind === "node" && e.shiftKey && store.selected?.kind === "node") {
      store.pair = [store.selected.id, -1];
      store.askWhy(1, found.id);
    } else store.select(found as Selection, false);
  };
  const wheel = (e: WheelEvent) => {
    e.preventDefault();
    const r = canvas.getBoundingClientRect();
    zoom(Math.exp(-e.deltaY * (e.deltaMode === 1 ? 0.05 : 0.0016)), e.clientX - r.left, e.clientY - r.top);
  };
  const twice = (e: MouseEvent) => {
    const found = at(e);
    if (found?.kind === "region") void store.toggle(found.id);
  };

  /** Arrow keys go along edges, and to the nearest box where there is none. */
  const step = (dx: number, dy: number) => {
    const from = place(store.selected);
    const boxes = store.picture.boxes;
    if (!from) {
      const b = boxes[boxes.length - 1];
      if (b) store.select(b[4] >= 0 ? { kind: "node", id: b[4] } : { kind: "region", id: b[5] });
      return;
    }
    let best: number[] | null = null;
    let least = Infinity;
    for (const b of boxes) {
      const x = b[0] + b[2] / 2 - from[0] - from[2] / 2;
      const y = b[1] + b[3] / 2 - from[1] - from[3] / 2;
      const ahead = x * dx + y * dy;
      if (ahead <= 4) continue;
      const cost = ahead + 3 * Math.abs(x * dy + y * dx);
      if (cost < least) [best, least] = [b, cost];
    }
    if (best) store.select(best[4] >= 0 ? { kind: "node", id: best[4] } : { kind: "region", id: best[5] });
  };
  const key = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const s = store.selected;
    switch (e.key) {
      case "ArrowUp": step(0, -1); break;
      case "ArrowDown": step(0, 1); break;
      case "ArrowLeft": step(-1, 0); break;
      case "ArrowRight": step(1, 0); break;
      case "Enter": if (s?.kind === "region") void store.toggle(s.id); break;
      case "+": case "=": zoom(1.25); break;
      case "-": zoom(0.8); break;
      case "0": fit(); break;
      case "Escape": store.select(null); break;
      default: return;
    }
    e.preventDefault();
  };

  const changed = () => {
    if (picture !== store.picture) {
      picture = store.picture;
      fit();
    }
    ask();
  };
  const recolor = () => {
    colors = readColors();
    ask();
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const size = new ResizeObserver(() => { if (touched) ask(); else fit(); });
  size.observe(canvas);
  store.listeners.add(changed);
  dark.addEventListener("change", recolor);
  canvas.addEventListener("recolor", recolor);
  canvas.addEventListener("pointerdown", down);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.addEventListener("dblclick", twice);
  canvas.addEventListener("keydown", key);
  fit();
  return () => {
    cancelAnimationFrame(frame);
    size.disconnect();
    store.listeners.delete(changed);
    dark.removeEventListener("change", recolor);
  };
}
