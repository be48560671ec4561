import { html } from "./html.ts";
import type { Store } from "./store.ts";
import { nodeName, tensorName } from "./words.ts";

const light = (store: Store, kind: "node" | "tensor", id: number) => ({
  onPointerEnter: () => { store.hovered = { kind, id }; store.emit(); },
  onPointerLeave: () => { store.hovered = null; store.emit(); },
});

/** A node's name that chooses the node. */
export function NodeLink({ store, id }: { store: Store; id: number }) {
  if (id < 0) return html`<span>nothing</span>`;
  return html`<button class="link" ...${light(store, "node", id)} onClick=${() => store.select({ kind: "node", id })}>${nodeName(store.record, id)}</button>`;
}

/** A tensor's name that chooses the tensor. */
export function TensorLink({ store, id }: { store: Store; id: number }) {
  if (id < 0) return html`<span>a value without a tensor</span>`;
  return html`<button class="link" ...${light(store, "tensor", id)} onClick=${() => store.select({ kind: "tensor", id })}>${tensorName(store.record, id)}</button>`;
}
