import { VirtualClock } from "@causeway/foundation";
import { expect, it } from "vitest";
import { paced } from "./paced.ts";

/** Lists that take 100 ms each, by key. */
function lists() {
  const clock = new VirtualClock(0);
  const begun: string[] = [];
  const get = paced(clock, async (key) => {
    begun.push(`${key} ${clock.now()}`);
    await clock.sleep(100);
    return begun.length;
  });
  return { clock, begun, get };
}

it("paced work does one piece of work of a key at a time, rests four times as long, and then serves all callers of that time", async () => {
  const { clock, begun, get } = lists();
  const first = get("a");
  const others = Array.from({ length: 50 }, () => get("a"));
  await clock.advance(499);
  expect(begun).toEqual(["a 0"]);
  await clock.advance(101);
  expect([await first, ...new Set(await Promise.all(others))]).toEqual([1, 2]);
  expect(begun).toEqual(["a 0", "a 500"]);
});

it("paced work lets no key wait for another one, and none that asks seldom", async () => {
  const { clock, begun, get } = lists();
  void get("a");
  void get("b");
  await clock.advance(1_000);
  void get("a");
  expect(begun).toEqual(["a 0", "b 0", "a 1000"]);
});

it("paced work continues after work that failed", async () => {
  const clock = new VirtualClock(0);
  let fails = true;
  const get = paced(clock, () => (fails ? Promise.reject(new Error("away")) : Promise.resolve("well")));
  await expect(get("a")).rejects.toThrow("away");
  fails = false;
  const again = get("a");
  await clock.advance(1);
  expect(await again).toBe("well");
});
