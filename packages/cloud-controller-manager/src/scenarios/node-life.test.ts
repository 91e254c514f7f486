import { describe, expect, test } from "vitest";
import { systemClock } from "@causeway/foundation";
import { Node, Pod } from "@causeway/kubernetes";
import type { World } from "../testing/world.ts";
import { pause, setStage } from "./stage.ts";

const stage = setStage(3);
const excluded = "node.kubernetes.io/exclude-from-external-load-balancers";

/** Makes a node's kube-proxy, as its Pod says, Ready or not. */
async function proxy(w: World, nodeName: string, status: "True" | "False"): Promise<void> {
  const key = { namespace: "kube-system", name: `kube-proxy-${nodeName}` };
  const spec = { nodeName, hostNetwork: true, containers: [{ name: "kube-proxy", image: "kube-proxy" }] };
  const metadata = { ...key, labels: { "k8s-app": "kube-proxy" } };
  if ((await w.client.find(Pod, key)) === undefined)
    await w.client.create(Pod, { apiVersion: "v1", kind: "Pod", metadata, spec });
  const body = { status: { phase: "Running", conditions: [{ type: "Ready", status }] } };
  await w.client.patch(Pod, key, { type: "merge", body }, { subresource: "status" });
}

/**
 * Sends requests to all members at once, again and again. A load balancer that is being changed leads to those that it
 * had, too. A request fails that is sent to a node that is not among `serving` then.
 */
function sendRequests(w: World, serving: ReadonlySet<string>) {
  const counts = { total: 0, failures: [] as string[] };
  let reached: readonly string[] = [];
  let isEnded = false;
  const isActive = async () => (await w.loadBalancers()).every((lb) => lb.provisioning_status === "ACTIVE");
  const sending = (async () => {
    while (!isEnded) {
      const served = new Set(serving);
      const before = await isActive();
      const members = (await w.members()).map(({ name }) => name);
      const isSettled = before && (await isActive());
      reached = isSettled ? members : [...new Set([...reached, ...members])];
      counts.total += reached.length;
      counts.failures.push(...reached.filter((name) => !served.has(name)));
      await pause(10);
    }
  })();
  return {
    counts,
    async end() {
      isEnded = true;
      await sending;
      return counts;
    },
  };
}

/** What a node says of load balancers. */
const said = async (w: World, name: string) =>
  (await w.client.get(Node, { namespace: "", name })).metadata.annotations?.["causeway.dev/load-balancers"];
const membersOf = async (w: World) => (await w.members()).map(({ name }) => name).toSorted();

/** A Service with two members that serve, and a third node that joins again, without a kube-proxy that serves. */
async function joined(provider: string, followNodes: boolean) {
  const { w, run, cloud } = stage();
  cloud.setDelay(`loadbalancer.${provider}.update`, 400);
  run({ provider, followNodes }, { clock: systemClock });
  await w.client.delete(Node, { namespace: "", name: "c-node-2" });
  for (const name of ["c-node-0", "c-node-1"]) await proxy(w, name, "True");
  await proxy(w, "c-node-2", "False");
  await w.createService("web");
  await w.served("web");
  await w.settled("two members", async () => (await w.members()).length === 2);
  const serving = new Set(["c-node-0", "c-node-1"]);
  const requests = sendRequests(w, serving);
  const third = w.infrastructure.servers.find(({ name }) => name === "c-node-2");
  if (!third) throw new Error("there is no third server");
  await w.join(third);
  return { w, serving, requests };
}

describe.each(["ovn", "amphora"])("nodes that come and are removed on %s", (provider) => {
  test("get no request before their kube-proxy serves, and none once they say that they are out", async () => {
    const { w, serving, requests } = await joined(provider, true);
    await w.until("the new node to be followed", async () => ((await said(w, "c-node-2")) === "in" ? true : undefined));
    expect(await membersOf(w)).toEqual(["c-node-0", "c-node-1"]);
    serving.add("c-node-2");
    await proxy(w, "c-node-2", "True");
    await w.settled("the new node as a member", async () => (await w.members()).length === 3);
    await w.label("c-node-1", { [excluded]: "" });
    await w.until("the old node to be out", async () => ((await said(w, "c-node-1")) === "out" ? true : undefined));
    serving.delete("c-node-1");
    const { total } = requests.counts;
    await w.until("more requests", async () => (requests.counts.total > total + 20 ? true : undefined));
    expect((await requests.end()).failures).toEqual([]);
    await w.label("c-node-1", { [excluded]: null });
    await w.until("the old node to be in again", async () => ((await said(w, "c-node-1")) === "in" ? true : undefined));
  });

  test("fail requests where they are not followed: a node is a member before its kube-proxy serves", async () => {
    const { w, requests } = await joined(provider, false);
    await w.until("requests that fail", async () => (requests.counts.failures.length > 0 ? true : undefined));
    expect(new Set((await requests.end()).failures)).toEqual(new Set(["c-node-2"]));
    expect(await said(w, "c-node-2")).toBeUndefined();
  });
});
