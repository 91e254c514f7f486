import { CATALOGUE_ADDONS, type Cluster } from "@causeway/api";
import { expect, test } from "vitest";
import { parseManifests } from "../manifests/parse.ts";
import { builtIn, factsOf } from "./catalogue.ts";

const cluster = (spec: Cluster["spec"]): Cluster => ({
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "web" },
  spec,
});
const endpoint = { controlPlaneEndpoint: { host: "2001:db8::1", port: 6443 } };
const network = { services: { cidrBlocks: ["10.128.0.0/16"] }, pods: { cidrBlocks: ["10.9.0.0/16"] } };
const facts = factsOf(cluster({ ...endpoint, clusterNetwork: network }), "v1.34.4");
const given = { image: "example.com/image:1", tunnelServer: "gateway.example.com" };

test("built-in add-ons follow the endpoint, the version and the networks of their cluster", () => {
  expect(facts).toEqual({
    server: "https://[2001:db8::1]:6443",
    version: "v1.34.4",
    podCidr: "10.9.0.0/16",
    serviceAddress: "10.128.0.1",
    dnsAddress: "10.128.0.10",
    dnsDomain: "cluster.local",
  });
  expect(JSON.stringify(builtIn({ name: "KubeProxy" }, facts))).toContain("registry.k8s.io/kube-proxy:v1.34.4");
  expect(JSON.stringify(builtIn({ name: "KubeProxy" }, facts))).toContain("https://[2001:db8::1]:6443");
  expect(builtIn({ name: "CoreDNS" }, facts).probes).toEqual([
    { type: "DNS", host: "10.128.0.10", port: 53, question: "kubernetes.default.svc.cluster.local" },
  ]);
});

test.for<[string, string]>([
  ["v1.33.13", "v1.12.0"],
  ["v1.34.4", "v1.12.1"],
  ["v1.99.0", "v1.12.1"],
])("CoreDNS follows Kubernetes %s, and resolves names outside the cluster", ([version, dns]) => {
  const made = JSON.stringify(builtIn({ name: "CoreDNS" }, { ...facts, version }).objects);
  expect(made).toContain(`registry.k8s.io/coredns/coredns:${dns}`);
  expect(made).toContain("forward . /etc/resolv.conf");
});

test("CoreDNS does not cache names of the cluster: its own domain, as kubeadm's file says", () => {
  const made = JSON.stringify(builtIn({ name: "CoreDNS" }, { ...facts, dnsDomain: "k8s.example.org" }).objects);
  for (const kind of ["success", "denial"]) expect(made).toContain(`disable ${kind} k8s.example.org\\n`);
});

test("images come from the registry that is chosen, with the names and versions of the built-in ones", () => {
  const imagePrefix = "registry.example.org:5000/mirror/";
  const made = (name: "CoreDNS" | "Flannel" | "KubeProxy") =>
    JSON.stringify(builtIn({ name, imagePrefix }, facts).objects);
  expect(made("KubeProxy")).toContain('"registry.example.org:5000/mirror/kube-proxy:v1.34.4"');
  expect(made("CoreDNS")).toContain('"registry.example.org:5000/mirror/coredns:v1.12.1"');
  expect(made("Flannel")).toContain('"registry.example.org:5000/mirror/flannel:v0.28.4"');
  expect(JSON.stringify(builtIn({ name: "CoreDNS", imagePrefix, image: "a:1" }, facts).objects)).toContain('"a:1"');
});

test("kube-proxy has the mode that is chosen, and runs on the nodes that are selected", () => {
  const made = (choice: object) => {
    const { objects } = builtIn({ name: "KubeProxy", ...choice }, facts);
    const [map, set] = [objects[2], objects[3]] as unknown as [
      { data: Record<string, string> },
      { spec: { template: { spec: { nodeSelector: object } } } },
    ];
    const mode = /^mode: (.*)$/m.exec(map.data["config.conf"] ?? "")?.[1];
    return [mode, set.spec.template.spec.nodeSelector];
  };
  expect(made({})).toEqual(["nftables", { "kubernetes.io/os": "linux" }]);
  expect(made({ proxyMode: "iptables", nodeSelector: { "example.org/new": "true" } })).toEqual([
    "iptables",
    { "kubernetes.io/os": "linux", "example.org/new": "true" },
  ]);
});

test("flannel has the cluster's network of pods, and reaches the API without kube-proxy", () => {
  const { objects } = builtIn({ name: "Flannel" }, facts);
  const made = JSON.stringify(objects);
  expect(made).toContain(String.raw`\"Network\": \"10.9.0.0/16\"`);
  expect(made).toContain('{"name":"KUBERNETES_SERVICE_HOST","value":"2001:db8::1"}');
  expect(made).toContain('{"name":"KUBERNETES_SERVICE_PORT","value":"6443"}');
});

test("the API proxy listens at the endpoint of Service kubernetes and names the cluster to the gateway", () => {
  const server = "https://web-5d2c.api.example.org";
  const { objects } = builtIn(
    { name: "APIProxy", image: "causeway:1", nodeAddress: "198.18.0.9" },
    { ...facts, server },
  );
  const [set] = objects as unknown as [{ spec: { template: { spec: PodSpec } } }];
  const { containers, initContainers, ...pod } = set.spec.template.spec;
  expect(pod).toMatchObject({ hostNetwork: true, automountServiceAccountToken: false });
  expect(initContainers[0]?.env).toEqual([{ name: "PREFIX", value: "198.18.0.9/32" }]);
  expect(containers[0]?.args).toEqual([
    "run",
    "api-proxy",
    "--bind-address=198.18.0.9:6443",
    "--gateways=web-5d2c.api.example.org:443",
    "--server-name=web-5d2c.api.example.org",
    "--metrics-address=127.0.0.1:10270",
  ]);
});

test("the tunnel's agent pings often enough to notice a lost connection, and seldom enough for konnectivity's server", () => {
  const { objects } = builtIn({ name: "TunnelAgent", tunnelServer: "tunnel.example.org" }, facts);
  const set = objects.find(({ kind }) => kind === "DaemonSet") as unknown as { spec: { template: { spec: PodSpec } } };
  const args = set.spec.template.spec.containers[0]?.args ?? [];
  const [, seconds] = /^--keepalive-time=(\d+)s$/.exec(args.find((arg) => arg.startsWith("--keepalive")) ?? "") ?? [];
  // The server allows one each 30 s.
  expect(Number(seconds)).toBeGreaterThan(30);
  expect(Number(seconds)).toBeLessThanOrEqual(60);
});

test("metrics-server reads kubelets whose certificates are of the cluster's authority, without rights to change anything", () => {
  const { objects } = builtIn({ name: "MetricsServer", replicas: 2 }, facts);
  const of = <T>(kind: string) => objects.filter((each) => each.kind === kind) as unknown as readonly T[];
  const [deployment] = of<{ spec: { replicas: number; template: { spec: PodSpec } } }>("Deployment");
  expect(deployment?.spec.replicas).toBe(2);
  const args = deployment?.spec.template.spec.containers[0]?.args ?? [];
  expect(args).toContain("--kubelet-certificate-authority=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt");
  expect(args.filter((arg) => arg.includes("insecure"))).toEqual([]);
  const verbs = of<{ rules: { verbs: string[] }[] }>("ClusterRole").flatMap(({ rules }) =>
    rules.flatMap((r) => r.verbs),
  );
  expect(new Set(verbs)).toEqual(new Set(["get", "list", "watch"]));
});

interface PodSpec {
  readonly containers: readonly { readonly args: readonly string[] }[];
  readonly initContainers: readonly { readonly env: readonly unknown[] }[];
}

test.for(CATALOGUE_ADDONS)("the manifests of %s are accepted as any others are", (name) => {
  const { objects } = builtIn({ name, ...given }, { ...facts, server: "https://web-5d2c.api.example.org:6443" });
  expect(parseManifests([JSON.stringify({ apiVersion: "v1", kind: "List", items: objects })])).toEqual(objects);
});

test.for<[string, () => unknown, string]>([
  ["a tunnel agent without a server", () => builtIn({ name: "TunnelAgent" }, facts), "needs tunnelServer"],
  [
    "flannel in a cluster whose pods have IPv6 addresses",
    () => builtIn({ name: "Flannel" }, { ...facts, podCidr: "fd00::/48" }),
    "needs an IPv4 network of pods",
  ],
  ["a CSI node plugin without an image", () => builtIn({ name: "CinderCSINode" }, facts), "needs image"],
  [
    "metrics-server where the API server has the metrics itself",
    () => builtIn({ name: "MetricsServer" }, { ...facts, runtime: "Embedded" }),
    "an embedded control plane has the metrics",
  ],
  ["an API proxy without an image", () => builtIn({ name: "APIProxy" }, facts), "needs image"],
  [
    "an API proxy of a cluster that is not behind a gateway",
    () => builtIn({ name: "APIProxy", ...given }, facts),
    "not a name",
  ],
  ["a cluster without an endpoint", () => factsOf(cluster({}), "v1.34.4"), "no control plane endpoint"],
  ["a cluster without a version", () => factsOf(cluster(endpoint), undefined), "version of the control plane"],
])("the catalogue of add-ons refuses %s", ([, make, why]) => {
  expect(make).toThrow(why);
});
