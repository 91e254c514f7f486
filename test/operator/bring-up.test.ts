/** An OpenStackDeployment on a simulated cluster: from nothing to Ready, in the order of its dependencies. */
import { afterEach, describe, expect, test } from "vitest";
import { OperatorWorld } from "./world.ts";

let world: OperatorWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});
const start = async (computes?: number) => (world = await OperatorWorld.start(computes));

describe("an OpenStackDeployment on a simulated cluster", () => {
  test("goes from nothing to Ready, each component after all that it needs", async () => {
    const w = await start();
    w.runOperator();
    await w.createDeployment();
    const { status } = await w.whenReady();
    expect(status?.release).toBe("2025.1");
    const before = (first: string, second: string) =>
      expect(w.started.indexOf(first), `${first} before ${second}`).toBeLessThan(w.started.indexOf(second));
    before("mariadb", "keystone-db-init");
    before("keystone-db-init", "keystone-db-sync");
    before("keystone-db-sync", "keystone-api");
    before("keystone-api", "keystone-bootstrap");
    before("keystone-bootstrap", "nova-register");
    before("nova-cell-sync", "nova-conductor");
    before("placement-api", "nova-scheduler");
    before("openvswitch", "ovn-controller");
    before("libvirt", "nova-compute");
    before("nova-compute", "nova-discover-hosts");
    await w.settle();
    const count = w.writes.length;
    await w.pass(60_000);
    await w.settle();
    expect(w.writes.slice(count)).toEqual([]);
  });
});
