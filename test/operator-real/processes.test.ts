/**
 * A whole cloud of real processes: a first migration that is cut off, a compute process that is replaced while a server
 * moves, and workers that hang.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import { podsOf, restarts } from "./cloud.ts";
import { cutOffMigration, sql, tablesOfCells } from "./cut-off.ts";
import { record } from "./figures.ts";
import { freezeOnce } from "./outage.ts";
import { PATIENCE, type Rig } from "./rig.ts";
import { bootServer, computesUp, liveMigrate, serverNow } from "./servers.ts";
import { COMPUTE, CONTROL, seconds, startWholeCloud, whenReady } from "./whole-cloud.ts";

/** Moves a server in five seconds, in steps. */
const SLOW = { section: "DEFAULT", option: "compute_driver", value: "fake.FakeLiveMigrateDriver" };
/** From silence to a new process: six questions of the kubelet, half a minute apart, and what it leaves the old one. */
const RESTART_SECONDS = 300;

describe("a cloud of real processes with Nova and Neutron", () => {
  let rig: Rig;
  let cut: Awaited<ReturnType<typeof cutOffMigration>>;

  beforeAll(async () => {
    ({ rig } = await startWholeCloud({ nova: [SLOW] }, async (starting) => {
      cut = await cutOffMigration(starting);
      record("the first migration of Nova is cut off", { tables: cut.tables });
    }));
  });

  afterAll(async () => {
    await rig?.close();
  });

  test("a first migration that is cut off begins again, and ends with the whole schema", async () => {
    const [first = [], second = []] = await tablesOfCells(rig);
    expect(first.length).toBeGreaterThan(cut.tables);
    expect(second).toEqual(first);
    const steps = await sql(rig, "SELECT version_num FROM nova.alembic_version");
    expect(steps).toHaveLength(1);
    expect(await sql(rig, "SELECT version_num FROM nova_cell0.alembic_version")).toEqual(steps);
    // Another pod did it, without a second attempt.
    const restarted = Object.entries(restarts(rig)).filter(([name]) => name.includes("nova-cell-sync"));
    expect(restarted.map(([, count]) => count)).toEqual([0]);
    expect(restarted[0]?.[0]).not.toBe(cut.pod);
  });

  test("a compute process is replaced only after a server that moves has arrived", async () => {
    const server = await bootServer(rig, "moves", COMPUTE);
    expect(server.status).toBe("ACTIVE");
    const pod = computeOn(rig, COMPUTE);
    await liveMigrate(rig, server.id, CONTROL);
    let now = await serverNow(rig, server.id);
    await eventually(
      PATIENCE,
      async () => (now = await serverNow(rig, server.id)).status !== "ACTIVE" || now.host !== COMPUTE,
    );
    expect(now).toEqual({ status: "MIGRATING", host: COMPUTE });
    const began = Date.now();
    rig.kubectl("delete", "pod", pod, "--wait=true");
    record("nova-compute replaced while a server moves", { secondsToItsEnd: seconds(Date.now() - began) });
    // Its process ended after the migration: Nova has the server where it is, whole.
    expect(await serverNow(rig, server.id)).toEqual({ status: "ACTIVE", host: CONTROL });
    await whenReady(rig);
    await eventually(PATIENCE, async () => (await computesUp(rig)).includes(COMPUTE));
    expect(await serverNow(rig, server.id)).toEqual({ status: "ACTIVE", host: CONTROL });
  });

  test.each(["nova-conductor", "neutron-ovn-metadata-agent"])(
    "a %s that hangs is restarted, and nothing else",
    async (component) => {
      const before = restarts(rig);
      const [pod = ""] = podsOf(rig, component);
      const began = Date.now();
      await freezeOnce(rig, component, pod);
      await eventually(PATIENCE, () => (restarts(rig)[pod] ?? 0) > (before[pod] ?? 0));
      const took = seconds(Date.now() - began);
      record(`${component} that hangs`, { secondsToItsRestart: took });
      await whenReady(rig);
      expect(took).toBeLessThan(RESTART_SECONDS);
      const again = Object.entries(restarts(rig)).filter(([name, count]) => count > (before[name] ?? 0));
      expect(again).toEqual([[pod, (before[pod] ?? 0) + 1]]);
      expect((await bootServer(rig, `after-${component}`, CONTROL)).status).toBe("ACTIVE");
    },
  );
});

function computeOn(rig: Rig, node: string): string {
  const selector = ["-l", "openstack.causeway.dev/component=nova-compute", "--field-selector", `spec.nodeName=${node}`];
  return rig.get<{ items: { metadata: { name: string } }[] }>("pods", ...selector).items[0]?.metadata.name ?? "";
}
