import { describe, expect, test } from "vitest";
import { Turns } from "./turns.ts";

/** Turns whose ends come when the test says. */
function manual(enough = 0) {
  const due: (() => void)[] = [];
  let time = 0;
  const turns = new Turns(
    (work) => due.push(work),
    () => time,
    enough,
  );
  return {
    turns,
    end: async (): Promise<void> => {
      for (const work of due.splice(0)) work();
      await Promise.resolve();
      await Promise.resolve();
    },
    advance: (milliseconds: number): void => {
      time += milliseconds;
    },
    get armed(): number {
      return due.length;
    },
  };
}

describe("turns of the thread", () => {
  test("cost the first wide request nothing, and the second a turn", async () => {
    const { turns, end } = manual();
    expect(turns.take("a", 5000)).toBeUndefined();
    const order: string[] = [];
    void turns.take("a", 5000)?.then(() => order.push("second"));
    expect(order).toEqual([]);
    await end();
    expect(order).toEqual(["second"]);
    await end();
    expect(turns.take("a", 5000)).toBeUndefined();
  });

  test("go to the cluster that has had least", async () => {
    const { turns, end } = manual();
    const order: string[] = [];
    void turns.take("noisy", 5000);
    for (let i = 0; i < 200; i += 1) void turns.take("noisy", 5000)?.then(() => order.push("noisy"));
    for (let i = 0; i < 3; i += 1) await end();
    for (let i = 0; i < 3; i += 1) void turns.take("quiet", 5000)?.then(() => order.push("quiet"));
    for (let i = 0; i < 6; i += 1) await end();
    expect(order).toEqual(["noisy", "noisy", "noisy", "quiet", "noisy", "quiet", "noisy", "quiet", "noisy"]);
  });

  test("let narrow requests pass, up to a share of each turn", async () => {
    const { turns, end } = manual();
    void turns.take("noisy", 5000);
    void turns.take("noisy", 5000);
    expect(turns.take("noisy", 1)).toBeUndefined();
    let waiting = 0;
    for (let i = 0; i < 1000; i += 1) if (turns.take("noisy", 1)) waiting += 1;
    expect(waiting).toBe(1000 - 255);
    expect(turns.take("quiet", 1)).toBeUndefined();
    await end();
    expect(turns.take("quiet", 1)).toBeUndefined();
  });

  test("keep nothing scheduled while nothing runs", async () => {
    const manually = manual();
    void manually.turns.take("a", 1);
    await manually.end();
    await manually.end();
    expect(manually.armed).toBe(0);
  });

  test("let new connections in between two wide requests, for as long as the first took", async () => {
    const { turns, end, advance } = manual(3);
    const order: string[] = [];
    void turns.take("a", 5000);
    advance(80);
    void turns.take("a", 5000)?.then(() => order.push("second"));
    for (let i = 0; i < 50; i += 1) {
      turns.noticed();
      await end();
      advance(1);
    }
    expect(order).toEqual([]);
    for (let i = 0; i < 4; i += 1) await end();
    expect(order).toEqual(["second"]);
  });

  test("do not put a wide request off for longer than the last one took", async () => {
    const { turns, end, advance } = manual(3);
    const begun: number[] = [];
    void turns.take("a", 5000);
    advance(80);
    void turns.take("a", 5000)?.then(() => begun.push(time));
    let time = 80;
    for (let i = 0; i < 30 && begun.length === 0; i += 1) {
      turns.noticed();
      await end();
      advance(10);
      time += 10;
    }
    expect(begun).toEqual([160]);
  });

  test("let a cluster whose requests take long begin few in a turn, while another wants the thread", async () => {
    const { turns, end, advance } = manual();
    let used = 0;
    turns.measuredBy({ usedBy: (cluster) => (cluster === "noisy" ? used : 0) });
    let begun = 0;
    const ask = (): void => {
      const wait = turns.take("noisy", 1);
      if (wait) void wait.then(() => (begun += 1));
      else begun += 1;
    };
    for (let i = 0; i < 100; i += 1) {
      ask();
      used += 90;
      await end();
      advance(90);
    }
    begun = 0;
    for (let i = 0; i < 20; i += 1) ask();
    expect(begun).toBe(20);
    await end();
    begun = 0;
    void turns.take("", 1);
    for (let i = 0; i < 20; i += 1) ask();
    expect(begun).toBe(1);
    await end();
    expect(begun).toBe(2);
    expect(turns.take("", 1)).toBeUndefined();
  });

  test("refuse what would make the queue of a cluster too long", () => {
    const { turns } = manual();
    const refused = (): boolean => {
      try {
        void turns.take("noisy", 1);
        return false;
      } catch {
        return true;
      }
    };
    expect(Array.from({ length: 2256 }, refused)).not.toContain(true);
    expect(refused()).toBe(true);
  });

  test("go to the user of a cluster that has had least", async () => {
    const { turns, end } = manual();
    const order: string[] = [];
    const ask = (user: string): unknown => turns.take("a", 5000, user)?.then(() => order.push(user));
    for (let i = 0; i < 200; i += 1) ask("noisy");
    for (let i = 0; i < 3; i += 1) await end();
    for (let i = 0; i < 3; i += 1) ask("quiet");
    for (let i = 0; i < 6; i += 1) await end();
    expect(order).toEqual(["noisy", "noisy", "noisy", "quiet", "noisy", "quiet", "noisy", "quiet", "noisy"]);
  });

  test("give the management cluster four times what a tenant gets", async () => {
    const { turns, end } = manual();
    const order: string[] = [];
    for (const cluster of ["tenant", ""]) {
      for (let i = 0; i < 50; i += 1) void turns.take(cluster, 5000)?.then(() => order.push(cluster));
    }
    for (let i = 0; i < 40; i += 1) await end();
    const own = order.filter((cluster) => cluster === "").length;
    expect(order.length).toBe(40);
    expect(own).toBeGreaterThanOrEqual(31);
    expect(own).toBeLessThanOrEqual(33);
  });

  test("let a user whose requests take long begin few in a turn, while another of the same cluster wants the thread", async () => {
    const { turns, end, advance } = manual();
    let used = 0;
    turns.measuredBy({ usedBy: () => used });
    const begun: string[] = [];
    const ask = (user: string): void => {
      const wait = turns.take("a", 1, user);
      if (wait) void wait.then(() => begun.push(user));
      else begun.push(user);
    };
    for (let i = 0; i < 100; i += 1) {
      ask("noisy");
      used += 90;
      await end();
      advance(90);
    }
    ask("quiet");
    await end();
    begun.length = 0;
    for (let i = 0; i < 20; i += 1) ask("noisy");
    ask("quiet");
    for (let i = 0; i < 3; i += 1) await end();
    // Not behind the twenty that came before.
    expect(begun.slice(0, 4)).toContain("quiet");
    expect(begun.length).toBeLessThan(6);
  });

  test("refuse only the users who fill the queue of a cluster", () => {
    const { turns } = manual();
    const isRefused = (user: string): boolean => {
      try {
        void turns.take("a", 1, user);
        return false;
      } catch {
        return true;
      }
    };
    for (let i = 0; i < 2256; i += 1) isRefused("noisy");
    expect([isRefused("noisy"), isRefused("quiet"), isRefused("noisy")]).toEqual([true, false, true]);
  });

  test("leave no request waiting in a cluster that is deleted", async () => {
    const { turns } = manual();
    void turns.take("a", 5000);
    const waits = turns.take("a", 5000);
    turns.forget("a");
    await expect(waits).resolves.toBeUndefined();
  });
});
