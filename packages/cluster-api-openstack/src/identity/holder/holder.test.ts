import { allKinds, OpenStackCluster, OpenStackMachine, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import { createClient, createInformers, loadKubeconfig, Secret } from "@causeway/kubernetes";
import { afterEach, expect, test, vi } from "vitest";
import { identityOf, runIdentityHolder } from "./controller.ts";
import { identityFinalizer } from "./plan.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const secret: Secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "cloud", namespace: "default" },
};
const finalizers = [identityFinalizer];

test("a Secret that was deleted remains until the last object that names it is gone", async () => {
  const server = await startApiServer({ crds: allKinds.map(toCustomResourceDefinition) });
  closing.push(() => server.close());
  const client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  closing.push(() => client.close());
  const tools = { clock: systemClock, log: silentLog };
  const informers = createInformers(client, tools);
  const openStackClusters = informers.for(OpenStackCluster);
  const openStackMachines = informers.for(OpenStackMachine);
  informers.index(openStackClusters, { identity: identityOf });
  informers.index(openStackMachines, { identity: identityOf });
  const stop = new AbortController();
  const options = { informers, secrets: informers.for(Secret), openStackClusters, openStackMachines, ...tools };
  const running = Promise.allSettled([informers.run(stop.signal), runIdentityHolder(options, stop.signal)]);
  closing.push(() => {
    stop.abort();
    return running;
  });

  const key = { namespace: "default", name: "cloud" };
  await client.create(Secret, secret);
  const spec = { identityRef: { name: "cloud", cloudName: "openstack" } };
  await client.create(OpenStackCluster, {
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "OpenStackCluster",
    metadata: { name: "web", namespace: "default" },
    spec,
  });
  const found = () => client.find(Secret, key);
  await vi.waitFor(async () => expect((await found())?.metadata.finalizers).toEqual(finalizers));
  await client.delete(Secret, key);
  expect((await found())?.metadata.deletionTimestamp).toBeDefined();
  await client.delete(OpenStackCluster, { namespace: "default", name: "web" });
  await vi.waitFor(async () => expect(await found()).toBeUndefined());
});
