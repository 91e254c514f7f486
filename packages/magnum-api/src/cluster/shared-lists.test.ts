import { expect, test } from "vitest";
import { createSharedLists } from "./shared-lists.ts";

const signal = new AbortController().signal;

/** Lists that end when they are said to. */
function playLists() {
  const begun: { readonly of: string; end(found: string): void; fail(): void }[] = [];
  const listOf = (of: string) => () =>
    new Promise<string>((end, fail) => begun.push({ of, end, fail: () => fail(new Error(`${of} is refused`)) }));
  return { begun, listOf };
}

/** Lets promises that are settled be heard. */
const settle = () => new Promise((done) => setImmediate(done));

test("clusters of one project that need a list at once share the one that begins after all of them", async () => {
  const { begun, listOf } = playLists();
  const lists = createSharedLists<string>();
  const reads = ["a", "b", "c", "d"].map((of) => lists.read("p", listOf(of), signal));
  const other = lists.read("q", listOf("e"), signal);
  expect(begun.map(({ of }) => of)).toEqual(["a", "e"]);
  begun[0]?.end("first");
  begun[1]?.end("other");
  await settle();
  expect(begun.map(({ of }) => of)).toEqual(["a", "e", "b"]);
  const late = lists.read("p", listOf("f"), signal);
  begun[2]?.end("second");
  expect([await Promise.all(reads), await other]).toEqual([["first", "second", "second", "second"], "other"]);
  await settle();
  begun[3]?.end("third");
  expect(await late).toBe("third");
  expect(begun.map(({ of }) => of)).toEqual(["a", "e", "b", "f"]);
  await settle();
  const again = lists.read("p", listOf("g"), signal);
  expect(begun.at(-1)?.of).toBe("g");
  begun.at(-1)?.end("fourth");
  expect(await again).toBe("fourth");
});

test("a list that fails with another cluster's credential is read with one's own, and fails with it alone", async () => {
  const { begun, listOf } = playLists();
  const lists = createSharedLists<string>();
  const [first, second, third] = ["a", "b", "c"].map((of) => lists.read("p", listOf(of), signal));
  begun[0]?.fail();
  await expect(first).rejects.toThrow("a is refused");
  await settle();
  begun[1]?.fail();
  await expect(second).rejects.toThrow("b is refused");
  await settle();
  begun[2]?.end("found");
  expect([await third, begun.map(({ of }) => of)]).toEqual(["found", ["a", "b", "c"]]);
});

test("a cluster that gives up does not wait for the list of another one", async () => {
  const { listOf } = playLists();
  const lists = createSharedLists<string>();
  void lists.read("p", listOf("a"), signal);
  const stop = new AbortController();
  void lists.read("p", listOf("b"), signal);
  const waiting = lists.read("p", listOf("c"), stop.signal);
  stop.abort(new Error("given up"));
  await expect(waiting).rejects.toThrow("given up");
});
