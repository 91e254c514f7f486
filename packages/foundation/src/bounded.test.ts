import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LimitExceeded, parseBoundedJson, readBeginning, readBounded, readLines } from "./bounded.ts";

/** A stream without an end, which counts what is read from it. */
function endless(): { chunks: AsyncGenerator<Uint8Array>; taken: () => number; isClosed: () => boolean } {
  let [taken, isClosed] = [0, false];
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        taken += 1000;
        yield Buffer.alloc(1000, " ");
      }
    } finally {
      isClosed = true;
    }
  }
  return { chunks: chunks(), taken: () => taken, isClosed: () => isClosed };
}

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

describe("a bounded read", () => {
  test("returns a whole stream within the limit", async () => {
    expect((await readBounded(pieces("ab", "", "cd"), 4)).toString()).toBe("abcd");
  });

  test("stops an endless stream just beyond the limit", async () => {
    const stream = endless();
    await expect(readBounded(stream.chunks, 10_000)).rejects.toMatchObject({ is: "bytes", limit: 10_000 });
    expect(stream.taken()).toBe(11_000);
    expect(stream.isClosed()).toBe(true);
  });

  test("of a beginning stops there", async () => {
    const stream = endless();
    expect(await readBeginning(stream.chunks, 2500)).toHaveLength(2500);
    expect(stream.taken()).toBe(3000);
    expect(stream.isClosed()).toBe(true);
  });
});

describe("a read of lines", () => {
  const wanted = (line: string): boolean => line.startsWith("a");
  test("keeps those that are wanted, wherever chunks begin", async () => {
    const text = "b1\na1 é\nc\na2\n\na3";
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(Buffer.from(text).length)), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), Buffer.from(text).length];
        async function* chunks() {
          for (const [i, end] of at.slice(1).entries()) yield Buffer.from(text).subarray(at[i], end);
        }
        expect(await readLines(chunks(), 1_000, wanted)).toEqual(["a1 é", "a2", "a3"]);
      }),
    );
  });

  test("ends beyond the limit, and has of a line no more than 64 KiB", async () => {
    const stream = endless();
    await expect(readLines(stream.chunks, 10_000, wanted)).rejects.toMatchObject({ is: "bytes", limit: 10_000 });
    expect(stream.isClosed()).toBe(true);
    const long = Array.from({ length: 100 }, () => "a".repeat(1_000));
    expect((await readLines(pieces(...long, "\nb\na"), 200_000, wanted)).map((line) => line.length)).toEqual([
      65_536, 1,
    ]);
  });
});

describe("the reader of bounded JSON", () => {
  test("equals the result of JSON.parse, whatever the strings contain", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        expect(parseBoundedJson(text, 20)).toEqual(JSON.parse(text));
      }),
    );
  });

  test.each([
    ["arrays", `${"[".repeat(11)}${"]".repeat(11)}`],
    ["objects", `${'{"a":'.repeat(11)}1${"}".repeat(11)}`],
    ["brackets that nothing closes", "[".repeat(11)],
  ])("refuses %s that are nested deeper than the limit", (_, text) => {
    expect(() => parseBoundedJson(text, 10)).toThrow(LimitExceeded);
  });

  test.each([
    ["in quotes", JSON.stringify(`${"[".repeat(50)}`)],
    ["behind an escaped quote", JSON.stringify(`"${"[".repeat(50)}`)],
    ["behind an escaped backslash", `["\\\\",${JSON.stringify("[".repeat(50))}]`],
    ["next to each other", `[${"[],".repeat(50)}[]]`],
  ])("does not count brackets %s", (_, text) => {
    expect(parseBoundedJson(text, 10)).toEqual(JSON.parse(text));
  });
});
