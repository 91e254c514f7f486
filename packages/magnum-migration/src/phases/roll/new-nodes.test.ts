import { CausewayError } from "@causeway/foundation";
import type { KubernetesClient, Pod } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { readNodeProblems } from "./new-nodes.ts";

const signal = new AbortController().signal;
const PROXY = "k8s-app=kube-proxy";
const PLUGIN = "app=causeway-csi-cinder-nodeplugin";
const nodes = { fresh: ["n1", "n2"], adopted: ["old"] };

const pod = (name: string, nodeName: string, more: object = {}, isReady = true) =>
  ({
    metadata: { name },
    spec: { nodeName },
    status: { conditions: [{ type: "Ready", status: isReady ? "True" : "False" }], ...more },
  }) as unknown as Pod;
const proxies = [pod("p1", "n1"), pod("p2", "n2")];

/** A cluster with these pods of kube-system by their label, and these kubelets that its API server does not reach. */
function cluster(pods: Readonly<Record<string, readonly Pod[]>>, unreached: readonly string[] = []) {
  const probed: string[] = [];
  const client = {
    list: async (_: unknown, { labelSelector = "" }: { labelSelector?: string }) => ({
      items: pods[labelSelector] ?? [],
    }),
    request: async (_: string, path: string) => {
      const [, node = ""] = /nodes\/([^/]+)\/proxy\/healthz$/.exec(path) ?? [];
      probed.push(node);
      if (unreached.includes(node)) throw new CausewayError("KUBERNETES_SERVICE_UNAVAILABLE", "dial tcp: i/o timeout");
      return "ok";
    },
  };
  const tools = { source: client as unknown as KubernetesClient, checked: new Set<string>() };
  return { probed, read: () => readNodeProblems(tools, nodes, signal) };
}

describe("new nodes", () => {
  const waiting = { containerStatuses: [{ state: { waiting: { reason: "ImagePullBackOff" } } }] };
  test.for<[string, Readonly<Record<string, readonly Pod[]>>, readonly string[]]>([
    ["have no problem with a ready kube-proxy on each", { [PROXY]: proxies }, []],
    [
      "name the node whose kube-proxy is not ready, and why",
      { [PROXY]: [pod("p1", "n1"), pod("p2", "n2", waiting, false)] },
      ["kube-proxy does not work on Node n2: Pod p2 is not ready, ImagePullBackOff"],
    ],
    [
      "name each node without a kube-proxy",
      {},
      [
        "kube-proxy does not work on Node n1: it has no pod there",
        "kube-proxy does not work on Node n2: it has no pod there",
      ],
    ],
    [
      "need the node part of volumes where there is one",
      { [PROXY]: proxies, [PLUGIN]: [pod("c1", "n1")] },
      ["causeway-csi-cinder-nodeplugin does not work on Node n2: it has no pod there"],
    ],
  ])("%s", async ([, pods, expected]) => expect(await cluster(pods).read()).toEqual(expected));

  test("do not count a ready pod that is being deleted", async () => {
    const leaving = pod("p2", "n2");
    leaving.metadata.deletionTimestamp = "2026-11-29T06:00:00Z";
    expect(await cluster({ [PROXY]: [pod("p1", "n1"), leaving] }).read()).toEqual([
      "kube-proxy does not work on Node n2: it has no pod there",
    ]);
  });

  test("are reached by the API server as Heat's are, and each that was reached is not probed again", async () => {
    const { read, probed } = cluster({ [PROXY]: proxies }, ["n2"]);
    for (const _ of [1, 2]) expect(await read()).toEqual([expect.stringMatching(/kubelet of Node n2 at port 10250/)]);
    expect(probed).toEqual(["n1", "n2", "old", "n2", "old"]);
  });

  test("need not be reached where Heat's are not", async () => {
    const { read, probed } = cluster({ [PROXY]: proxies }, ["n1", "n2", "old"]);
    expect(await read()).toEqual([]);
    expect(probed).toEqual(["n1", "n2", "old"]);
  });
});
