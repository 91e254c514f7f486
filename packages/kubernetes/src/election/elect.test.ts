import { silentLog, VirtualClock, type Log } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { OneObject, type Before } from "../testing/one-object.ts";
import type { Lease } from "../types/access.ts";
import { electLeader } from "./elect.ts";

const settled = async () => {
  for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};

function scene() {
  const clock = new VirtualClock();
  const lease = new OneObject<Lease>();
  const log: string[] = [];
  const leading = new Set<string>();
  let mostLeaders = 0;
  const pass = async (seconds: number) => {
    for (let i = 0; i < seconds * 2; i++) {
      await clock.advance(500);
      await settled();
    }
  };
  const stand = (identity: string, before?: Before, lingering = 0) => {
    const stop = new AbortController();
    const onLeading = async (signal: AbortSignal) => {
      log.push(`${identity} leads`);
      leading.add(identity);
      mostLeaders = Math.max(mostLeaders, leading.size);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      if (lingering > 0) await clock.sleep(lingering);
      leading.delete(identity);
      log.push(`${identity} has stopped`);
    };
    const client = lease.client(before);
    const running = electLeader({ client, namespace: "n", name: "l", identity, clock, onLeading }, stop.signal);
    return { stop: () => stop.abort(), running };
  };
  return { clock, lease, log, stand, pass, mostLeaders: () => mostLeaders };
}

describe("an election", () => {
  test("has one leader, and another at once when that one stops", async () => {
    const { stand, pass, log, lease, mostLeaders } = scene();
    const a = stand("a");
    await settled();
    const b = stand("b");
    await pass(60);
    expect(log).toEqual(["a leads"]);
    expect(lease.object?.spec).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0 });
    a.stop();
    await settled();
    await a.running;
    expect(lease.object?.spec?.holderIdentity).toBeUndefined();
    await pass(3);
    expect(log).toEqual(["a leads", "a has stopped", "b leads"]);
    expect(lease.object?.spec?.leaseTransitions).toBe(1);
    b.stop();
    await settled();
    await b.running;
    expect(mostLeaders()).toBe(1);
  });

  test("gives a leader that cannot renew up before another takes over", async () => {
    const { stand, pass, log, mostLeaders } = scene();
    let cut = false;
    const a = stand("a", () => {
      if (cut) throw new Error("no route to host");
    });
    await settled();
    const b = stand("b");
    await pass(5);
    cut = true;
    await pass(30);
    expect(log).toEqual(["a leads", "a has stopped", "b leads"]);
    cut = false;
    await pass(5);
    expect(log).toHaveLength(3);
    expect(mostLeaders()).toBe(1);
    for (const each of [a, b]) each.stop();
    await settled();
    await Promise.all([a.running, b.running]);
  });

  test("gives up a leader whose renewal never gets a response", async () => {
    const { stand, pass, log } = scene();
    let hang = false;
    const a = stand("a", () => (hang ? new Promise<void>(() => {}) : undefined));
    await pass(1);
    hang = true;
    await pass(12);
    expect(log).toEqual(["a leads", "a has stopped"]);
    a.stop();
    await settled();
    await a.running;
  });

  test("keeps renewing while the work winds up, so that two never work at once", async () => {
    const { stand, pass, log, mostLeaders } = scene();
    const a = stand("a", undefined, 40_000);
    await settled();
    const b = stand("b");
    await pass(2);
    a.stop();
    await pass(38);
    expect(log).toEqual(["a leads"]);
    await pass(6);
    expect(log).toEqual(["a leads", "a has stopped", "b leads"]);
    expect(mostLeaders()).toBe(1);
    b.stop();
    await settled();
    await Promise.all([a.running, b.running]);
  });

  test("warns once of a claim that fails for one reason, and again after one that succeeded", async () => {
    const { clock, lease, pass } = scene();
    const warnings: unknown[] = [];
    const log: Log = { ...silentLog, warn: (_, fields) => void warnings.push(fields?.["reason"]), with: () => log };
    let failure: string | undefined = "connect ECONNREFUSED";
    const client = lease.client(() => {
      if (failure !== undefined) throw new Error(failure);
    });
    const stop = new AbortController();
    const onLeading = (signal: AbortSignal) =>
      new Promise<void>((done) => signal.addEventListener("abort", () => done()));
    const running = electLeader(
      { client, namespace: "n", name: "l", identity: "a", clock, log, onLeading },
      stop.signal,
    );
    await pass(10);
    expect(warnings).toEqual(["connect ECONNREFUSED"]);
    failure = undefined;
    await pass(5);
    failure = "connect ECONNREFUSED";
    await pass(5);
    expect(warnings).toEqual(["connect ECONNREFUSED", "connect ECONNREFUSED"]);
    failure = undefined;
    stop.abort();
    await settled();
    await running;
  });

  test("ends when the work ends by itself, and with its error if it fails", async () => {
    const { clock, lease } = scene();
    const options = { client: lease.client(), namespace: "n", name: "l", identity: "a", clock };
    const never = new AbortController().signal;
    await electLeader({ ...options, onLeading: () => Promise.resolve() }, never);
    const error = new Error("broken");
    await expect(electLeader({ ...options, onLeading: () => Promise.reject(error) }, never)).rejects.toBe(error);
    expect(lease.object?.spec?.holderIdentity).toBeUndefined();
  });
});
