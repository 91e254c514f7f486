/** Ingresses of a cluster that is being deleted: those with a load balancer go, and their deletion is waited for. */
import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createClient,
  createInformers,
  loadKubeconfig,
  type Informers,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { CLASS_ANNOTATION, CLASS_CONTROLLER, FINALIZER, Ingress, IngressClass } from "@causeway/octavia-ingress";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { releaseIngresses } from "./ingress.ts";

const { signal } = new AbortController();
let server: ApiServer;
let client: KubernetesClient;
let informers: Informers;
const stop = new AbortController();
let running: Promise<void>;
beforeAll(async () => {
  server = await startApiServer({});
  client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
  informers = createInformers(client);
  running = informers.run(stop.signal);
  await client.create(IngressClass, {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "mine" },
    spec: { controller: CLASS_CONTROLLER },
  });
});
afterAll(async () => {
  stop.abort();
  await running;
  await client.close();
  await server.close();
});

const create = (name: string, metadata: Partial<Ingress["metadata"]>, ingressClassName?: string): Promise<Ingress> =>
  client.create(Ingress, {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { namespace: "default", name, ...metadata },
    spec: {
      ...(ingressClassName === undefined ? {} : { ingressClassName }),
      defaultBackend: { service: { name: "web", port: { number: 80 } } },
    },
  });
const names = async (): Promise<string[]> => (await client.list(Ingress)).items.map(({ metadata }) => metadata.name);

test("the end of a cluster's fleet member deletes those of this controller and those that it holds, waits for the latter, and leaves others", async () => {
  await create("by-class", {}, "mine");
  await create("by-annotation", { annotations: { [CLASS_ANNOTATION]: "openstack" } });
  await create("held", { finalizers: [FINALIZER] }, "of-another");
  await create("other", {}, "of-another");
  // A tenant's own finalizer holds the object, and not the deletion of the cluster.
  await create("foreign", { finalizers: ["example.org/forever"] }, "mine");
  let isDone = false;
  const releasing = releaseIngresses({ informers, clock: systemClock, log: silentLog }, signal).then(() => {
    isDone = true;
  });
  await vi.waitFor(async () => expect(await names()).toEqual(["foreign", "held", "other"]), {
    timeout: 30_000,
    interval: 50,
  });
  expect(isDone).toBe(false);
  const body = { metadata: { finalizers: null } };
  await client.patch(Ingress, { namespace: "default", name: "held" }, { type: "merge", body });
  await releasing;
  expect(await names()).toEqual(["foreign", "other"]);
});
