/**
 * Attacks of one tenant's users on its own API, against a running demo with two tenants: neither the management API nor
 * the other tenant may notice. CAUSEWAY_HOSTILE_ONLY runs the attacks whose titles contain it, CAUSEWAY_SHARE=K/N every
 * N-th. CAUSEWAY_HOSTILE_SLACK multiplies the times, and the growth of memory, that pass: a machine that others use,
 * too, shows whether a user was stopped, and not by how much they were slowed.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { attacks } from "./attacks/index.ts";
import { latencyTable, percentile, type Latencies } from "./figures.ts";
import { openHostile, type Hostile } from "./stage.ts";

const SLACK = Number(process.env["CAUSEWAY_HOSTILE_SLACK"] ?? 1);
/** Milliseconds within which the management API answers, always. */
const LATEST = 500 * SLACK;
const P99 = 100 * SLACK;
/** How much slower the other tenant's p99 may become. */
const SLOWER = 1.5 * SLACK;
/** How much of the memory may remain after the attacks, against before. */
const GROWTH = 1 + 0.2 * SLACK;
/**
 * Milliseconds of quiet that the attacks are compared with: so long before them and so long after, since a machine that
 * others use changes.
 */
const QUIET = 10_000;

const only = process.env["CAUSEWAY_HOSTILE_ONLY"] ?? "";
const [turn = 1, of = 1] = (process.env["CAUSEWAY_SHARE"] ?? "1/1").split("/").map(Number);
const chosen = attacks.filter(({ title }, at) => title.includes(only) && at % of === turn - 1);

describe("a tenant that is attacked by its own users", () => {
  let hostile: Hostile;
  /** MiB of each process before the attacks and after them. */
  let before: readonly number[] = [];
  let after: readonly number[] = [];
  /** Latencies of the other tenant before the attacks, and after them. */
  const quiet: (readonly number[])[] = [];
  const seen = new Map<string, Latencies>();

  beforeAll(async () => {
    hostile = await openHostile();
    await pause(2_000);
    await measureQuiet();
    before = hostile.memory();
  });
  async function measureQuiet(): Promise<void> {
    await hostile.report();
    await pause(QUIET);
    quiet.push((await hostile.report()).get("tenant")?.latencies ?? []);
  }
  afterAll(async () => {
    console.log(latencyTable(seen, quiet));
    console.log(`memory: ${inWords(before)} before the attacks, ${inWords(after)} after them`);
    await hostile?.close();
  });

  test.for(chosen)("management and the other tenant answer while $title", async ({ title }) => {
    await hostile.recovered();
    await hostile.report();
    const { sent, outcome } = await hostile.attack(title);
    await pause(100);
    const report = await hostile.report();
    const [management, tenant] = [report.get("management"), report.get("tenant")];
    seen.set(title, { management: management?.latencies ?? [], tenant: tenant?.latencies ?? [], outcome });
    expect(sent, "requests and connections of the attack").toBeGreaterThan(0);
    expect(management?.errors).toEqual([]);
    expect(tenant?.errors).toEqual([]);
    expect(
      Math.max(0, ...(management?.latencies ?? [])),
      "the latest answer of the management API, ms",
    ).toBeLessThanOrEqual(LATEST);
    expect(hostile.system.child.exitCode, "the system's exit code").toBeNull();
  });

  test(`the management API's p99 over all attacks is at most ${P99} ms`, () => {
    expect(
      percentile(
        [...seen.values()].flatMap((s) => s.management),
        0.99,
      ),
    ).toBeLessThanOrEqual(P99);
  });

  test(`memory returns to within ${Math.round(100 * (GROWTH - 1))} % of what it was, once the attackers have left`, async () => {
    hostile.leave();
    await expect
      .poll(() => sum((after = hostile.memory())), { timeout: 60_000, interval: 1_000 })
      .toBeLessThanOrEqual(GROWTH * sum(before));
  });

  test(`the other tenant's p99 over all attacks is at most ${SLOWER} times its quiet value`, async () => {
    await measureQuiet();
    const under = percentile(
      [...seen.values()].flatMap((s) => s.tenant),
      0.99,
    );
    expect(under).toBeLessThanOrEqual(SLOWER * percentile(quiet.flat(), 0.99));
  });
});

function sum(parts: readonly number[]): number {
  return parts.reduce((all, part) => all + part, 0);
}

/** Its sum, and its parts: the management process, then workers. */
function inWords(parts: readonly number[]): string {
  return `${sum(parts).toFixed(0)} MiB (${parts.map((part) => part.toFixed(0)).join(", ")})`;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
