import { expect } from "vitest";
import type { CaseGroup, Context, Json } from "../interface.ts";
import { at, done, eventually, gone, invalid, made } from "./shorthands.ts";

const API = "/apis/networking.k8s.io/v1";
const CIDRS = `${API}/servicecidrs`;
const ADDRESSES = `${API}/ipaddresses`;
const PORTS = [{ port: 80 }];

function service(name: string, spec: Json = {}): Json {
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: PORTS, ...spec } };
}

function cidr(name: string, ...cidrs: readonly string[]): Json {
  return { apiVersion: "networking.k8s.io/v1", kind: "ServiceCIDR", metadata: { name }, spec: { cidrs } };
}

function address(name: string, spec: Json): Json {
  return { apiVersion: "networking.k8s.io/v1", kind: "IPAddress", metadata: { name }, spec };
}

/** Rules of families on a cluster that has IPv4 alone: the spec, and what is wrong with it. */
const FAMILIES: readonly (readonly [string, Json, readonly string[]])[] = [
  [
    "that demand two families",
    { ipFamilyPolicy: "RequireDualStack" },
    ['spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services'],
  ],
  [
    "that are names and have families",
    { type: "ExternalName", externalName: "a.b", ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" },
    [
      "spec.ipFamilies: Forbidden: may not be set for ExternalName services",
      "spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services",
    ],
  ],
  [
    "of a family that is not there",
    { ipFamilies: ["IPv6"] },
    ['spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'],
  ],
  [
    "of an unknown IP family",
    { ipFamilies: ["IPv5"] },
    ['spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"'],
  ],
  [
    "of one family twice",
    { ipFamilies: ["IPv4", "IPv4"], ipFamilyPolicy: "PreferDualStack" },
    ['spec.ipFamilies[1]: Duplicate value: "IPv4"'],
  ],
  [
    "of one family with two",
    { ipFamilies: ["IPv4", "IPv6"], ipFamilyPolicy: "SingleStack" },
    [
      "spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
    ],
  ],
  [
    "with an unknown IP family policy",
    { ipFamilyPolicy: "Odd" },
    [
      'spec.ipFamilyPolicy: Unsupported value: "Odd": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
    ],
  ],
  [
    "with two addresses of one family",
    { clusterIP: "10.96.9.9", clusterIPs: ["10.96.9.9", "10.96.9.10"], ipFamilyPolicy: "PreferDualStack" },
    ['spec.clusterIPs: Invalid value: ["10.96.9.9","10.96.9.10"]: may specify no more than one IP for each IP family'],
  ],
  [
    "whose two fields differ",
    { clusterIP: "10.96.9.9", clusterIPs: ["10.96.9.8"] },
    ['spec.clusterIPs: Invalid value: ["10.96.9.8"]: first value must match `clusterIP`'],
  ],
  [
    "with the newer field alone",
    { clusterIPs: ["10.96.9.8"] },
    ['spec.clusterIPs: Invalid value: ["10.96.9.8"]: must be empty when `clusterIP` is not specified'],
  ],
  [
    "with an address of another family than they say",
    { clusterIP: "10.96.9.8", ipFamilies: ["IPv6"] },
    ['spec.clusterIPs[0]: Invalid value: "10.96.9.8": expected an IPv6 value as indicated by `ipFamilies[0]`'],
  ],
  [
    "with an address of a family that is not there",
    { clusterIP: "fd00::5" },
    ['spec.clusterIPs[0]: Invalid value: ["fd00::5"]: IPv6 is not configured on this cluster'],
  ],
];

const BAD_CIDRS: readonly (readonly [string, readonly string[], string])[] = [
  ["without networks", [], "spec.cidrs: Required value: at least one CIDR required"],
  [
    "with three networks",
    ["10.1.0.0/24", "10.2.0.0/24", "10.3.0.0/24"],
    'spec.cidrs: Invalid value: {"CIDRs":["10.1.0.0/24","10.2.0.0/24","10.3.0.0/24"]}: may only hold up to 2 values',
  ],
  [
    "with two networks of one family",
    ["10.1.0.0/24", "10.2.0.0/24"],
    'spec.cidrs: Invalid value: ["10.1.0.0/24","10.2.0.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
  ],
  [
    "with host bits",
    ["10.1.0.1/24"],
    'spec.cidrs[0]: Invalid value: "10.1.0.1/24": must not have bits set beyond the prefix length',
  ],
  [
    "with what is none",
    ["x"],
    'spec.cidrs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
  ],
];

const parent = (namespace: string, name: string): Json => ({ parentRef: { resource: "services", namespace, name } });

export const serviceRanges: CaseGroup = {
  title: "IP ranges of Services",
  cases: [
    {
      name: "the network of the cluster is an object",
      async run({ api }) {
        const body = await done(api.get(`${CIDRS}/kubernetes`));
        expect(body["spec"]).toEqual({ cidrs: ["10.96.0.0/12"] });
        expect(at(body, "status", "conditions", 0)).toMatchObject({
          type: "Ready",
          status: "True",
          message: "Kubernetes default Service CIDR is ready",
        });
      },
    },
    {
      name: "every address of a Service is an object while it lives",
      async run({ api, core, namespace }) {
        const body = await made(api.post(core("services"), service("a")));
        const ip = String(at(body, "spec", "clusterIP"));
        const found = await done(api.get(`${ADDRESSES}/${ip}`));
        expect(at(found, "metadata", "labels")).toEqual({
          "ipaddress.kubernetes.io/ip-family": "IPv4",
          "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
        });
        expect(found["spec"]).toEqual(parent(namespace, "a"));
        await done(api.delete(core("services", "a")));
        await gone(api, `${ADDRESSES}/${ip}`);
      },
    },
    {
      name: "the kubernetes Service has an IPAddress",
      async run({ api }) {
        const found = await done(api.get(`${ADDRESSES}/10.96.0.1`));
        expect(found["spec"]).toEqual(parent("default", "kubernetes"));
      },
    },
    {
      name: "headless Services and those without an address have no IPAddress",
      async run({ api, core, namespace }) {
        await made(api.post(core("services"), service("a", { clusterIP: "None" })));
        await made(api.post(core("services"), service("b", { type: "ExternalName", externalName: "x.y" })));
        const { body } = await api.get(ADDRESSES);
        const parents = (body["items"] as Json[]).map((i) => at(i, "spec", "parentRef", "namespace"));
        expect(parents).not.toContain(namespace);
      },
    },
    {
      name: "a Service that becomes ExternalName gives its address back",
      async run({ api, core }) {
        const body = await made(api.post(core("services"), service("a")));
        await done(api.patch(core("services", "a"), "merge", { spec: { type: "ExternalName", externalName: "x.y" } }));
        await gone(api, `${ADDRESSES}/${String(at(body, "spec", "clusterIP"))}`);
      },
    },
    {
      name: "a dry run of a Service takes no address",
      async run({ api, core }) {
        const body = await made(api.post(`${core("services")}?dryRun=All`, service("a", { clusterIP: "10.96.44.44" })));
        expect(at(body, "spec", "clusterIP")).toBe("10.96.44.44");
        expect((await api.get(`${ADDRESSES}/10.96.44.44`)).code).toBe(404);
        await made(api.post(core("services"), service("b", { clusterIP: "10.96.44.44" })));
      },
    },
    {
      name: "an address that an object represents is in use",
      async run({ api, core }) {
        await made(api.post(ADDRESSES, address("10.96.55.55", parent("default", "another-service"))));
        invalid(
          await api.post(core("services"), service("a", { clusterIP: "10.96.55.55" })),
          'spec.clusterIPs: Invalid value: ["10.96.55.55"]: failed to allocate IP 10.96.55.55: provided IP is already allocated',
        );
        await done(api.delete(`${ADDRESSES}/10.96.55.55`));
        await made(api.post(core("services"), service("a", { clusterIP: "10.96.55.55" })));
      },
    },
    {
      name: "a deleted IPAddress of a Service is recreated, and an Event is emitted",
      except: { server: "kube-apiserver", reason: "it checks for such only every three minutes" },
      async run({ api, core, namespace }) {
        const body = await made(api.post(core("services"), service("a")));
        const ip = String(at(body, "spec", "clusterIP"));
        const before = await done(api.get(`${ADDRESSES}/${ip}`));
        await done(api.delete(`${ADDRESSES}/${ip}`));
        await eventually(async () => {
          const { code, body: after } = await api.get(`${ADDRESSES}/${ip}`);
          return code === 200 && at(after, "metadata", "uid") !== at(before, "metadata", "uid") ? true : undefined;
        }, "the object");
        expect(await done(api.get(`${ADDRESSES}/${ip}`))).toMatchObject({ spec: parent(namespace, "a") });
        const event = await eventually(async () => {
          const events = (await api.get(core("events"))).body["items"] as Json[];
          return events.find((e) => e["reason"] === "ClusterIPNotAllocated");
        }, "the event");
        expect(event).toMatchObject({
          type: "Warning",
          message: `Cluster IP [IPv4]: ${ip} is not allocated; repairing`,
          involvedObject: { kind: "Service", name: "a", namespace },
          reportingComponent: "ipallocator-repair-controller",
        });
      },
    },
    {
      name: "a network can be added, and Services have addresses of it",
      async run({ api, core, unique }) {
        const name = unique("extra");
        await made(api.post(CIDRS, cidr(name, "10.200.0.0/28")));
        await eventually(async () => {
          const { code } = await api.post(core("services"), service("a", { clusterIP: "10.200.0.5" }));
          return code === 201 ? true : undefined;
        }, "the network");
        expect((await api.get(`${ADDRESSES}/10.200.0.5`)).code).toBe(200);
        await done(api.delete(core("services", "a")));
        await done(api.delete(`${CIDRS}/${name}`));
        await eventually(async () => {
          const { code } = await api.post(core("services"), service("b", { clusterIP: "10.200.0.6" }));
          return code === 422 ? true : undefined;
        }, "the end of the network");
      },
    },
    {
      name: "networks do not change, but may get a second family",
      async run({ api, unique }) {
        const path = `${CIDRS}/${unique("grow")}`;
        await made(api.post(CIDRS, cidr(unique("grow"), "10.201.0.0/28")));
        invalid(
          await api.patch(path, "merge", { spec: { cidrs: ["10.202.0.0/28"] } }),
          'spec.cidrs[0]: Invalid value: "10.202.0.0/28": field is immutable',
        );
        await done(api.patch(path, "merge", { spec: { cidrs: ["10.201.0.0/28", "fd00:201::/112"] } }));
        await done(api.delete(path));
      },
    },
    {
      name: "addresses are named by themselves and represent something",
      async run({ api }) {
        invalid(
          await api.post(ADDRESSES, address("nope", {})),
          'metadata.name: Invalid value: "nope": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
          "spec.parentRef: Required value",
        );
        invalid(
          await api.post(ADDRESSES, address("10.96.66.66", { parentRef: {} })),
          "spec.parentRef.resource: Required value",
          "spec.parentRef.name: Required value",
        );
        const body = await made(
          api.post(ADDRESSES, address("fd00::77", { parentRef: { resource: "things", name: "x" } })),
        );
        expect(at(body, "metadata", "name")).toBe("fd00::77");
        await done(api.delete(`${ADDRESSES}/fd00::77`));
      },
    },
    {
      name: "IPAddresses and ServiceCIDRs have kubectl's columns",
      async run({ api }) {
        const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
        const age = expect.any(String) as string;
        const row = async (path: string): Promise<unknown> =>
          at((await api.get(path, { headers })).body, "rows", 0, "cells");
        expect(await row(`${CIDRS}/kubernetes`)).toEqual(["kubernetes", "10.96.0.0/12", age]);
        expect(await row(`${ADDRESSES}/10.96.0.1`)).toEqual(["10.96.0.1", "services/default/kubernetes", age]);
      },
    },
    {
      name: "headless Services without a selector are of both families on any cluster",
      async run({ api, core }) {
        const free = await made(api.post(core("services"), service("a", { clusterIP: "None" })));
        expect(free["spec"]).toMatchObject({
          ipFamilies: ["IPv4", "IPv6"],
          ipFamilyPolicy: "RequireDualStack",
          clusterIPs: ["None"],
        });
        const selecting = await made(
          api.post(core("services"), service("b", { clusterIP: "None", selector: { a: "b" } })),
        );
        expect(selecting["spec"]).toMatchObject({ ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" });
      },
    },
    {
      name: "Services that prefer two families have the one there is",
      async run({ api, core }) {
        const body = await made(api.post(core("services"), service("a", { ipFamilyPolicy: "PreferDualStack" })));
        expect(body["spec"]).toMatchObject({ ipFamilies: ["IPv4"], ipFamilyPolicy: "PreferDualStack" });
        expect(at(body, "spec", "clusterIPs")).toHaveLength(1);
      },
    },
    ...FAMILIES.map(([what, spec, causes]) => ({
      name: `Services ${what} are refused`,
      async run({ api, core }: Context) {
        invalid(await api.post(core("services"), service("a", spec)), ...causes);
      },
    })),
    ...BAD_CIDRS.map(([what, cidrs, cause]) => ({
      name: `ServiceCIDRs ${what} are refused`,
      async run({ api }: Context) {
        invalid(await api.post(CIDRS, cidr("bad", ...cidrs)), cause);
      },
    })),
  ],
};
