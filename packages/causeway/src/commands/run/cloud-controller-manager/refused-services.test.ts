import { startApiServer, type ApiServer } from "@causeway/apiserver";
import { silentLog, systemClock } from "@causeway/foundation";
import {
  createClient,
  Event,
  Lease,
  loadKubeconfig,
  Namespace,
  Service,
  type KubernetesClient,
} from "@causeway/kubernetes";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { refusalReporter, type RefusalContext } from "./refused-services.ts";

const ELECTION = { namespace: "kube-system", name: "cloud-controller-manager" };
const signal = new AbortController().signal;

describe("refused credentials", () => {
  let server: ApiServer;
  let client: KubernetesClient;
  let run: RefusalContext;
  beforeEach(async () => {
    server = await startApiServer();
    client = createClient(loadKubeconfig({ text: await server.management.kubeconfig() }));
    const times = { leaseDuration: 15_000, renewDeadline: 10_000, retryPeriod: 2_000 };
    run = { client, clock: systemClock, log: silentLog, flags: { election: { ...ELECTION, ...times } } };
  });
  afterEach(async () => {
    await client.close();
    await server.close();
  });

  const create = (name: string, spec: Partial<Service["spec"]> = {}) =>
    client.create(Service, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace: "default" },
      spec: { type: "LoadBalancer", ports: [{ port: 80 }], ...spec },
    });
  const events = async () =>
    (await client.list(Event, { namespace: "default" })).items
      .filter(({ reason }) => reason === "CloudCredentialsRefused")
      .map(({ involvedObject, message, count = 1 }) => [involvedObject.name, message, count]);
  const hold = async (renewed: number) => {
    const { namespace, name } = ELECTION;
    if (!(await client.find(Namespace, { namespace: "", name: namespace }, { signal })))
      await client.create(Namespace, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    const renewTime = new Date(renewed).toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: "another", leaseDurationSeconds: 15, renewTime };
    await client.create(Lease, {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { namespace, name },
      spec,
    });
  };
  const MESSAGE =
    "The cloud refuses the credentials of the cloud controller manager: wrong password. Correct its cloud.conf.";

  test("are an event on the Services that wait for a load balancer, and on no other", async () => {
    await create("waiting");
    await create("internal", { type: "ClusterIP" });
    await create("anothers", { loadBalancerClass: "example.org/lb" });
    const served = await create("served");
    const status = { loadBalancer: { ingress: [{ ip: "203.0.113.7" }] } };
    await client.update(Service, { ...served, status }, { subresource: "status" });
    await refusalReporter(run)("wrong password.", signal);
    expect(await events()).toEqual([["waiting", MESSAGE, 1]]);
  });

  test("are one event with a count, however often they are reported", async () => {
    await create("waiting");
    const report = refusalReporter(run);
    for (let i = 0; i < 3; i++) await report("wrong password.", signal);
    expect(await events()).toEqual([["waiting", MESSAGE, 3]]);
  });

  test("are no event where another instance leads, whose credentials may work", async () => {
    await create("waiting");
    await hold(systemClock.now());
    await refusalReporter(run)("wrong password.", signal);
    expect(await events()).toEqual([]);
  });

  test("are an event where the instance that led has ended", async () => {
    await create("waiting");
    await hold(systemClock.now() - 3_600_000);
    await refusalReporter(run)("wrong password.", signal);
    expect(await events()).toEqual([["waiting", MESSAGE, 1]]);
  });

  test("are an event on twenty Services at most", async () => {
    for (let i = 0; i < 22; i++) await create(`web-${String(i).padStart(2, "0")}`);
    await refusalReporter(run)("wrong password.", signal);
    const names = (await events()).map(([name]) => name);
    expect([names.length, names.includes("web-19"), names.includes("web-20")]).toEqual([20, true, false]);
  });
});
