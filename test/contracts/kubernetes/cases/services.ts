import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { at, done, invalid, made } from "./shorthands.ts";

const PORTS = [{ port: 80 }];

function service(name: string, spec: Json): Json {
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec };
}

const REFUSED: readonly (readonly [string, Json, readonly string[]])[] = [
  ["without ports", {}, ["spec.ports: Required value"]],
  [
    "with two ports that have no names",
    { ports: [{ port: 80 }, { port: 81 }] },
    ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
  ],
  [
    "with port 0",
    { ports: [{ port: 0 }] },
    [
      "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
      "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
    ],
  ],
  [
    "of no known type",
    { ports: PORTS, type: "Odd" },
    ['spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"'],
  ],
  [
    "with an address of another network",
    { ports: PORTS, clusterIP: "1.2.3.4" },
    [
      'spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided network does not match the current range',
    ],
  ],
  [
    "with an address that is none",
    { ports: PORTS, clusterIP: "x" },
    ['spec.clusterIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
  ],
  [
    "of type ClusterIP with a node port",
    { ports: [{ port: 80, nodePort: 30_100 }] },
    ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
  ],
  [
    "with a node port out of range",
    { ports: [{ port: 80, nodePort: 80 }], type: "NodePort" },
    [
      "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767",
    ],
  ],
  ["of type ExternalName without a name", { type: "ExternalName" }, ["spec.externalName: Required value"]],
  [
    "with an unknown protocol",
    { ports: [{ port: 80, protocol: "X" }] },
    ['spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"'],
  ],
  [
    "with an unknown session affinity",
    { ports: PORTS, sessionAffinity: "X" },
    ['spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"'],
  ],
];

export const services: CaseGroup = {
  title: "Services",
  cases: [
    {
      name: "Services get an address of the service network and their defaults",
      async run({ api, core }) {
        const body = await made(api.post(core("services"), service("a", { ports: PORTS })));
        const address = String(at(body, "spec", "clusterIP"));
        expect(address).toMatch(/^10\.(9[6-9]|10\d|11[01])\./);
        expect(body["spec"]).toEqual({
          ports: [{ protocol: "TCP", port: 80, targetPort: 80 }],
          clusterIP: address,
          clusterIPs: [address],
          type: "ClusterIP",
          sessionAffinity: "None",
          ipFamilies: ["IPv4"],
          ipFamilyPolicy: "SingleStack",
          internalTrafficPolicy: "Cluster",
        });
        expect(body["status"]).toEqual({ loadBalancer: {} });
      },
    },
    {
      name: "Services of type NodePort get a port of the range, and keep it",
      async run({ api, core }) {
        const body = await made(api.post(core("services"), service("a", { type: "NodePort", ports: PORTS })));
        const port = Number(at(body, "spec", "ports", 0, "nodePort"));
        expect(port).toBeGreaterThanOrEqual(30_000);
        expect(port).toBeLessThanOrEqual(32_767);
        expect(at(body, "spec", "externalTrafficPolicy")).toBe("Cluster");
        const next = await done(
          api.patch(core("services", "a"), "merge", {
            spec: { ports: [{ port: 80, protocol: "TCP", targetPort: 81 }] },
          }),
        );
        expect(at(next, "spec", "ports", 0, "nodePort")).toBe(port);
      },
    },
    {
      name: "Services of type LoadBalancer get node ports, unless they want none",
      async run({ api, core }) {
        const balanced = await made(api.post(core("services"), service("a", { type: "LoadBalancer", ports: PORTS })));
        expect(at(balanced, "spec", "ports", 0, "nodePort")).toEqual(expect.any(Number));
        expect(at(balanced, "spec", "allocateLoadBalancerNodePorts")).toBe(true);
        const spec = { type: "LoadBalancer", ports: PORTS, allocateLoadBalancerNodePorts: false };
        const direct = await made(api.post(core("services"), service("b", spec)));
        expect(at(direct, "spec", "ports", 0, "nodePort")).toBeUndefined();
      },
    },
    {
      name: "Services with local traffic get a port for health checks",
      async run({ api, core }) {
        const spec = { type: "LoadBalancer", ports: PORTS, externalTrafficPolicy: "Local" };
        const body = await made(api.post(core("services"), service("a", spec)));
        expect(at(body, "spec", "healthCheckNodePort")).toEqual(expect.any(Number));
      },
    },
    {
      name: "Services become ClusterIP and lose their node ports",
      async run({ api, core }) {
        await made(api.post(core("services"), service("a", { type: "NodePort", ports: PORTS })));
        const body = await done(api.patch(core("services", "a"), "merge", { spec: { type: "ClusterIP" } }));
        expect(at(body, "spec", "ports", 0, "nodePort")).toBeUndefined();
        expect(at(body, "spec", "externalTrafficPolicy")).toBeUndefined();
      },
    },
    {
      name: "Services become ExternalName and lose their address",
      async run({ api, core }) {
        await made(api.post(core("services"), service("a", { ports: PORTS })));
        const body = await done(
          api.patch(core("services", "a"), "merge", { spec: { type: "ExternalName", externalName: "a.b" } }),
        );
        expect(body["spec"]).toEqual({
          ports: [{ protocol: "TCP", port: 80, targetPort: 80 }],
          type: "ExternalName",
          sessionAffinity: "None",
          externalName: "a.b",
        });
      },
    },
    {
      name: "Services do not share a node port or an address",
      async run({ api, core }) {
        const one = await made(api.post(core("services"), service("a", { type: "NodePort", ports: PORTS })));
        const nodePort = at(one, "spec", "ports", 0, "nodePort");
        invalid(
          await api.post(core("services"), service("b", { type: "NodePort", ports: [{ port: 80, nodePort }] })),
          `spec.ports[0].nodePort: Invalid value: ${String(nodePort)}: provided port is already allocated`,
        );
        const ip = String(at(one, "spec", "clusterIP"));
        invalid(
          await api.post(core("services"), service("b", { ports: PORTS, clusterIP: ip })),
          `spec.clusterIPs: Invalid value: ["${ip}"]: failed to allocate IP ${ip}: provided IP is already allocated`,
        );
        await done(api.delete(core("services", "a")));
        await made(api.post(core("services"), service("b", { ports: PORTS, clusterIP: ip })));
      },
    },
    {
      name: "Services do not change their address",
      async run({ api, core }) {
        await made(api.post(core("services"), service("a", { ports: PORTS })));
        invalid(
          await api.patch(core("services", "a"), "merge", { spec: { clusterIP: "10.96.0.77" } }),
          'spec.clusterIPs[0]: Invalid value: ["10.96.0.77"]: may not change once set',
        );
      },
    },
    {
      name: "the status of a Service is written by its subresource alone",
      async run({ api, core }) {
        await made(api.post(core("services"), service("a", { type: "LoadBalancer", ports: PORTS })));
        const status = { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } };
        const plain = await done(api.patch(core("services", "a"), "merge", status));
        expect(plain["status"]).toEqual({ loadBalancer: {} });
        const written = await done(api.patch(`${core("services", "a")}/status`, "merge", status));
        expect(written["status"]).toEqual({ loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" }] } });
      },
    },
    ...REFUSED.map(([what, spec, causes]) => ({
      name: `Services ${what} are refused`,
      async run({ api, core }: Context) {
        invalid(await api.post(core("services"), service("a", spec)), ...causes);
      },
    })),
  ],
};
