import { expect, test } from "vitest";
import { Blocks } from "./blocks.ts";

/** What a reader gets of so many bytes of this value. */
function read(blocks: Blocks, size: number, value: number): Buffer {
  blocks.input.fill(value, 0, size);
  return blocks.take(size);
}

test("bytes that were read remain as they are while more is read, and their memory is used again once they were sent", () => {
  const blocks = new Blocks();
  const [first, second] = [read(blocks, 65_536, 1), read(blocks, 10_000, 2)];
  blocks.release(first.subarray(65_000));
  const third = read(blocks, 20_000, 3);
  const fourth = read(blocks, 65_536, 4);
  expect(third.buffer).toBe(first.buffer);
  expect(new Set([second, third, fourth].map((each) => each.buffer)).size).toBe(3);
  for (const [i, each] of [second, third, fourth].entries()) expect(each.every((byte) => byte === i + 2)).toBe(true);
  expect([second, third, fourth].map((each) => each.length)).toEqual([10_000, 20_000, 65_536]);
});

test("memory that was released twice is given to one reader", () => {
  const blocks = new Blocks();
  const first = read(blocks, 65_536, 1);
  blocks.release(first);
  blocks.release(first);
  expect(read(blocks, 65_536, 2).buffer).not.toBe(read(blocks, 65_536, 3).buffer);
});

test("few bytes, and what is of others, are not kept, nor are more than 256 blocks", () => {
  const blocks = new Blocks();
  const small = read(blocks, 8_192, 1);
  for (const each of [small, Buffer.alloc(65_536)]) blocks.release(each);
  const all = Array.from({ length: 300 }, () => read(blocks, 65_536, 2));
  expect(all.some(({ buffer }) => buffer === small.buffer)).toBe(false);
  for (const each of all) blocks.release(each);
  const again = new Set(Array.from({ length: 300 }, () => read(blocks, 65_536, 3).buffer));
  expect(again.size).toBe(300);
  expect(all.filter(({ buffer }) => again.has(buffer))).toHaveLength(256);
});
