/**
 * A cluster of a real Magnum, migrated: Debian's Magnum and Heat make its stacks, networks, servers, load balancers and
 * certificates; its masters run etcd and the control plane's programs in their servers' namespaces, its workers real
 * kubelets and containers. `npm run test:openstack -- magnum-migration` builds what is needed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startWriter } from "../programs/magnum-migration/writer.ts";
import { denyChanges } from "./magnum-migration/policy.ts";
import { startRig, type Rig } from "./magnum-migration/rig.ts";
import { startTickers, type Tickers } from "./magnum-migration/tickers.ts";

const given = process.env["CAUSEWAY_MIGRATION_RIG"];
const LIMIT = 30 * 60_000;
const OUTAGE = 30_000;

describe.skipIf(given === undefined)("a cluster of a real Magnum", { timeout: LIMIT }, () => {
  let rig: Rig;
  let tickers: Tickers;
  let allow: (() => void) | undefined;

  beforeAll(async () => {
    rig = await startRig(JSON.parse(given ?? "") as Parameters<typeof startRig>[0]);
    tickers = await startTickers(rig.old.client, rig.source);
  }, LIMIT);

  afterAll(async () => {
    allow?.();
    await rig?.close();
  }, LIMIT);

  /** What may not change before roll: servers and ports by id, pods by uid, their containers by their start. */
  async function vitals(): Promise<unknown> {
    const { cloud } = rig;
    const servers = await cloud.compute.servers.all();
    const ids = new Set(servers.map(({ id }) => id));
    const ports = (await cloud.network.ports.all({})).filter(({ device_id }) => ids.has(device_id));
    return {
      servers: servers.map(({ id, name }) => `${name} ${id}`).toSorted(),
      ports: ports.map(({ id, name, device_id }) => `${name} ${id} ${device_id}`).toSorted(),
      pods: await tickers.pods(),
    };
  }

  /** Writes lost and the longest time between two, printed, while something is done. */
  async function whileWriting(name: string, work: () => Promise<void>): Promise<void> {
    const writer = startWriter(rig.old.client, name);
    await work();
    await sleep(1_000);
    const { written, lost, outage } = await writer.stop();
    console.log(`${name}: ${written} writes, ${lost} lost, outage ${outage} ms`);
    expect(written).toBeGreaterThan(5);
    expect(lost).toBe(0);
    expect(outage).toBeLessThan(OUTAGE);
  }

  async function phase(name: string, ...more: readonly string[]): Promise<string> {
    const begun = Date.now();
    const text = await rig.migrate(name, ...more);
    console.log(`${name}: ${((Date.now() - begun) / 1000).toFixed(1)} s\n${text}`);
    expect(text).toContain("proof: ");
    return text;
  }

  test("is discovered whole, and can be migrated", async () => {
    const text = await rig.migrate("discover");
    expect(text).toContain("It can be migrated.");
    for (const { name, address, id } of [...rig.old.masters, ...rig.old.workers])
      expect(text).toContain(`${name} ${address} (${id})`);
  });

  test("is not frozen while Magnum accepts changes of it, and then is", async () => {
    await expect(rig.migrate("freeze")).rejects.toThrow("MIGRATE_NOT_DENIED");
    allow = denyChanges(rig.old.uuid);
    const text = await phase("freeze");
    expect(text).toContain("heat-container-agent is stopped on 5 machines");
    for (const machine of [...rig.old.masters, ...rig.old.workers])
      expect(await machine.run("systemctl is-active heat-container-agent || true")).toBe("inactive\n");
  });

  test("is switched and adopted without a lost write or a restarted container", async () => {
    const before = await vitals();
    await whileWriting("import-switch-adopt", async () => {
      for (const name of ["import", "switch", "adopt"]) await phase(name);
    });
    expect(await vitals()).toEqual(before);
    expect(tickers.grown()).toBe(true);
    for (const master of rig.old.masters)
      expect(await master.run("systemctl is-active kube-apiserver etcd || true")).toBe("inactive\nactive\n");
  });

  test("is rolled back to its masters, with everything that was written", async () => {
    const before = await vitals();
    await whileWriting("rollback", async () => void (await phase("rollback")));
    expect(await vitals()).toEqual(before);
    expect(tickers.grown()).toBe(true);
    for (const master of rig.old.masters)
      expect(await master.run("systemctl is-active kube-apiserver etcd")).toBe("active\nactive\n");
  });
});
