import { describe, expect, it } from "vitest";
import { refusedCount, refusedNetworks, refusedSubnet } from "./networks.ts";

const byDefault = (label: string, cidr: string) => `${label}=${cidr} (the default)`;

describe("the networks of a cluster", () => {
  it.each<[string, Record<string, string>, number, string | undefined]>([
    ["work as they are by default", {}, 100, undefined],
    [
      "are refused with nodes inside the range of pods",
      { fixed_subnet_cidr: "10.100.3.0/24" },
      1,
      `The networks of nodes and pods overlap: fixed_subnet_cidr=10.100.3.0/24 and ${byDefault("calico_ipv4pool", "10.100.0.0/16")}.`,
    ],
    [
      "are refused with services in the range of nodes",
      { service_cluster_ip_range: "10.0.0.0/24" },
      1,
      `The networks of nodes and services overlap: ${byDefault("fixed_subnet_cidr", "10.0.0.0/24")} and service_cluster_ip_range=10.0.0.0/24.`,
    ],
    [
      "are refused with services in the range of pods",
      { flannel_network_cidr: "10.42.0.0/16", service_cluster_ip_range: "10.42.0.0/16" },
      1,
      "The networks of pods and services overlap: flannel_network_cidr=10.42.0.0/16 and service_cluster_ip_range=10.42.0.0/16.",
    ],
    [
      "are refused with two addresses for services",
      { service_cluster_ip_range: "10.254.0.0/31" },
      1,
      "The network of services needs a prefix of /12 to /28: service_cluster_ip_range=10.254.0.0/31.",
    ],
    ["work with the fewest addresses for services", { service_cluster_ip_range: "10.254.0.0/28" }, 1, undefined],
    ["are refused with more addresses than kube-apiserver takes", { service_cluster_ip_range: "fd00::/64" }, 1, ""],
    [
      "are refused with more nodes than their subnet has addresses",
      { fixed_subnet_cidr: "10.0.0.0/30" },
      3,
      "The network of nodes has room for 1 of the 3 nodes that are wanted: fixed_subnet_cidr=10.0.0.0/30.",
    ],
    ["work with one node in the smallest subnet", { fixed_subnet_cidr: "10.0.0.0/30" }, 1, undefined],
    [
      "are refused with more nodes than networks of pods",
      { calico_ipv4pool: "10.100.0.0/23" },
      3,
      "The network of pods has room for 2 of the 3 nodes that are wanted: calico_ipv4pool=10.100.0.0/23.",
    ],
    ["are refused with less than a node's network of pods", { calico_ipv4pool: "10.100.0.0/25" }, 1, ""],
    ["take an empty label as one that is not given", { fixed_subnet_cidr: "", calico_ipv4pool: "" }, 1, undefined],
  ])("%s", (_, labels, nodes, refusal) => {
    const found = refusedNetworks({ labels, isFixed: false, nodes });
    if (refusal === "") return expect(found).toContain("The network of");
    expect(found).toBe(refusal);
  });

  it("do not have the nodes' range where these are in a network that exists", () => {
    const labels = { fixed_subnet_cidr: "10.100.3.0/30" };
    expect(refusedNetworks({ labels, isFixed: true, nodes: 9 })).toBe(undefined);
  });

  it.each([
    [
      "10.100.7.0/24",
      `and pods overlap: fixed_subnet own with 10.100.7.0/24 and ${byDefault("calico_ipv4pool", "10.100.0.0/16")}.`,
    ],
    ["10.0.0.0/8", "and pods overlap: fixed_subnet own with 10.0.0.0/8 and "],
    ["10.254.255.0/28", `and services overlap: fixed_subnet own with 10.254.255.0/28 and `],
  ])("are refused where the nodes' own subnet has %s", (cidr, refusal) => {
    const found = refusedSubnet({}, { attribute: "fixed_subnet", name: "own", cidr });
    expect(found).toContain(`The networks of nodes ${refusal}`);
  });

  it.each(["10.0.0.0/24", "192.168.0.0/16", "fd00::/64"])("work where the nodes' own subnet has %s", (cidr) => {
    expect(refusedSubnet({}, { attribute: "fixed_network", name: "own", cidr })).toBe(undefined);
  });

  it("have room for nodes that come later or not", () => {
    const labels = { fixed_subnet_cidr: "10.0.0.0/29" };
    const [fits, not] = [5, 6].map((nodes) => refusedCount({ labels, isFixed: false, nodes }));
    expect(fits).toBe(undefined);
    expect(not).toContain("has room for 5 of the 6 nodes that are wanted");
  });
});
