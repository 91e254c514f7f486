import { expect, test } from "vitest";
import { Blocks } from "./blocks.ts";

test.each([100, 10_000, 65_536])("bytes of a read (%i) remain as they are while more is read", (size) => {
  const blocks = new Blocks();
  const taken = [1, 2].map((value) => {
    blocks.input(65_536).fill(value);
    return blocks.take(size);
  });
  expect(taken.map((each, i) => each.equals(Buffer.alloc(size, i + 1)))).toEqual([true, true]);
});

test("a read takes no more than it may", () => {
  expect([20_000, 65_536, 100_000].map((most) => new Blocks().input(most).length)).toEqual([20_000, 65_536, 65_536]);
});
