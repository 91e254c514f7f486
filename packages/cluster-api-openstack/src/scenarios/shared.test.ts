import { VirtualClock } from "@causeway/foundation";
import { createSharedWork } from "@causeway/kubernetes";
import { describe, expect, it } from "vitest";
import { namespace, openInfrastructure } from "./world.ts";

const world = openInfrastructure();
const TENANTS = ["red", "green", "blue", "white", "black", "grey"];

/** The time of the Leases: it moves while no request about them is under way, however slow the machine is. */
const clock = new VirtualClock(Date.now());
let underWay = 0;

async function time(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (underWay === 0) await clock.advance(500);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A process that works on a share of the namespaces. */
function join(identity: string) {
  const stop = new AbortController();
  let dead = false;
  // A process that is killed sends nothing more, and releases nothing.
  const client = new Proxy(world.client, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...call: unknown[]): Promise<unknown> => {
        if (dead) return new Promise(() => {});
        underWay++;
        try {
          return await (Reflect.apply(member, target, call) as Promise<unknown>);
        } finally {
          underWay--;
        }
      };
    },
  });
  const shards = createSharedWork({ client, namespace, name: "capo", identity, count: 16, clock });
  const sharing = shards.run(stop.signal);
  const process = world.start(undefined, shards);
  return {
    owned: () => TENANTS.filter((tenant) => shards.owns(tenant)),
    async kill() {
      dead = true;
      await process.kill();
    },
    async end() {
      await process.kill();
      stop.abort();
      await sharing;
    },
  };
}

describe("the infrastructure provider in several processes that share the work", { timeout: 300_000 }, () => {
  it("creates one of each while processes join and one is killed, and leaves nothing after deletion", async () => {
    const before = world.inventory();
    const whole = world.start();
    const from = world.writes();
    await world.inNamespace("alone", () => createTenant("alone"));
    await world.inNamespace("alone", () => ready("alone"));
    const writesOfOne = world.writes() - from;
    const made = inventoryOf("alone");
    await world.inNamespace("alone", () => world.remove("alone", ["alone-a"]));
    await whole.kill();

    const test = new AbortController();
    const passing = time(test.signal);
    const shared = world.writes();
    const first = join("first");
    for (const tenant of TENANTS) await world.inNamespace(tenant, () => createTenant(tenant));
    await world.until("the first process at work", async () => world.writes() > shared + 4);
    const second = join("second");
    await world.until("both to work", async () => first.owned().length > 0 && second.owned().length > 0);
    await first.kill();
    const third = join("third");
    for (const tenant of TENANTS) await world.inNamespace(tenant, () => ready(tenant));
    await world.until("the live processes to have all", async () => {
      const owned = [...second.owned(), ...third.owned()];
      return owned.length === TENANTS.length && TENANTS.every((tenant) => owned.includes(tenant));
    });
    for (const tenant of TENANTS) expect(inventoryOf(tenant)).toEqual(made.map((line) => renamed(line, tenant)));
    await world.rested();
    // The call that the killed process had under way may be repeated for each of its tenants, in vain.
    expect(world.writes() - shared).toBeLessThanOrEqual((writesOfOne + 1) * TENANTS.length);

    for (const tenant of TENANTS) await world.inNamespace(tenant, () => world.remove(tenant, [`${tenant}-a`]));
    await Promise.all([second.end(), third.end()]);
    test.abort();
    await passing;
    expect(world.inventory()).toEqual(before);
  });
});

async function createTenant(name: string): Promise<void> {
  await world.createCluster(name);
  await world.createMachine(name, `${name}-a`);
}

async function ready(name: string): Promise<void> {
  await world.clusterReady(name);
  await world.machineReady(`${name}-a`);
}

/** What the project has that has the name of a tenant's cluster. */
function inventoryOf(name: string): string[] {
  return world.inventory().filter((line) => line.includes(name));
}

const renamed = (line: string, tenant: string) => line.replaceAll("alone", tenant);
