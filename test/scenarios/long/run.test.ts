/** `causeway run cloud-controller-manager` among other processes that may do its work. */
import { afterEach, expect, test, vi } from "vitest";
import { Lease } from "@causeway/kubernetes";
import { stageFolder, stageManager, type ManagerStage } from "../../support/manager-stage.ts";

// It runs processes.
vi.setConfig({ testTimeout: 300_000 });

let stage: ManagerStage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function staged(): Promise<ManagerStage> {
  return (stage = await stageManager(stageFolder()));
}

test("a cloud controller that is killed while it works is followed by the other, and there is one load balancer", async () => {
  const { w, start, simulator } = await staged();
  const election = "--leader-elect-lease-duration=4s --leader-elect-renew-deadline=3s --leader-elect-retry-period=1s";
  const flags = ["--secure-port=0", ...election.split(" ")];
  const first = start(...flags);
  await w.joinAll();
  const second = start(...flags);
  await new Promise((done) => setTimeout(done, 1_500));
  simulator.setDelay("request.load-balancer", 300);
  await w.createService("web");
  await w.until("a finalizer", async () => (await w.service("web")).metadata.finalizers?.[0]);
  await first.stop("SIGKILL");
  await w.served("web");
  expect(await w.loadBalancers()).toHaveLength(1);
  expect(second.child.exitCode).toBeNull();
  simulator.setDelay("request.load-balancer", 0);
  await w.remove("web");
});

test("in a migration, what moves waits until the program that it comes from releases the shared Lease", async () => {
  const { w, start } = await staged();
  const now = `${new Date().toISOString().slice(0, -1)}000Z`;
  const name = "cloud-provider-extraction-migration";
  const made = await w.client.create(Lease, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace: "kube-system", name },
    spec: {
      holderIdentity: "kube-controller-manager",
      leaseDurationSeconds: 3_600,
      acquireTime: now,
      renewTime: now,
    },
  });
  start("--secure-port=0", "--enable-leader-migration");
  await w.joinAll();
  await w.createService("web");
  await new Promise((done) => setTimeout(done, 3_000));
  expect((await w.service("web")).metadata.finalizers ?? []).toEqual([]);
  const spec = { ...made.spec, holderIdentity: "", leaseDurationSeconds: 1 };
  const { metadata } = await w.client.get(Lease, { namespace: "kube-system", name });
  await w.client.update(Lease, { ...made, metadata, spec });
  await w.served("web");
  await w.remove("web");
});
