import { describe, expect, test } from "vitest";
import { RequestHolder, ThreadTime, type Holder } from "./thread-time.ts";

/** Thread time on a clock that the test moves. */
function measured(): { thread: ThreadTime; pass: (milliseconds: number) => void } {
  let now = 0;
  return { thread: new ThreadTime(() => now), pass: (milliseconds) => void (now += milliseconds) };
}

const holder = (cluster: string): Holder => ({ cluster, request: "GET /" });

describe("the account of thread time", () => {
  test("charges the cluster whose work ran", () => {
    const { thread, pass } = measured();
    expect(thread.run(holder("a"), () => (pass(5), "result"))).toBe("result");
    pass(100);
    thread.run(holder("b"), () => pass(2));
    thread.run(holder("a"), () => pass(1));
    expect([thread.usedBy("a"), thread.usedBy("b"), thread.usedBy("c")]).toEqual([6, 2, 0]);
  });

  test("charges nested work to the outer holder", () => {
    const { thread, pass } = measured();
    thread.run(holder("a"), () => {
      pass(1);
      thread.run(holder("b"), () => pass(10));
    });
    expect([thread.usedBy("a"), thread.usedBy("b")]).toEqual([11, 0]);
  });

  test("reports each change of the holder, also after work that throws", () => {
    const { thread, pass } = measured();
    const seen: (string | undefined)[] = [];
    thread.onChange = (now) => void seen.push(now?.cluster);
    const fails = (): void => {
      pass(3);
      thread.run(holder("b"), () => {
        throw new Error("no");
      });
    };
    expect(() => thread.run(holder("a"), fails)).toThrow("no");
    expect(seen).toEqual(["a", undefined]);
    expect(thread.usedBy("a")).toBe(3);
    expect(thread.holder).toBeUndefined();
  });

  test("names a request with its user, shortened and on one line", () => {
    const made = new RequestHolder("t", "GET", `/api/v1/${"x".repeat(1000)}`);
    expect(made.request).toMatch(/^GET \/api\/v1\/x+\.\.\.$/);
    made.user = `evil\nname${"y".repeat(1000)}`;
    expect(made.request).toContain(" user evil?name");
    expect(made.request.length).toBeLessThan(520);
  });
});
