import { allKinds, OpenStackCluster, OpenStackMachine, toCustomResourceDefinition } from "@causeway/api";
import { startApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import { createClient, createInformers, loadKubeconfig, Secret } from "@causeway/kubernetes";
import { afterEach, expect, test, vi } from "vitest";
import { identityOf, runIdentityHolder } from "./controller.ts";
import { identityFinalizer, plan } from "./plan.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const secretWith = (metadata: Partial<Secret["metadata"]>): Secret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "cloud", namespace: "default", ...metadata },
});
const finalizers = [identityFinalizer];
const deletionTimestamp = "2026-01-01T00:00:00Z";

test.each([
  ["is held while an object names it", {}, true, ["hold"]],
  ["is held once", { finalizers }, true, []],
  ["that is being deleted is not held any more", { deletionTimestamp }, true, []],
  ["that no object names is left alone", {}, false, []],
  ["is released when no object names it any longer", { finalizers }, false, ["release"]],
  ["that is being deleted is released when no object names it", { finalizers, deletionTimestamp }, false, ["release"]],
])("a Secret with credentials %s", (_, metadata, isUsed, expected) => {
  expect(plan({ secret: secretWith(metadata), isUsed }).steps.map(({ type }) => type)).toEqual(expected);
});

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
  await client.create(Secret, secretWith({}));
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
