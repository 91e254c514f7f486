/** Rates of requests: one project's never count for another, whatever it sends. */
import { VirtualClock } from "@causeway/foundation";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ProjectRates } from "./access/rate.ts";
import { openStage, type Stage } from "./testing/stage.ts";

vi.setConfig({ hookTimeout: 120_000, testTimeout: 60_000 });

describe("the rate of a project", () => {
  it("is a burst at once, then so many a second, and the wait that is named is enough", async () => {
    const clock = new VirtualClock();
    const rates = new ProjectRates({ perSecond: 2, burst: 3 }, clock);
    const many = (count: number, project = "p") => Array.from({ length: count }, () => rates.take(project));
    expect(many(5)).toEqual([undefined, undefined, undefined, 1, 1]);
    await clock.advance(1_000);
    expect(many(3)).toEqual([undefined, undefined, 1]);
    await clock.advance(3_600_000);
    expect(many(4)).toEqual([undefined, undefined, undefined, 1]);
    expect(many(3, "another")).toEqual([undefined, undefined, undefined]);
  });

  it("is not forgotten while others come and go", () => {
    const rates = new ProjectRates({ perSecond: 1, burst: 1 }, new VirtualClock());
    expect(rates.take("p")).toBeUndefined();
    for (let at = 0; at < 9_000; at += 1) rates.take(`other-${at}`);
    expect(rates.take("p")).toBe(1);
    for (let at = 0; at < 9_000; at += 1) rates.take(`another-${at}`);
    expect(rates.take("p")).toBe(1);
  });
});

describe("the API", () => {
  let stage: Stage;
  // One request in a quarter of an hour: none comes back while the test runs.
  const burst = 20;
  beforeAll(async () => {
    stage = await openStage({ rate: { perSecond: 1 / 900, burst }, isFollower: true });
  });
  afterAll(() => stage.close());

  it("responds 429 with Retry-After to a project that sends too many, and serves all others as before", async () => {
    const get = (who: string) => stage.call(who, "GET", "/v1/clusters");
    const flood = Array.from({ length: 200 }, () => get("demo"));
    const others = Array.from({ length: burst }, () => get("alt"));
    const replies = await Promise.all(flood);
    const refused = replies.filter(({ status }) => status === 429);
    expect([replies.filter(({ status }) => status === 200).length, refused.length]).toEqual([burst, 200 - burst]);
    for (const { headers, body } of refused) {
      expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
      expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(900);
      expect(JSON.stringify(body)).toMatch(/The project sends too many requests|requests under way/);
    }
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual(Array<number>(burst).fill(200));
    // A member of the same project counts with it, by whichever user and token.
    expect((await get("reader")).status).toBe(429);
    // What needs no token is not counted.
    expect((await stage.call("", "GET", "/")).status).toBe(200);
  });
});
