import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { Graph } from "./graph.ts";
import type { Record, Step } from "./record.ts";
import { causes, check, contributions, type Held, heldAt, missing, type Moment, room, run, turns } from "./sweep.ts";
import { first, why } from "./why.ts";

interface Vector {
  name: string;
  record: Record;
  legal: { sequence: number[]; moments: Moment[]; peak: number; steps: Step[]; held: Held[]; missing: [number, number][] }[];
  faulty: { sequence: number[]; node: number; consumer: number; tensor: number }[];
  why: [number, number, number, number][];
}

// What Go wrote: see vectors_test.go.
const vectors: Vector[] = JSON.parse(readFileSync("../testdata/vectors.json", "utf8"));

for (const v of vectors) {
  const g = new Graph(v.record);

  test(`${v.name}: the memory curve, what parks and what goes are Go's`, () => {
    for (const l of v.legal) {
      const r = run(g, l.sequence);
      assert.equal(r.peak, l.peak);
      l.moments.forEach((m, i) => {
        for (const c of causes) assert.equal(r.moments[i][c], m[c], `moment ${i}, ${c}`);
      });
      l.steps.forEach((s, i) => {
        assert.deepEqual(r.parks[i], (s.gives ?? []).map((x) => x.parked ?? false));
        assert.deepEqual([...r.frees[i]].sort(), [...(s.frees ?? [])].sort());
      });
      const strip = (h: Held) => [h.cause, h.tensor, h.storage, h.node, h.bytes];
      assert.deepEqual(heldAt(g, r, r.peak).map(strip), l.held.map(strip));
      for (let m = 0; m < r.moments.length; m++) {
        const sums: { [cause: string]: number } = {};
        for (const h of heldAt(g, r, m)) sums[h.cause] = (sums[h.cause] ?? 0) + h.bytes;
        for (const c of causes) assert.equal(sums[c] ?? 0, r.moments[m][c], `moment ${m}, ${c}`);
      }
    }
  });

  test(`${v.name}: the counts of missing contributions are Go's`, () => {
    for (const l of v.legal) {
      const turn = turns(g, l.sequence);
      for (const [n, count] of l.missing) assert.equal(missing(g, turn, n, Math.floor(l.sequence.length / 2)).length, count);
      v.record.tensors.forEach((_, t) => {
        assert.ok(contributions(g, turn, t, l.sequence.length).every((s) => s === "added"));
        assert.ok(contributions(g, turn, t, 0).every((s) => s === "missing"));
      });
    }
  });

  test(`${v.name}: legal orders pass, and the edge that an illegal one breaks is Go's`, () => {
    for (const l of v.legal) assert.equal(check(g, l.sequence), null);
    assert.ok(v.faulty.length > 0);
    for (const f of v.faulty) assert.deepEqual(check(g, f.sequence), { node: f.node, consumer: f.consumer, tensor: f.tensor });
  });

  test(`${v.name}: a node moves within its room, and not beyond`, () => {
    for (const l of v.legal) {
      const turn = turns(g, l.sequence);
      for (const n of l.sequence) {
        const [lo, hi] = room(g, turn, n, l.sequence.length);
        for (let to = 0; to < l.sequence.length; to++) {
          const moved = l.sequence.filter((x) => x !== n);
          moved.splice(to, 0, n);
          assert.equal(check(g, moved) === null, to >= lo && to <= hi, `node ${n} to ${to}`);
        }
      }
    }
  });

  test(`${v.name}: why is Go's`, () => {
    const sequence = v.legal[0].sequence;
    for (const [a, b, waits, back] of v.why) {
      const answer = why(g, sequence, a, b);
      assert.equal(answer.waits?.length ?? 0, waits);
      assert.equal(answer.back?.length ?? 0, back);
      const chain = answer.waits ?? answer.back;
      if (chain) {
        const [from, to] = answer.waits ? [a, b] : [b, a];
        assert.equal(chain[0].to, to);
        assert.equal(chain[chain.length - 1].from, from);
        chain.slice(1).forEach((r, i) => assert.equal(chain[i].from, r.to));
        assert.equal(answer.other, null);
      } else {
        assert.ok(answer.other);
        assert.equal(check(g, answer.other), null);
        assert.notEqual(sequence.indexOf(a) < sequence.indexOf(b), answer.other.indexOf(a) < answer.other.indexOf(b));
      }
      assert.equal(check(g, first(g, sequence, a)), null);
    }
  });
}
