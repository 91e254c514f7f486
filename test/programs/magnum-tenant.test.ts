/** A tenant's load balancer and volume through a whole migration from Magnum's Heat driver, on real programs. */
import { Machine } from "@causeway/api";
import { PersistentVolume } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { programsFolder, startCase, type Case } from "./magnum-migration/case.ts";
import { startDriverCloud, type DriverCloud } from "./magnum-migration/driver-cloud.ts";
import { UUID } from "./magnum-migration/names.ts";
import { createTenant, known, type InCloud, type Tenant } from "./magnum-migration/tenant.ts";

const dir = programsFolder();
/** What the tenant wrote on its volume. */
const CONTENT = "orders of before the migration";

describe.skipIf(dir === undefined)("a Service and a claim of before a migration", () => {
  let stage: Case;
  let tenant: Tenant;
  let driver: DriverCloud;
  let before: InCloud;
  beforeAll(async () => {
    stage = await startCase(dir ?? "", { withVolumes: true });
    await stage.deny([UUID]);
    await stage.discover();
    driver = startDriverCloud(stage.source, stage.cloud);
    tenant = await createTenant(stage);
    const serverId = await known(tenant.server);
    expect(stage.simulator.write(tenant.volume, { content: CONTENT, serverId })).toBe(true);
    before = await tenant.inCloud();
  });
  afterAll(async () => {
    tenant?.close();
    await driver?.stop();
    await stage?.stop();
  });

  test("keep their load balancer, floating IP and volume by id through to retire", { timeout: 400_000 }, async () => {
    expect(before.balancers.map((line) => line.split(" ")[1])).toEqual([`kube_service_${UUID}_default_shop`]);
    expect(before.volumes).toHaveLength(1);
    expect(before.floatingIPs.map((line) => line.split(" ")[1])).toEqual([tenant.address]);
    const traffic = tenant.traffic();
    const workers = new Set(stage.heat.workers.map(({ id }) => id));
    for (const phase of ["freeze", "import", "switch", "adopt", "roll", "retire"] as const) {
      // From adopt on the cluster's own are those that Causeway runs.
      if (phase === "adopt") await driver.stop();
      await stage.run(phase);
      expect(await tenant.inCloud(), `after ${phase}`).toEqual(before);
      if (phase === "roll" || phase === "retire") continue;
      expect(workers, `after ${phase}`).toContain(await tenant.server());
    }
    const { written, outage } = await traffic.stop();
    console.log(`tenant: ${written} requests by the load balancer, outage ${outage} ms`);
    expect(written).toBeGreaterThan(20);
    expect(outage).toBeLessThan(30_000);
  });

  test("are served by new nodes: the volume is attached to the server of the pod", async () => {
    const { items } = await stage.management.list(Machine, {});
    const servers = items.map(({ spec }) => spec.providerID?.split("/").at(-1));
    const serverId = await known(tenant.server);
    expect(servers).toContain(serverId);
    expect(stage.simulator.content(tenant.volume)).toBe(CONTENT);
    const old = { content: "of a server that is gone", serverId: stage.heat.workers[0]?.id ?? "" };
    expect(stage.simulator.write(tenant.volume, old)).toBe(false);
    expect(stage.simulator.write(tenant.volume, { content: `${CONTENT}, and after`, serverId })).toBe(true);
    const volumes = (await stage.source.list(PersistentVolume, {})).items;
    expect(volumes.map(({ spec }) => spec.csi?.volumeHandle)).toEqual([tenant.volume]);
    const [balancer] = (await stage.cloud.loadBalancing.loadBalancers.all({})).filter(({ name }) =>
      name.startsWith("kube_service_"),
    );
    const pools = await stage.cloud.loadBalancing.pools.all({ loadbalancer_id: balancer?.id ?? "" });
    const members = async () => {
      const all = await Promise.all(pools.map(({ id }) => stage.cloud.loadBalancing.members(id).all({})));
      return all
        .flat()
        .map(({ address }) => address)
        .toSorted();
    };
    const addresses = items
      .flatMap(({ status }) => status?.addresses ?? [])
      .filter(({ type }) => type === "InternalIP")
      .map(({ address }) => address)
      .toSorted();
    await expect.poll(members).toEqual(addresses);
  });

  test("leave nothing in the cloud when they are deleted after the migration", { timeout: 120_000 }, async () => {
    const groups = async () => (await stage.cloud.network.securityGroups.all({})).map(({ name }) => name);
    await tenant.leave();
    expect(await tenant.inCloud()).toEqual({ balancers: [], floatingIPs: [], volumes: [] });
    expect((await groups()).filter((name) => name.includes("default_shop") || name.startsWith("lb-sg"))).toEqual([]);
    expect((await stage.source.list(PersistentVolume, {})).items).toEqual([]);
  });
});
