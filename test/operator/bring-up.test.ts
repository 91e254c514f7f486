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
  test("goes from nothing to Ready in its order, names the root cause on the way, and writes nothing more", async () => {
    const w = await start();
    w.fateOf = (component) => (component === "placement-db-sync" ? "hangs" : "runs");
    const kill = w.runOperator();
    await w.createDeployment();
    const waiting = await w.until("nova-compute waits", async () => {
      const found = await w.component("nova-compute");
      return found?.state === "Waiting" && (await w.component("placement-db-sync"))?.step === "runs" && found;
    });
    expect(waiting.waitingFor).toContain("placement-api");
    await w.until("the root cause is known", async () => {
      const found = await w.component("nova-scheduler");
      return found?.rootCause?.startsWith("placement-db-sync: ");
    });
    // The Job's pod is lost, and so is the operator: another one of each takes over.
    await kill();
    w.fateOf = () => "runs";
    for (const pod of (await w.pods()).filter(({ metadata }) => metadata.name.startsWith("cloud-placement-db-sync")))
      await w.deletePod(pod.metadata.name);
    w.runOperator();
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
