import type { OpenStackMachineSpec } from "@causeway/api";
import { OpenStackCluster } from "@causeway/api";
import { silentLog, systemClock } from "@causeway/foundation";
import { createInformers } from "@causeway/kubernetes";
import { createCloudPool } from "@causeway/openstack";
import { describe, expect, it } from "vitest";
import { explainCluster, explainMachine, type ChangedObjects, type ExplainSources } from "../explain/explain.ts";
import type { Explanation } from "../explain/explanation.ts";
import { openSources } from "../sources.ts";
import { demoSpec } from "../testing/objects.ts";
import { namespace, openInfrastructure } from "./world.ts";

const world = openInfrastructure();

/** Reads as `causeway plan` does. */
async function reading<T>(work: (sources: ExplainSources, signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const informers = createInformers(world.client, { log: silentLog });
  const clouds = createCloudPool();
  const running = informers.run(stop.signal);
  try {
    const sources = openSources({ informers, clouds, clock: systemClock });
    await sources.whenSynced(stop.signal);
    return await work({ ...sources, clock: systemClock }, stop.signal);
  } finally {
    stop.abort();
    await running;
    await clouds.close();
  }
}

const cluster = (name: string, changed: ChangedObjects = {}) =>
  reading((sources, signal) => explainCluster(sources, { namespace, name }, changed, signal));
const machine = (name: string) =>
  reading((sources, signal) => explainMachine(sources, { namespace, name }, undefined, signal));

const isChange = (method: string, service: string) =>
  method !== "GET" && service !== "kubernetes" && service !== "identity";

/** The changing calls to the cloud that are planned, without IDs. */
const planned = (explained: Explanation | undefined): string[] =>
  (explained?.rounds ?? [])
    .flat()
    .flatMap(({ calls }) => calls)
    .filter(({ method, service }) => isChange(method, service))
    .map(({ method, route }) => `${method} ${route.split("?")[0]}`)
    .sort();

const version = /^\/v[0-9.]+(\/[0-9a-f]{32})?(\/lbaas)?/;
const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** The changing calls that the cloud has seen since the `from`th, in the same form. */
const made = (from: number): string[] =>
  world.simulator.calls
    .slice(from)
    .filter(({ method, service }) => isChange(method, service))
    .map(({ method, path }) => `${method} ${(path.split("?")[0] ?? "").replace(version, "").replaceAll(uuid, "{id}")}`)
    .sort();

const balanced = { ...demoSpec, tags: ["blue"], apiServer: { managedLoadBalancer: { enabled: true } } };
const spec: OpenStackMachineSpec = {
  flavor: { filter: { name: "m1.tiny" } },
  image: { filter: { name: "cirros" } },
};

describe("a plan of clusters and machines", { timeout: 300_000 }, () => {
  it("shows the calls that the controllers then make to create and to change a cluster, and nothing at rest", async () => {
    await world.createCluster("planned", balanced);
    const before = world.simulator.calls.length;
    const creation = await cluster("planned");
    expect(made(before)).toEqual([]);
    expect(creation?.complete).toBe(true);
    expect(planned(creation)).toContain("POST /loadbalancers");

    const controllers = world.start();
    await world.clusterReady("planned");
    await world.rested();
    expect(made(before)).toEqual(planned(creation));
    expect((await cluster("planned"))?.rounds).toEqual([]);

    const object = await world.client.get(OpenStackCluster, { namespace, name: "planned" });
    const [subnet] = object.spec.managedSubnets ?? [];
    const infrastructure = {
      ...object,
      spec: { ...object.spec, managedSubnets: [{ ...subnet, cidr: subnet?.cidr ?? "", dnsNameservers: ["1.1.1.1"] }] },
    };
    const change = await cluster("planned", { infrastructure });
    expect(change?.rounds.map((round) => round.map(({ step, aim }) => [step.type, aim.differences]))).toEqual([
      [["update-subnet", [{ field: "dns_nameservers", from: ["9.9.9.9"], to: ["1.1.1.1"] }]]],
    ]);
    await controllers.kill();
  });

  it("shows the calls that a machine then takes, of a template and of itself", async () => {
    await world.createCluster("sized");
    const controllers = world.start();
    await world.clusterReady("sized");
    await controllers.kill();
    const group = { of: "MachineDeployment sized-md", replicas: 3, isControlPlane: false, spec };
    const ofTemplate = (await cluster("sized", { groups: [group] }))?.machines[0];
    await world.createMachine("sized", "sized-a", spec);
    const ofMachine = await machine("sized-a");
    expect(planned(ofMachine)).toEqual(["POST /ports", "POST /servers"]);
    expect([ofTemplate?.replicas, planned(ofTemplate?.explained)]).toEqual([3, planned(ofMachine)]);
    const from = world.simulator.calls.length;
    const again = world.start();
    await world.machineReady("sized-a");
    await again.kill();
    expect(made(from)).toEqual(planned(ofMachine));
    expect((await machine("sized-a"))?.rounds).toEqual([]);
    expect(await machine("sized-b")).toBeUndefined();
  });

  it("says why nothing would be created", async () => {
    await world.createCluster("refused", { ...demoSpec, managedSubnets: [{ cidr: "10.6.0.0/33" }] });
    const explained = await cluster("refused");
    expect(explained?.rounds).toEqual([]);
    expect(explained?.events.map(({ type }) => type)).toEqual(["Warning"]);
    expect(await cluster("missing")).toBeUndefined();
  });
});
