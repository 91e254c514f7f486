/**
 * What becomes of a cluster with real nodes when its tenant deletes what keeps it running, or a part does not work: the
 * add-ons are restored, wait, or are reported.
 */
import type { KubernetesClient } from "@causeway/kubernetes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/processes.ts";
import {
  ABSENT,
  absentDeployment,
  addonSet,
  conditionOf,
  configMap,
  daemonSet,
  deleteDaemonSet,
  dropDns,
  nameImage,
  setOf,
  stateOf,
  widget,
  widgets,
} from "./addons.ts";
import { forgeRequest } from "./forged-request.ts";
import { realNodes, type RealNode } from "./kubelet.ts";
import { IMAGE, NAME, startRig, type Rig } from "./rig.ts";
import { apiClient } from "./webhook.ts";
import { service, web } from "./workload.ts";

const TIMEOUT = 10 * 60_000;
/** Milliseconds after which a deleted object of an add-on is there again, and after which the tunnel dials then. */
const [BACK, DIALS] = [5_000, 20_000];
/** The names of pods. */
const PODS = "jsonpath={.items[*].metadata.name}";
const isOverlay = process.env["CAUSEWAY_NODES_OVERLAY"] !== undefined;

describe("a cluster with real nodes", () => {
  let rig: Rig;
  let nodes: readonly RealNode[] = [];
  let client: KubernetesClient;

  const uidOf = (...object: string[]) => rig.workload("get", ...object, "-o", "jsonpath={.metadata.uid}");

  /** Deletes a DaemonSet; milliseconds until there is another one, and until all its pods are Ready. */
  async function restored(name: string): Promise<{ readonly back: number; readonly ready: number }> {
    const before = await daemonSet(client, name);
    const start = performance.now();
    const since = () => Math.round(performance.now() - start);
    await deleteDaemonSet(client, name);
    await eventually(TIMEOUT, async () => (await daemonSet(client, name)).metadata.uid !== before.metadata.uid);
    const back = since();
    await eventually(TIMEOUT, async () => (await daemonSet(client, name)).status?.numberReady === nodes.length);
    return { back, ready: since() };
  }

  beforeAll(async () => {
    rig = await startRig({ overlay: isOverlay });
    nodes = realNodes(rig);
    client = apiClient(rig);
    const container = { name: "main", image: IMAGE, command: ["sh", "-c", "echo begins; exec sleep 36000"] };
    rig.apply({ apiVersion: "v1", kind: "Pod", metadata: { name: "speaker" }, spec: { containers: [container] } });
    rig.apply(web("one"));
    rig.apply(service("ClusterIP"));
    await rig.rolledOut("web");
    rig.workload("wait", "pod/speaker", "--for=condition=Ready", "--timeout=600s");
  });

  afterAll(async () => {
    await client?.close();
    await rig?.close();
  });

  test("a deleted kube-proxy is back within 5 s, and the Service responds all the time", async () => {
    const address = rig.workload("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}");
    for (const { name } of nodes) rig.apply(requester(name, address));
    const names = nodes.map(({ name }) => `requester-${name}`);
    const lines = () => names.map((name) => rig.workload("logs", name).trim().split("\n"));
    const isServed = (by: ReadonlySet<string>) => (each: string[]) => each.some((line) => by.has(line));
    const webs = () => new Set(rig.workload("get", "pods", "-l", "app=web", "-o", PODS).split(" "));
    const old = webs();
    await eventually(TIMEOUT, () => lines().every(isServed(old)));
    const { back, ready } = await restored("kube-proxy");
    // The new kube-proxies lead to pods that the old ones never saw; none ends, which may cost requests of its own.
    rig.workload("scale", "deployment/web", "--replicas=6");
    await rig.rolledOut("web");
    const fresh = webs().difference(old);
    await eventually(TIMEOUT, () => lines().every(isServed(fresh)));
    const all = lines().flat();
    const failures = all.filter((line) => !old.has(line) && !fresh.has(line));
    console.log(`kube-proxy: back after ${back} ms, Ready on both nodes after ${ready} ms`);
    console.log(`${all.length} requests from pods of both nodes meanwhile, ${failures.length} failed`);
    expect(failures).toEqual([]);
    expect(back).toBeLessThan(BACK);
  });

  test("a deleted tunnel agent is back within 5 s, and dials succeed within 20 s", async () => {
    const read = async () => {
      await client.request("GET", "/api/v1/namespaces/default/pods/speaker/log", { query: { tailLines: "1" } });
      return true;
    };
    await eventually(TIMEOUT, read);
    const { back, ready } = await restored("konnectivity-agent");
    const start = performance.now();
    await eventually(TIMEOUT, read);
    const dials = Math.round(performance.now() - start);
    console.log(`the tunnel's agent: back after ${back} ms, Ready after ${ready} ms, logs are read ${dials} ms later`);
    expect(back).toBeLessThan(BACK);
    expect(ready - back + dials).toBeLessThan(DIALS);
  });

  test("a deleted CRD of an add-on is back with its objects, and other objects remain", async () => {
    rig.manage(setOf("widgets", { crd: [widgets], widget: [widget, configMap("kept")] }));
    await eventually(TIMEOUT, () => stateOf(addonSet(rig, "widgets"), "widget").startsWith("Applied"));
    const [crd, kept] = [uidOf("crd", "widgets.causeway.invalid"), uidOf("configmap", "kept")];
    const start = performance.now();
    rig.workload("delete", "crd", "widgets.causeway.invalid", "--wait=false");
    await eventually(TIMEOUT, () => uidOf("crd", "widgets.causeway.invalid") !== crd);
    const back = Math.round(performance.now() - start);
    await eventually(TIMEOUT, () => uidOf("widgets.causeway.invalid", "one") !== "");
    console.log(`the CRD: back after ${back} ms, its object after ${Math.round(performance.now() - start)} ms`);
    expect(uidOf("configmap", "kept")).toBe(kept);
    expect(back).toBeLessThan(BACK);
  });

  test("an add-on whose image cannot be pulled has the next wave wait with the reason, until there is the image", async () => {
    rig.manage(setOf("waves", { first: [absentDeployment], second: [configMap("late")] }));
    const waits = await eventually(TIMEOUT, () => {
      const state = stateOf(addonSet(rig, "waves"), "second");
      return /^Waiting: .*(ErrImagePull|ImagePullBackOff)/s.test(state) ? state : undefined;
    });
    console.log(waits);
    expect(waits).toContain("waits for add-on first of wave 0");
    expect(rig.workload("get", "configmap", "late", "--ignore-not-found")).toBe("");
    for (const node of nodes) await nameImage(node, ABSENT);
    await eventually(TIMEOUT, () => stateOf(addonSet(rig, "waves"), "second").startsWith("Applied"));
    expect(uidOf("configmap", "late")).not.toBe("");
  });

  test("DNS that does not respond is named, although all objects of the add-on are there and Ready", async () => {
    const healthy = () => conditionOf(addonSet(rig, NAME), "Healthy");
    await eventually(TIMEOUT, () => healthy().startsWith("True"));
    const restore = await Promise.all(nodes.map(dropDns));
    try {
      await eventually(TIMEOUT, () => healthy().startsWith("False"));
      const set = addonSet(rig, NAME);
      console.log(`Healthy ${conditionOf(set, "Healthy")}`);
      expect(stateOf(set, "coredns")).toMatch(/^Unhealthy: DNS probe of .*:53 for kubernetes\.default\.svc/);
      expect(conditionOf(set, "Applied")).toMatch(/^True/);
      const replicas = "jsonpath={.status.readyReplicas}";
      expect(rig.workload("-n", "kube-system", "get", "deployment", "coredns", "-o", replicas)).toBe("2");
    } finally {
      for (const put of restore) await put();
    }
    await eventually(TIMEOUT, () => healthy().startsWith("True"));
  });

  test("a request of a real node's credentials for another's address is not approved, and an event says so", async () => {
    const [node, other] = nodes;
    if (node === undefined || other === undefined) throw new Error("there are not two nodes");
    const name = await forgeRequest(rig, node, other.address);
    const event = await eventually(TIMEOUT, () => {
      const { items } = JSON.parse(rig.management("get", "events", "-o", "json")) as { items: EventView[] };
      return items.find(({ reason, message }) => reason === "CertificateRequestLeft" && message.includes(name));
    });
    console.log(event.message);
    expect(event.message).toContain(`machine ${node.name} does not have ${other.address}`);
    const path = ["get", "certificatesigningrequest", name, "-o", "jsonpath={.status.conditions}{.status.certificate}"];
    expect(rig.workload(...path)).toBe("");
  });
});

interface EventView {
  readonly reason: string;
  readonly message: string;
}

/** A pod on a node that sends ten requests a second to an address, and prints the responses. */
function requester(node: string, address: string): object {
  const request = `timeout 10 wget -q -O - http://${address}/hostname || echo failed at $(date)`;
  const command = ["sh", "-c", `while :; do r=$(${request}); echo "$r"; usleep 100000; done`];
  const containers = [{ name: "main", image: IMAGE, command }];
  const spec = { nodeName: node, terminationGracePeriodSeconds: 1, containers };
  return { apiVersion: "v1", kind: "Pod", metadata: { name: `requester-${node}` }, spec };
}
