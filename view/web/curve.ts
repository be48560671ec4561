import { useEffect, useRef } from "preact/hooks";
import { html } from "./html.ts";
import type { Store } from "./store.ts";
import { causes, heldAt, type Moment, type Run, total } from "./sweep.ts";
import { bytesText, tensorName } from "./words.ts";

export const tints = { params: "#b7862b", inputs: "#4a7ebb", values: "#8c959f", payload: "#12867d", grads: "#8250df", parked: "#d9480f" };

const height = 180;
const left = 62;
const bottom = 20;
const top = 8;

/** The fewest round numbers that divide 0 … most in about so many parts: powers of two for bytes. */
function ticks(most: number, parts: number): number[] {
  let step = 1;
  while (most / step > parts) step *= 2;
  const list: number[] = [];
  for (let v = 0; v <= most; v += step) list.push(v);
  return list;
}

/**
 * The bytes that are held at each visit, stacked by cause; the peak of another
 * order over it, dashed. Where there are more visits than pixels, a pixel shows
 * the fullest of its visits.
 */
export function Curve({ store, run, other }: { store: Store; run: Run; other: Run | null }) {
  const ref = useRef<HTMLCanvasElement>(null);
  const visits = run.sequence.length;
  const at = (e: PointerEvent | MouseEvent) => {
    const r = ref.current!.getBoundingClientRect();
    return Math.max(0, Math.min(visits, Math.floor(((e.clientX - r.left - left) / (r.width - left - 4)) * (visits + 1))));
  };
  const hover = (e: PointerEvent) => {
    const i = at(e);
    store.hovered = i > 0 ? { kind: "node", id: run.sequence[i - 1] } : null;
    store.emit();
  };
  const leave = () => { store.hovered = null; store.emit(); };
  const key = (e: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (by) store.seek(store.visits + by);
  };
  const paint = () => paintCurve(ref.current!, store, run, other);
  useEffect(paint);
  useEffect(() => {
    const size = new ResizeObserver(paint);
    size.observe(ref.current!);
    return () => size.disconnect();
  }, [run, other]);
  const largest = heldAt(store.graph, run, run.peak)[0];
  return html`<canvas id="curve" ref=${ref} role="slider" tabindex="0" aria-valuemin="0" aria-valuemax=${visits} aria-valuenow=${store.visits}
    aria-valuetext=${`${bytesText(total(run.moments[store.visits]))} after ${store.visits} of ${visits} visits`}
    aria-label=${`Bytes held at each visit: ${bytesText(total(run.moments[0]))} at the start, ${bytesText(total(run.moments[run.peak]))} at the peak, of which the largest is ${tensorName(store.record, largest?.tensor ?? -1)}`}
    onPointerMove=${hover} onPointerLeave=${leave} onClick=${(e: MouseEvent) => store.seek(at(e))} onKeyDown=${key}></canvas>`;
}

function paintCurve(canvas: HTMLCanvasElement, store: Store, run: Run, other: Run | null) {
  const ratio = devicePixelRatio || 1;
  const width = canvas.clientWidth;
  if (width === 0) return;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const c = canvas.getContext("2d")!;
  c.scale(ratio, ratio);
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue("--" + name).trim();
  const most = Math.max(1, total(run.moments[run.peak]), other ? total(other.moments[other.peak]) : 0) * 1.04;
  const y = (bytes: number) => top + (height - top - bottom) * (1 - bytes / most);
  const n = run.moments.length;
  const x = (i: number) => left + ((width - left - 4) * i) / n;
  c.font = "11px system-ui, sans-serif";
  c.textAlign = "right";
  for (const v of ticks(most, 5)) {
    c.fillStyle = color("grid");
    c.fillRect(left, y(v), width - left - 4, 1);
    c.fillStyle = color("soft");
    c.fillText(bytesText(v), left - 6, y(v) + 4);
  }
  const columns = Math.min(n, Math.ceil(width));
  for (let k = 0; k < columns; k++) {
    const from = Math.floor((k * n) / columns);
    const to = Math.max(from + 1, Math.floor(((k + 1) * n) / columns));
    let base = y(0);
    const m = fullest(run.moments, from, to);
    for (const cause of causes) {
      const h = ((height - top - bottom) * m[cause]) / most;
      c.fillStyle = tints[cause];
      c.fillRect(x(from), base - h, x(to) - x(from) + 0.4, h);
      base -= h;
    }
  }
  if (other) {
    c.strokeStyle = color("bad");
    c.lineWidth = 1.8;
    c.setLineDash([5, 3]);
    c.beginPath();
    for (let k = 0; k < columns; k++) {
      const from = Math.floor((k * n) / columns);
      const to = Math.max(from + 1, Math.floor(((k + 1) * n) / columns));
      const level = y(total(fullest(other.moments, from, to)));
      c.lineTo(x(from), level);
      c.lineTo(x(to), level);
    }
    c.stroke();
    c.setLineDash([]);
  }
  c.fillStyle = color("ink");
  c.fillRect(x(store.visits + 0.5) - 1, top, 2, height - top - bottom);
  const lit = store.hovered?.kind === "node" ? run.turn[store.hovered.id] : -1;
  if (lit >= 0) {
    c.fillStyle = color("lit");
    c.fillRect(x(lit + 1.5) - 1, top, 2, height - top - bottom);
  }
  c.fillStyle = color("soft");
  c.textAlign = "left";
  c.fillText("start", left, height - 5);
  c.textAlign = "right";
  c.fillText(`visit ${n - 1}`, width - 4, height - 5);
}

function fullest(moments: Moment[], from: number, to: number): Moment {
  let best = moments[from];
  for (let i = from + 1; i < to; i++) if (total(moments[i]) > total(best)) best = moments[i];
  return best;
}
