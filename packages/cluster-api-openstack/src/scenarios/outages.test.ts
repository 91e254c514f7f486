/** Services that fail or refuse for a long time, on a clock that the tests move. */
import { OpenStackCluster } from "@causeway/api";
import { VirtualClock } from "@causeway/foundation";
import { Event } from "@causeway/kubernetes";
import { describe, expect, it } from "vitest";
import { condition, namespace, openInfrastructure } from "./world.ts";
import { demoSpec } from "../testing/objects.ts";

const world = openInfrastructure();
const minute = 60_000;
const balanced = { ...demoSpec, apiServer: { managedLoadBalancer: { enabled: true } } };
const get = (name: string) => world.client.get(OpenStackCluster, { namespace, name });

/** Moves the time by seconds, each of which lets what is under way end first. */
async function pass(clock: VirtualClock, milliseconds: number, each: () => Promise<void> = async () => {}) {
  for (let passed = 0; passed < milliseconds; passed += 1_000) {
    for (let before = -1; before !== world.simulator.calls.length;) {
      before = world.simulator.calls.length;
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    await clock.advance(1_000);
    await each();
  }
}

/** Lets time pass until the check holds. Returns how long that took. */
async function passUntil(clock: VirtualClock, check: () => Promise<boolean>, most = 10 * minute): Promise<number> {
  const begun = clock.now();
  while (!(await check())) {
    if (clock.now() - begun > most) throw new Error("waited in vain");
    await pass(clock, 1_000);
  }
  return clock.now() - begun;
}

const isReady = async (name: string) => condition(await get(name), "Ready")?.status === "True";

describe("clusters while a service of the cloud is out of order", { timeout: 180_000 }, () => {
  it("wait for half an hour while Octavia responds 503, and become ready by themselves afterwards", async () => {
    const before = world.inventory();
    const clock = new VirtualClock(Date.now());
    const process = world.start({}, undefined, undefined, clock);
    await world.createCluster("early", balanced);
    await passUntil(clock, () => isReady("early"));
    const octavia: string[] = [];
    world.simulator.setFaults(({ service, method }) => {
      if (service !== "load-balancer") return undefined;
      octavia.push(method);
      return { when: "before", status: 503, body: { faultstring: "no worker is there" } };
    });
    await world.createCluster("late", balanced);
    await world.createCluster("plain");
    await passUntil(clock, () => isReady("plain"));
    await pass(clock, 30 * minute);
    const late = await get("late");
    expect(condition(late, "APIEndpointReady")).toMatchObject({ status: "False", reason: "OpenStackError" });
    expect(condition(late, "Ready")?.message).toContain("503");
    expect(condition(late, "NetworkReady")?.status).toBe("True");
    expect([await isReady("early"), await isReady("plain")]).toEqual([true, true]);
    // Lists, at less than one in a second, and ever rarer attempts to create.
    expect(octavia.length).toBeLessThan((30 * minute) / 1_000);
    world.simulator.setFaults(undefined);
    expect(await passUntil(clock, () => isReady("late"))).toBeLessThanOrEqual(2 * minute);
    expect(world.inventory().filter((line) => line.startsWith("loadbalancer "))).toHaveLength(2);
    for (const name of ["early", "late", "plain"]) await world.client.delete(OpenStackCluster, { namespace, name });
    await passUntil(clock, async () => (await world.client.list(OpenStackCluster)).items.length === 0);
    await process.kill();
    expect(world.inventory()).toEqual(before);
  });

  it("are refused with 429 for two minutes: all leave Neutron alone as long as it says, and report no failure", async () => {
    const before = world.inventory();
    const clock = new VirtualClock(Date.now());
    const refusedAt: number[] = [];
    const end = clock.now() + 2 * minute;
    world.simulator.setFaults(({ service }) => {
      if (service !== "network" || clock.now() > end) return undefined;
      refusedAt.push(clock.now());
      return { when: "before", status: 429, headers: { "retry-after": "20" } };
    });
    const process = world.start({}, undefined, undefined, clock);
    const names = Array.from({ length: 8 }, (_, at) => `busy-${at}`);
    for (const name of names) await world.createCluster(name);
    const failures = new Set<string>();
    await pass(clock, 2 * minute, async () => {
      for (const { metadata, status } of (await world.client.list(OpenStackCluster)).items)
        for (const { type, status: is, reason } of status?.conditions ?? [])
          // The Secret may come after what names it.
          if (is === "False" && reason !== "InvalidIdentity") failures.add(`${metadata.name} ${type} ${reason}`);
    });
    expect([...failures]).toEqual([]);
    expect(condition(await get("busy-7"), "Ready")).toMatchObject({ status: "Unknown", reason: "RateLimited" });
    // After each refusal nothing for twenty seconds, but for what was under way with it.
    const bursts = [...new Set(refusedAt)];
    expect(bursts.length).toBeGreaterThan(3);
    for (const [at, moment] of bursts.entries()) expect(moment - (bursts[at - 1] ?? 0)).toBeGreaterThanOrEqual(20_000);
    expect(refusedAt.length).toBeLessThanOrEqual(bursts.length * 6);
    world.simulator.setFaults(undefined);
    for (const name of names) expect(await passUntil(clock, () => isReady(name))).toBeLessThanOrEqual(minute);
    const warnings = (await world.client.list(Event, { namespace })).items.filter(
      ({ type, reason, involvedObject }) =>
        type === "Warning" && reason !== "InvalidIdentity" && names.includes(involvedObject.name ?? ""),
    );
    expect(warnings.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([]);
    for (const name of names) await world.client.delete(OpenStackCluster, { namespace, name });
    await passUntil(clock, async () => (await world.client.list(OpenStackCluster)).items.length === 0);
    await process.kill();
    expect(world.inventory()).toEqual(before);
  });
});
