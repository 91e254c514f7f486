import type { OpenStackDeploymentSpec } from "@causeway/api";
import type { KubeObject } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { desire, named, podOf } from "../testing/rendered.ts";
import type { NetworkPolicy } from "./types.ts";

describe("the canary", () => {
  const canary = { image: "cirros", flavor: "tiny" };
  const external = { network: "public", cidr: "203.0.113.0/24" };
  const of = (more: Partial<OpenStackDeploymentSpec>) => {
    const { all } = desire(more);
    const deployment = named(all, "Deployment", "cloud-canary");
    return { deployment, policy: named(all, "NetworkPolicy", "cloud-canary") as NetworkPolicy | undefined };
  };

  test("is not there unless the deployment asks for it", () => {
    expect(of({})).toEqual({ deployment: undefined, policy: undefined });
  });

  test("reaches the APIs and the floating IPs of its network, and nothing else", () => {
    const { policy, deployment } = of({ canary: { ...canary, external } });
    const blocks = (policy?.spec.egress ?? []).flatMap(({ to = [] }) => to).filter((peer) => "ipBlock" in peer);
    expect(blocks).toEqual([{ ipBlock: { cidr: external.cidr } }]);
    expect(deployment && podOf(deployment).spec["securityContext"]).toMatchObject({
      runAsNonRoot: true,
      sysctls: [{ name: "net.ipv4.ping_group_range", value: "42424 42424" }],
    });
    const without = of({ canary }).policy;
    expect(JSON.stringify(without)).not.toContain("ipBlock");
  });

  test("needs Nova, and says so", () => {
    const services = (["nova", "neutron", "octavia", "heat", "manila"] as const).map((name) => ({
      name,
      enabled: false,
    }));
    expect(() => desire({ canary, services })).toThrow(/canary needs .*nova-api/);
  });
});

const commandOf = (object: KubeObject): readonly string[] => podOf(object).spec.containers[0]?.command ?? [];

describe("metrics of OpenStack's services", () => {
  test("are read by one namespace alone, from brokers and APIs always and from databases and caches where exporters are wanted", () => {
    const marked = (more: Partial<OpenStackDeploymentSpec>) =>
      desire(more)
        .workloads.filter(({ object }) => podOf(object).metadata?.labels?.["openstack.causeway.dev/metrics"] === "yes")
        .map(({ component }) => component);
    expect(marked({})).toEqual([]);
    const workers = desire()
      .catalogue.components.filter(({ probe }) => probe?.ask === "rpc")
      .flatMap(({ name }) => (name === "nova-compute" ? [name, name] : [name]));
    expect(workers.length).toBeGreaterThan(8);
    const bare = marked({ monitoring: { namespace: "monitoring" } });
    const apis = desire().workloads.filter(({ object }) => commandOf(object).includes("/programs/front.py"));
    expect(apis.length).toBeGreaterThan(10);
    expect(bare).toHaveLength(workers.length + apis.length + 1);
    expect(new Set(bare)).toEqual(new Set(["rabbitmq", ...workers, ...apis.map(({ component }) => component)]));
    const all = { monitoring: { namespace: "monitoring", exporters: true } };
    const network = ["openvswitch", "ovn-controller", "ovn-northd", "ovn-nb", "ovn-sb"];
    expect(new Set(marked(all))).toEqual(new Set(["mariadb", "memcached", ...network, ...bare]));
    const policy = named(desire(all).all, "NetworkPolicy", "cloud-mariadb") as NetworkPolicy;
    expect(policy.spec.ingress).toContainEqual({
      from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
      ports: [{ port: 9104, protocol: "TCP" }],
    });
  });

  test("of an API come from the program in front of it, on a port of their own that one namespace may read", () => {
    const { workloads, all } = desire({ monitoring: { namespace: "monitoring" } });
    const api = workloads.find(({ component }) => component === "glance-api");
    const [container] = api ? podOf(api.object).spec.containers : [];
    expect(container).toMatchObject({
      ports: [
        { name: "api", containerPort: 9292 },
        { name: "metrics", containerPort: 9478 },
      ],
    });
    expect(container?.["env"]).toEqual(
      expect.arrayContaining([
        { name: "FRONT_METRICS", value: "9478" },
        { name: "DEPLOYMENT", value: "openstack/cloud" },
        { name: "COMPONENT", value: "glance-api" },
      ]),
    );
    const policy = named(all, "NetworkPolicy", "cloud-glance-api") as NetworkPolicy;
    expect(policy.spec.ingress).toContainEqual({
      from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "monitoring" } } }],
      ports: [{ port: 9478, protocol: "TCP" }],
    });
    expect(JSON.stringify(desire().workloads)).not.toContain("FRONT_METRICS");
  });

  test("of Open vSwitch and OVN come from their sockets, by programs that may do nothing else on their host", () => {
    const { workloads } = desire({ monitoring: { namespace: "monitoring", exporters: true } });
    interface Exporter {
      readonly name: string;
      readonly command: readonly string[];
      readonly securityContext: { readonly capabilities: object };
      readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    }
    const found = workloads.flatMap(({ component, object }) => {
      const { initContainers = [], volumes = [] } = podOf(object).spec as unknown as {
        initContainers?: Exporter[];
        volumes?: { name: string }[];
      };
      const exporter = initContainers.find(({ command }) => command.includes("/programs/ovn-exporter.py"));
      return exporter ? [{ component, exporter, volumes: volumes.map(({ name }) => name) }] : [];
    });
    // Two groups of compute nodes, and one of network nodes.
    expect(found).toHaveLength(9);
    for (const { exporter, volumes } of found) {
      expect(exporter.securityContext.capabilities).toEqual({ drop: ["ALL"] });
      expect(volumes).toEqual(expect.arrayContaining(exporter.volumeMounts.map(({ name }) => name)));
      expect(exporter.volumeMounts.map(({ mountPath }) => mountPath)).toContainEqual(
        expect.stringMatching(/^\/run(\/ovn)?$/),
      );
    }
    expect(new Set(found.map(({ exporter }) => exporter.command.at(-1)))).toEqual(
      new Set(["switch", "controller", "northd", "nb", "sb"]),
    );
  });
});
