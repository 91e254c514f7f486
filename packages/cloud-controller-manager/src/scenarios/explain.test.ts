import { systemClock } from "@causeway/foundation";
import { createInformers } from "@causeway/kubernetes";
import { connectCloud, loadCloudsYaml, watchCloud } from "@causeway/openstack";
import { expect, test } from "vitest";
import { defaultCloudConfig, type LoadBalancerConfig } from "../config/config.ts";
import { explainService, type ServiceExplanation } from "../service/explain.ts";
import { internal, os, pause, setStage, tcp, udp } from "./stage.ts";

const stage = setStage(2);
const key = { namespace: "default", name: "web" };

async function explained(
  loadBalancer: Partial<LoadBalancerConfig> = {},
  clusterName = "c",
): Promise<ServiceExplanation | undefined> {
  const { w, cloud } = stage();
  const stopping = new AbortController();
  const connected = connectCloud(loadCloudsYaml({ text: cloud.cloudsYaml, cloud: "simulator" }));
  const watch = watchCloud(connected);
  const informers = createInformers(w.client);
  const running = informers.run(stopping.signal);
  const defaults = defaultCloudConfig();
  const config = { ...defaults, loadBalancer: { ...defaults.loadBalancer, ...loadBalancer } };
  const options = { informers, cloud: connected, watch, config, clusterName, clock: systemClock };
  const answer = await explainService(options, key, stopping.signal);
  stopping.abort();
  await running;
  await watch.close();
  await connected.close();
  return answer;
}

/** Writes to the cloud that the explanation lists, in their order. */
function explainedWrites(explanation: ServiceExplanation | undefined): string[] {
  const rounds = [...(explanation?.securityGroup ?? []), ...(explanation?.rounds ?? [])];
  const calls = rounds.flat().flatMap((step) => step.calls);
  return calls
    .filter(({ method, service }) => method !== "GET" && service !== "kubernetes")
    .map(({ method, route }) => `${method} ${route.replaceAll("{id}", "ID")}`);
}

/** Writes until there are so many, and those of several seconds of the manager more. */
async function writesUntil(count: number): Promise<string[]> {
  const { w, writes } = stage();
  const done: string[] = [];
  await w.until(`${count} writes`, async () => {
    done.push(...writes());
    return done.length >= count ? true : undefined;
  });
  await pause(400);
  return [...done, ...writes()];
}

test("a Service that is not ours, or not there, has no plan", async () => {
  const { w } = stage();
  expect(await explained()).toBeUndefined();
  await w.createService("web", { loadBalancerClass: "example.org/other" });
  expect(await explained()).toBeUndefined();
});

test.each<[string, Partial<LoadBalancerConfig>, Record<string, string>]>([
  ["amphora", { provider: "amphora", createMonitor: true }, {}],
  ["OVN with monitors and security groups", { provider: "ovn", createMonitor: true, manageSecurityGroups: true }, {}],
  ["serial calls, internal", { provider: "amphora", serialApiCalls: true }, internal],
])(
  "the explanation on %s lists every round and changes nothing, and a reconcile then makes exactly those changes",
  async (_what, config, annotations) => {
    const { w, writes, run } = stage();
    await w.createService("web", { ports: [tcp(80), udp(53)] }, annotations);
    writes();
    const first = await explained(config);
    expect(writes()).toEqual([]);
    expect((await w.service("web")).metadata.finalizers ?? []).toEqual([]);
    expect(first?.complete).toBe(true);
    const manager = run(config);
    await w.served("web");
    const done = await writesUntil(explainedWrites(first).length);
    expect(done.sort()).toEqual(explainedWrites(first).sort());
    const still = await explained(config);
    expect([still?.rounds, still?.securityGroup, still?.wait]).toEqual([[], [], undefined]);
    await manager.stop();

    await w.change("web", { spec: { ports: [tcp(81)] }, metadata: { annotations: { [os("connection-limit")]: "9" } } });
    writes();
    const change = await explained(config);
    expect(explainedWrites(change).length).toBeGreaterThan(3);
    run(config);
    const next = await writesUntil(explainedWrites(change).length);
    expect(next.sort()).toEqual(explainedWrites(change).sort());
  },
);

const changedPorts = [
  "DELETE /pools/ID",
  "DELETE /listeners/ID",
  "DELETE /pools/ID",
  "DELETE /listeners/ID",
  "POST /listeners",
  "POST /pools",
  "PUT /pools/ID/members",
];

test.each<["amphora" | "ovn", string, readonly string[]]>([
  ["amphora", "PENDING_UPDATE", changedPorts],
  ["ovn", "ERROR", ["DELETE /loadbalancers/ID", "POST /loadbalancers", "PUT /floatingips/ID"]],
])(
  "the explanation lists every round while the load balancer on %s is %s, and a reconcile makes exactly those changes",
  async (provider, status, expected) => {
    const { w, writes, run, skip } = stage();
    const explanation = await explainedWhile(provider, status);
    expect([explanation?.complete, explainedWrites(explanation)]).toEqual([true, expected]);
    writes();
    run({ provider });
    skip(600_000);
    expect((await writesUntil(expected.length)).sort()).toEqual([...expected].sort());
    await w.settled("it");
  },
);

test("a failover is explained with the rounds after it, marked incomplete because Octavia may refuse it", async () => {
  const explanation = await explainedWhile("amphora", "ERROR");
  expect([explanation?.complete, explainedWrites(explanation)]).toEqual([
    false,
    ["PUT /loadbalancers/ID/failover", ...changedPorts],
  ]);
  stage().run({ provider: "amphora" });
});

/** Of a Service whose ports have changed, while a change by hand is under way for ten minutes, or has failed. */
async function explainedWhile(provider: string, status: string): Promise<ServiceExplanation | undefined> {
  const { w, cloud, run } = stage();
  await w.createService("web", { ports: [tcp(80), udp(53)] });
  const manager = run({ provider });
  await w.served("web");
  await manager.stop();
  cloud.setDelay(`loadbalancer.${provider}.update`, status === "ERROR" ? 0 : 600_000);
  cloud.setOutcomes(status === "ERROR" ? [{ operation: "loadbalancer.update", outcome: "error" }] : []);
  const [lb] = await w.loadBalancers();
  await w.cloud.loadBalancing.loadBalancers.update(lb?.id ?? "", { description: "by hand" });
  await w.until(status, async () => (await w.loadBalancers()).find((now) => now.provisioning_status === status));
  cloud.setDelay(`loadbalancer.${provider}.update`, 0);
  cloud.setOutcomes([]);
  await w.change("web", { spec: { ports: [tcp(81)] }, metadata: { annotations: { [os("connection-limit")]: "9" } } });
  return explained({ provider });
}

test("an explanation for another cluster name has the name that the load balancer has", async () => {
  const { w, run } = stage();
  const manager = run({ provider: "ovn" });
  await w.createService("web");
  await w.served("web");
  await manager.stop();
  expect((await explained({ provider: "ovn" }))?.formerName).toBeUndefined();
  expect((await explained({ provider: "ovn" }, "other"))?.formerName).toBe("kube_service_c_default_web");
  // Deletes the Service's load balancer.
  run({ provider: "ovn" });
});
