import { expect, test } from "vitest";
import type { Endpoint, EndpointSlice, Node, Service } from "@causeway/kubernetes";
import { endpointAddresses, podMembers } from "./endpoints.ts";
import { membersOf } from "./members.ts";

const service = (spec: Partial<Service["spec"]> = {}): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "default" },
  spec: { ports: [{ name: "http", port: 80 }], ...spec },
});
const slice = (endpoints: Endpoint[], more: Partial<EndpointSlice> = {}): EndpointSlice => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "web-1", namespace: "default" },
  addressType: "IPv4",
  ports: [{ name: "http", protocol: "TCP", port: 8080 }],
  endpoints,
  ...more,
});
const pod = (address: string, conditions: Endpoint["conditions"] = { ready: true, serving: true }): Endpoint => ({
  addresses: [address],
  conditions: { terminating: false, ...conditions },
  targetRef: { kind: "Pod", name: `pod-${address.split(".")[3] ?? address}` },
});
const ending = { ready: false, serving: true, terminating: true };
const port = { number: 80 };

test.each<[string, Service | undefined, EndpointSlice[], string[], string | undefined]>([
  [
    "ready pods, sorted, of all slices",
    service(),
    [slice([pod("10.0.0.9")]), slice([pod("10.0.0.3")])],
    ["10.0.0.3:8080", "10.0.0.9:8080"],
    undefined,
  ],
  ["each pod once", service(), [slice([pod("10.0.0.3")]), slice([pod("10.0.0.3")])], ["10.0.0.3:8080"], undefined],
  [
    "no pod that is not ready",
    service(),
    [slice([pod("10.0.0.3", { ready: false, serving: false }), pod("10.0.0.4")])],
    ["10.0.0.4:8080"],
    undefined,
  ],
  [
    "no pod that is ending, while another is ready",
    service(),
    [slice([pod("10.0.0.3", ending), pod("10.0.0.4")])],
    ["10.0.0.4:8080"],
    undefined,
  ],
  [
    "no pod that is ending, though its Service publishes those that are not ready",
    service(),
    [slice([pod("10.0.0.3", { ready: true, serving: true, terminating: true }), pod("10.0.0.4")])],
    ["10.0.0.4:8080"],
    undefined,
  ],
  [
    "pods that are ending and serve, where no other is ready",
    service(),
    [slice([pod("10.0.0.3", ending), pod("10.0.0.4", { ready: false, serving: false })])],
    ["10.0.0.3:8080"],
    undefined,
  ],
  [
    "pods without conditions, which are ready",
    service(),
    [slice([{ addresses: ["10.0.0.3"] }])],
    ["10.0.0.3:8080"],
    undefined,
  ],
  [
    "the ports of the slice by the name of the Service's port",
    service(),
    [
      slice([pod("10.0.0.3")], {
        ports: [
          { name: "other", port: 1 },
          { name: "http", port: 81 },
        ],
      }),
    ],
    ["10.0.0.3:81"],
    undefined,
  ],
  [
    "ports without a name",
    service({ ports: [{ port: 80 }] }),
    [slice([pod("10.0.0.3")], { ports: [{ port: 8080 }] })],
    ["10.0.0.3:8080"],
    undefined,
  ],
  [
    "pods of two revisions with two container ports",
    service(),
    [slice([pod("10.0.0.3")]), slice([pod("10.0.0.4")], { ports: [{ name: "http", port: 9090 }] })],
    ["10.0.0.3:8080", "10.0.0.4:9090"],
    undefined,
  ],
  [
    "none of UDP",
    service(),
    [slice([pod("10.0.0.3")], { ports: [{ name: "http", protocol: "UDP", port: 53 }] })],
    [],
    undefined,
  ],
  [
    "none of another family than the first of the Service",
    service({ ipFamilies: ["IPv4", "IPv6"] }),
    [slice([pod("10.0.0.3")]), slice([pod("fd00::3")], { addressType: "IPv6" })],
    ["10.0.0.3:8080"],
    undefined,
  ],
  [
    "pods of IPv6",
    service({ ipFamilies: ["IPv6"] }),
    [slice([pod("10.0.0.3")]), slice([pod("fd00::3")], { addressType: "IPv6" })],
    ["fd00::3:8080"],
    undefined,
  ],
  [
    "none at addresses of the amphora or its hypervisor",
    service(),
    [slice([pod("127.0.0.1"), pod("169.254.169.254"), pod("10.0.0.3")])],
    ["10.0.0.3:8080"],
    "has an endpoint at 127.0.0.1, which may not be a member",
  ],
  [
    "none at what is not an address",
    service(),
    [slice([pod("pod.example")])],
    [],
    "has an endpoint at pod.example, which may not be a member",
  ],
  ["none of a Service that does not exist", undefined, [slice([pod("10.0.0.3")])], [], "does not exist"],
  [
    "none of another port",
    service({ ports: [{ name: "http", port: 81 }] }),
    [slice([pod("10.0.0.3")])],
    [],
    "has no port 80",
  ],
  [
    "none of a Service without pods",
    service({ type: "ExternalName" }),
    [],
    [],
    "is of type ExternalName, which has no pods",
  ],
  ["none without slices", service(), [], [], undefined],
])("members on pods are read from EndpointSlices: %s", (_, of, slices, expected, problem) => {
  const found = podMembers(of, port, slices);
  expect(found.members.map((member) => `${member.address}:${member.protocol_port}`)).toEqual(expected);
  expect(found.problem).toBe(problem);
});

test("members on pods are named by their pods, and are 1,000 at most", () => {
  expect(podMembers(service(), port, [slice([pod("10.0.0.3")])]).members).toEqual([
    { name: "pod-3", address: "10.0.0.3", protocol_port: 8080 },
  ]);
  const many = Array.from({ length: 1_200 }, (_, i) => pod(`10.1.${i >> 8}.${i & 255}`));
  const { members, problem } = podMembers(service(), port, [slice(many)]);
  expect([members.length, problem]).toEqual([1_000, "has more than 1000 endpoints; the others are left out"]);
});

test("members have one order whatever the order of slices and endpoints", () => {
  const endpoints = ["10.0.0.7", "10.0.0.3", "10.0.0.12"].map((address) => pod(address));
  const forward = podMembers(service(), port, [slice(endpoints.slice(0, 1)), slice(endpoints.slice(1))]);
  const backward = podMembers(service(), port, [slice(endpoints.toReversed())]);
  expect(forward).toEqual(backward);
});

test("ports of pods are opened before they are ready, and none at forbidden addresses", () => {
  const slices = [slice([pod("10.0.0.3"), pod("10.0.0.2", { ready: false }), pod("127.0.0.1")])];
  expect(endpointAddresses([slices, slices])).toEqual(["10.0.0.2", "10.0.0.3"]);
});

test("members are at node ports unless pods are chosen", () => {
  const node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n" },
    status: { addresses: [{ type: "InternalIP", address: "10.9.0.1" }] },
  } as Node;
  const services = new Map([["default/web", service({ ports: [{ name: "http", port: 80, nodePort: 30_080 }] })]]);
  const facts = { nodes: [node], services, slices: new Map([["default/web", [slice([pod("10.0.0.3")])]]]) };
  const to = { service: "default/web", port };
  expect(membersOf(facts, undefined, to).members).toEqual([{ name: "n", address: "10.9.0.1", protocol_port: 30_080 }]);
  expect(membersOf(facts, "nodes", to)).toEqual(membersOf(facts, undefined, to));
  expect(membersOf(facts, "pods", to).members.map(({ address }) => address)).toEqual(["10.0.0.3"]);
  const bare = { ...facts, services: new Map([["default/web", service()]]) };
  expect(membersOf(bare, "nodes", to).problem).toContain("has no node port for port 80");
  expect(membersOf(bare, "pods", to).members).toHaveLength(1);
});
