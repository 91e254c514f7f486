import type { ConfigMap, Deployment } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import type { TokenIssuers } from "../runtime.ts";
import { networkPolicies } from "./objects/network.ts";
import { plan } from "./plan.ts";
import { now, PlayedCluster } from "./testing/played-cluster.ts";
import { specOf } from "./testing/spec.ts";
import type { NetworkPolicy } from "./types.ts";

const issuer = (url: string): TokenIssuers[number] => ({
  issuer: { url, audiences: ["web"] },
  claimMappings: { username: { claim: "sub", prefix: "oidc:" } },
});
const [one, two] = [issuer("https://one.test"), issuer("https://two.test:8443")];
const believing = (...jwt: TokenIssuers) => specOf({ authentication: { jwt } });
const issuerNetworks = ["192.0.2.0/24"];

const filesOf = (cluster: PlayedCluster): Record<string, string> =>
  (cluster.live.get("ConfigMap/kube-apiserver") as ConfigMap).data ?? {};
const commandOf = (cluster: PlayedCluster): readonly string[] =>
  (cluster.live.get("Deployment/kube-apiserver") as Deployment).spec.template.spec.containers[0]?.command ?? [];
const urlsIn = (text = "{}"): string[] =>
  (JSON.parse(text) as { jwt: TokenIssuers }).jwt.map((each) => each.issuer.url);

test("another issuer changes a ConfigMap and a NetworkPolicy, and replaces no pod; so does the last one that goes", () => {
  const cluster = new PlayedCluster({ issuerNetworks });
  cluster.complete(believing(one));
  const before = cluster.live.get("Deployment/kube-apiserver");
  for (const [spec, urls] of [
    [believing(one, two), ["https://one.test", "https://two.test:8443"]],
    [believing(two), ["https://two.test:8443"]],
    [believing(), []],
  ] as const) {
    cluster.performed.splice(0);
    cluster.complete(spec);
    expect(urlsIn(filesOf(cluster)["authentication-v1beta1.json"])).toEqual(urls);
    expect(urlsIn(filesOf(cluster)["authentication-v1.json"])).toEqual(urls);
    expect(cluster.performed.toSorted()).toEqual([
      "apply ConfigMap/kube-apiserver",
      "apply NetworkPolicy/kube-apiserver",
    ]);
    expect(cluster.live.get("Deployment/kube-apiserver")).toEqual(before);
  }
});

test("each version reads its own file, so that both versions of an upgrade start", () => {
  const cluster = new PlayedCluster({ issuerNetworks });
  cluster.complete(believing(one));
  expect(commandOf(cluster)).toContain("--authentication-config=/etc/kubernetes/config/authentication-v1beta1.json");
  const files = filesOf(cluster);
  cluster.complete({ ...believing(one), version: "v1.34.1" });
  expect(commandOf(cluster)).toContain("--authentication-config=/etc/kubernetes/config/authentication-v1.json");
  expect(filesOf(cluster)).toEqual(files);
  expect(JSON.parse(files["authentication-v1beta1.json"] ?? "")).toMatchObject({
    apiVersion: "apiserver.config.k8s.io/v1beta1",
  });
});

test("a control plane without the field has no such flag, file or rule", () => {
  const cluster = new PlayedCluster({ issuerNetworks });
  cluster.complete(specOf());
  expect(commandOf(cluster).join(" ")).not.toContain("--authentication-config");
  expect(Object.keys(filesOf(cluster))).toEqual(["audit-policy.yaml"]);
  expect(egressOf([], issuerNetworks)).toEqual([]);
});

function egressOf(jwt: TokenIssuers, networks: readonly string[]) {
  const settings = { owner: "management", issuerNetworks: networks };
  const policies = networkPolicies(believing(...jwt), "hcp-web", settings);
  const rules = policies.find(({ metadata }) => metadata.name === "kube-apiserver")?.spec.egress ?? [];
  return rules.filter(({ to }) => to?.some(({ ipBlock }) => ipBlock !== undefined));
}

test.for<[networks: readonly string[], blocks: readonly object[]]>([
  [["192.0.2.0/24"], [{ cidr: "192.0.2.0/24" }]],
  [
    ["0.0.0.0/0", "::/0"],
    [
      { cidr: "0.0.0.0/0", except: ["169.254.0.0/16"] },
      { cidr: "::/0", except: ["fe80::/10"] },
    ],
  ],
  [["169.254.7.0/24"], [{ cidr: "169.254.7.0/24" }]],
])(
  "API servers may connect to issuers in %s, at the issuers' ports, and to no metadata service",
  ([networks, blocks]) => {
    const tcp = (port: number) => ({ port, protocol: "TCP" });
    expect(egressOf([one, two, issuer("https://three.test")], networks)).toEqual([
      { to: blocks.map((ipBlock) => ({ ipBlock })), ports: [tcp(443), tcp(8443)] },
    ]);
  },
);

/** What the policy of API servers permits by address. */
function blocksOf({ live }: PlayedCluster): string[] {
  const { egress = [] } = (live.get("NetworkPolicy/kube-apiserver") as NetworkPolicy).spec;
  return egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock?.cidr ?? []));
}

test.for<[title: string, networks: readonly string[], blocks: readonly string[], request: object]>([
  ["all networks", [], ["10.6.0.0/16"], {}],
  ["one of two", ["192.0.2.0/24"], ["10.6.0.0/16", "192.0.2.0/24"], { version: "v1.20.0" }],
  ["none of two", ["192.0.2.0/24", "::/0"], ["10.6.0.0/16", "192.0.2.0/24", "::/0"], { version: "v1.20.0" }],
])("of a refused request %s that the operator withdraws are closed, and nothing else is changed", (row) => {
  const [, networks, blocks, request] = row;
  const settings = { nodeNetworks: ["10.6.0.0/16"], issuerNetworks: ["192.0.2.0/24", "::/0"] };
  const cluster = new PlayedCluster(settings);
  cluster.complete(believing(one));
  cluster.performed.splice(0);
  cluster.settings = { ...cluster.settings, issuerNetworks: networks };
  const spec = { ...believing(one, two), ...request };
  cluster.complete(spec);
  expect(plan(cluster.observe(spec), now).status.problem?.actor).not.toBe("none");
  expect(blocksOf(cluster)).toEqual(blocks);
  expect(cluster.performed).toEqual(networks.length === 2 ? [] : ["apply NetworkPolicy/kube-apiserver"]);
  // Back again, they are open as before.
  cluster.settings = { ...cluster.settings, ...settings };
  cluster.complete(believing(one));
  expect(blocksOf(cluster)).toEqual(["10.6.0.0/16", "192.0.2.0/24", "::/0"]);
});

test("the policy of a namespace that belongs to another, or is being deleted, is left as it is", () => {
  const cluster = new PlayedCluster({ issuerNetworks });
  cluster.complete(believing(one));
  cluster.settings = { ...cluster.settings, issuerNetworks: [] };
  const { namespace, ...rest } = cluster.observe(believing(one));
  const metadata = { name: "hcp-web", ...namespace?.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" };
  const deleted = { ...rest, namespace: { apiVersion: "v1" as const, kind: "Namespace" as const, metadata } };
  expect(plan(deleted, now)).toMatchObject({ steps: [], status: { problem: { code: "PODS_NAMESPACE_DELETED" } } });
  cluster.settings = { ...cluster.settings, owner: "another" };
  const observed = { ...cluster.observe(believing(one)), namespaceName: "hcp-web" };
  expect(plan(observed, now)).toMatchObject({ steps: [], status: { problem: { code: "PODS_NAMESPACE_FOREIGN" } } });
});
