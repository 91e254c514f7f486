import { CausewayError } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import type { Call } from "../../etcd/etcd-admin.ts";
import { measure, type Measure } from "./meter.ts";

const MIB = 2 ** 20;
const LONGEST_ANSWER = 16 * MIB;
const base64 = (text: string) => Buffer.from(text).toString("base64");

interface Range {
  readonly key: string;
  readonly range_end: string;
  readonly limit: number;
}

/** An etcd with values of these sizes, in the order of their keys; what each call read of it. */
function etcdOf(sizes: readonly number[]): { call: Call; reads: number[] } {
  const keys = sizes.map((size, index) => ({ key: `/hcp-a/${String(index).padStart(6, "0")}`, size }));
  const reads: number[] = [];
  const call = async (_: string, body: unknown): Promise<Record<string, unknown>> => {
    const { key, range_end, limit } = body as Range;
    const [from, to] = [key, range_end].map((each) => Buffer.from(each, "base64").toString());
    const found = keys.filter((each) => each.key >= (from ?? "") && each.key < (to ?? ""));
    const page = found.slice(0, limit);
    const size = page.reduce((sum, each) => sum + each.size, 0);
    reads.push(size);
    if (size > LONGEST_ANSWER) throw new CausewayError("PODS_ETCD_ANSWER_TOO_LONG", "too long");
    const kvs = page.map((each) => ({ key: base64(each.key), value: "A".repeat(Math.ceil(each.size / 3) * 4) }));
    return { kvs, more: found.length > page.length };
  };
  return { call: call as unknown as Call, reads };
}

/** Rounds to the end of a measure, each with the same allowance. */
async function rounds(call: Call, allowance: number, atRound: () => void): Promise<Measure> {
  let from: Measure | undefined;
  for (let i = 0; i < 1_000; i++) {
    from = await measure(call, "/hcp-a/", { from, allowance, stopAt: Infinity });
    atRound();
    if (from.isDone) return from;
  }
  throw new Error("it does not end");
}

describe("a measure of a control plane", () => {
  const small = Array.from({ length: 2_000 }, () => 1_000);
  const large = Array.from({ length: 60 }, () => 1.5 * MIB);
  test.for<[title: string, sizes: readonly number[]]>([
    ["small objects", small],
    ["large objects", large],
    ["large ones behind small ones", [...small, ...large]],
    ["large ones between small ones", Array.from({ length: 40 }, () => [...small.slice(0, 40), 1.5 * MIB]).flat()],
  ])("of %s counts all, and reads little more in a round than it may", async ([, sizes]) => {
    const { call, reads } = etcdOf(sizes);
    const perRound: number[] = [];
    let before = 0;
    const measured = await rounds(call, 8 * MIB, () => {
      perRound.push(reads.slice(before).reduce((sum, each) => sum + Math.min(each, LONGEST_ANSWER), 0));
      before = reads.length;
    });
    const total = sizes.reduce((sum, each) => sum + each, 0);
    expect(measured.bytes).toBeGreaterThanOrEqual(total);
    expect(measured.bytes).toBeLessThan(total * 1.1 + sizes.length * 256);
    // One page that could not be foreseen.
    expect(Math.max(...perRound)).toBeLessThanOrEqual(8 * MIB + LONGEST_ANSWER);
  });

  test("of large objects alone keeps within what it may read, but for one object", async () => {
    const { call, reads } = etcdOf(large);
    let [before, most] = [0, 0];
    await rounds(call, 8 * MIB, () => {
      most = Math.max(
        most,
        reads.slice(before).reduce((sum, each) => sum + each, 0),
      );
      before = reads.length;
    });
    expect(most).toBeLessThanOrEqual(12 * MIB);
  });

  test("of small objects takes few calls", async () => {
    const { call, reads } = etcdOf(small);
    await rounds(call, 8 * MIB, () => {});
    expect(reads.length).toBeLessThan(25);
  });
});
