import { VirtualClock } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { Documents } from "./documents.ts";

const limits = { age: 60_000, count: 3, size: 100 };
const at = 1_000_000;

function documents() {
  const clock = new VirtualClock(at);
  let reads = 0;
  const kept = new Documents(limits, clock);
  const read = async (id: string, size = 1) =>
    kept.get(id, async () => {
      reads += 1;
      return { content: { id }, size };
    });
  return { clock, kept, read, reads: () => reads };
}

describe("documents of extension servers", () => {
  test("are read once for requests at the same time, and again when they are old", async () => {
    const { clock, read, reads } = documents();
    await Promise.all([read("a"), read("a")]);
    expect(await read("a")).toEqual({ id: "a" });
    expect(reads()).toBe(1);
    await clock.advance(60_000);
    await read("a");
    expect(reads()).toBe(2);
  });

  test("are never more than the limit: the oldest is dropped", async () => {
    const { kept, read, reads } = documents();
    for (const id of ["a", "b", "c", "d"]) await read(id);
    expect(kept.count).toBe(3);
    await read("d");
    expect(reads()).toBe(4);
    await read("a");
    expect(reads()).toBe(5);
  });

  test("are never larger together than the limit, and one that is larger is not kept", async () => {
    const { kept, read } = documents();
    await read("a", 60);
    await read("b", 60);
    expect([kept.count, kept.size]).toEqual([1, 60]);
    await read("c", 101);
    expect([kept.count, kept.size]).toEqual([0, 0]);
  });

  test("that could not be read are not kept, and those that are cleared while they are read count for nothing", async () => {
    const { kept, read } = documents();
    await expect(kept.get("a", () => Promise.reject(new Error("away")))).rejects.toThrow("away");
    expect(kept.count).toBe(0);
    const reading = read("b", 50);
    kept.clear();
    await reading;
    expect([kept.count, kept.size]).toEqual([0, 0]);
  });
});
