import { expect, test } from "vitest";
import type { ExtensionConfig } from "@causeway/api";
import { VirtualClock } from "@causeway/foundation";
import { ExtensionBusy, ExtensionGates, ExtensionPaused, firstPause, longestWait } from "./extension-gate.ts";

const config = (name: string, generation = 1) => ({ metadata: { name, uid: name, generation } }) as ExtensionConfig;
const signal = new AbortController().signal;

/** Calls that end when the test ends them. */
function played() {
  const clock = new VirtualClock();
  const gates = new ExtensionGates(clock);
  const sent: PromiseWithResolvers<string>[] = [];
  const pass = (of = config("slow")) =>
    gates
      .pass(
        of,
        () => {
          const one = Promise.withResolvers<string>();
          sent.push(one);
          return one.promise;
        },
        signal,
      )
      .catch((error: unknown) => error);
  return { clock, sent, pass };
}
const settled = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

test("an extension has two calls in flight, and others are not held back by it", async () => {
  const { clock, sent, pass } = played();
  const calls = Array.from({ length: 8 }, () => pass());
  await settled();
  expect(sent).toHaveLength(2);
  void pass(config("other"));
  await settled();
  expect(sent).toHaveLength(3);
  // One that ends soon lets the next one go.
  sent[0]?.resolve("a");
  expect(await calls[0]).toBe("a");
  await settled();
  expect(sent).toHaveLength(4);
  // The others do not wait for longer than a second, and later ones not at all.
  await clock.advance(longestWait);
  for (const call of calls.slice(3)) expect(await call).toBeInstanceOf(ExtensionBusy);
  expect(await pass()).toBeInstanceOf(ExtensionBusy);
  expect(sent).toHaveLength(4);
  sent[1]?.resolve("b");
  sent[3]?.resolve("c");
  expect([await calls[1], await calls[2]]).toEqual(["b", "c"]);
});

test("an extension that fails is called less and less often, until it responds or its config changes", async () => {
  const { clock, sent, pass } = played();
  const fail = async (of?: ExtensionConfig) => {
    const before = sent.length;
    const both = [pass(of), pass(of)];
    await settled();
    for (const one of sent.slice(before)) one.reject(new Error("no route"));
    const [first, second] = await Promise.all(both);
    expect(sent).toHaveLength(before + 2);
    // Those that fail together are one failure.
    expect(second).toMatchObject({ until: (first as ExtensionPaused).until });
    return (first as ExtensionPaused).until - clock.now();
  };
  const pauses: number[] = [];
  for (let times = 0; times < 7; times += 1) {
    const pause = await fail();
    pauses.push(pause);
    await clock.advance(pause - 1);
    expect(await pass()).toBeInstanceOf(ExtensionPaused);
    await clock.advance(1);
  }
  expect(pauses).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  await fail();
  expect(await pass()).toBeInstanceOf(ExtensionPaused);
  expect(await fail(config("slow", 2))).toBe(firstPause);
  await clock.advance(300_000);
  const good = pass();
  await settled();
  sent.at(-1)?.resolve("ok");
  expect(await good).toBe("ok");
  expect(await fail()).toBe(firstPause);
});
