import { IPAddress, IPAddressClaim, OpenStackFloatingIPPool, OpenStackMachine } from "@causeway/api";
import { describe, expect, it } from "vitest";
import { poolFinalizer } from "../floatingippool/naming.ts";
import { demoSpec } from "../testing/objects.ts";
import { condition, namespace, openInfrastructure } from "./world.ts";

const world = openInfrastructure();
const floatingIPPoolRef = {
  apiGroup: "infrastructure.cluster.x-k8s.io",
  kind: "OpenStackFloatingIPPool",
  name: "public",
};

async function createPool(spec: Partial<OpenStackFloatingIPPool["spec"]> = {}): Promise<void> {
  await world.client.create(OpenStackFloatingIPPool, {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
    kind: "OpenStackFloatingIPPool",
    metadata: { name: "public", namespace },
    spec: { identityRef: { name: "pooled-cloud", cloudName: "simulator" }, reclaimPolicy: "Delete", ...spec },
  });
}

const externalAddress = (machine: OpenStackMachine) =>
  machine.status?.addresses?.find(({ type }) => type === "ExternalIP")?.address;

describe("floating IPs of a pool", { timeout: 600_000 }, () => {
  it("reach the machine's addresses, are freed with it, and leave nothing, wherever the provider is killed", async () => {
    const before = world.inventory();
    const first = world.start();
    await world.createCluster("pooled", demoSpec);
    await world.clusterReady("pooled");
    const alone = world.inventory();
    await createPool({ maxIPs: 1 });
    await world.until("the pool's finalizer", async () => {
      const { metadata } = await world.client.get(OpenStackFloatingIPPool, { namespace, name: "public" });
      return metadata.finalizers?.includes(poolFinalizer);
    });
    await first.kill();
    for (let cut = 1, done = false; !done; cut++) {
      expect(cut).toBeLessThan(20);
      let seen = 0;
      let reached: () => void = () => {};
      const atCut = new Promise<boolean>((resolve) => (reached = () => resolve(true)));
      world.simulator.setFaults((call) => {
        if (call.method === "GET" || call.service === "identity" || ++seen !== cut) return undefined;
        reached();
        return { when: cut % 2 === 0 ? "before" : "after", cut: true };
      });
      const name = `pooled-${cut}`;
      const killed = world.start();
      await world.createMachine("pooled", name, { floatingIPPoolRef });
      const attached = world.until("an external address", async () => {
        const machine = await world.client.get(OpenStackMachine, { namespace, name });
        return externalAddress(machine) !== undefined && machine;
      });
      const removal = attached.then(() => world.removeMachine(name));
      done = !(await Promise.race([atCut, removal.then(() => false)]));
      await killed.kill();
      world.simulator.setFaults(undefined);
      const second = world.start();
      const machine = await attached;
      expect(condition(machine, "FloatingAddressFromPoolReady")?.status, `after call ${cut}`).toBe("True");
      await removal;
      await world.until("the address to be freed", async () => {
        const [claims, addresses] = await Promise.all([
          world.client.list(IPAddressClaim),
          world.client.list(IPAddress),
        ]);
        return claims.items.length + addresses.items.length === 0;
      });
      await second.kill();
      expect(world.inventory(), `after call ${cut}`).toEqual(alone);
    }
    const last = world.start();
    await world.client.delete(OpenStackFloatingIPPool, { namespace, name: "public" });
    await world.until("the pool to go", async () => {
      return (await world.client.find(OpenStackFloatingIPPool, { namespace, name: "public" })) === undefined;
    });
    await world.remove("pooled");
    await last.kill();
    expect(world.inventory()).toEqual(before);
  });
});
