import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Endpoint, EndpointSlice, Pod, Service } from "@causeway/kubernetes";
import { controlledBy, pod as basicPod, type PodFacts } from "../testing/objects.ts";
import type { Observed } from "./gather.ts";
import { MAX_ENDPOINTS, pack } from "./packing.ts";
import { plan } from "./plan.ts";

const service = (spec: Partial<Service["spec"]> = {}, labels: Record<string, string> = {}): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web", namespace: "default", uid: "service", labels },
  spec: {
    selector: { app: "web" },
    clusterIP: "10.96.0.1",
    ipFamilies: ["IPv4"],
    ports: [{ name: "http", port: 80, targetPort: "www", protocol: "TCP" }],
    ...spec,
  },
});
const pod = (name: string, ips: readonly string[], facts: PodFacts = {}, port = 8080): Pod => {
  const base = basicPod(name, facts);
  const containers = [{ name: "web", ports: [{ name: "www", containerPort: port }] }];
  return { ...base, spec: { ...base.spec, containers }, status: { ...base.status, podIPs: ips.map((ip) => ({ ip })) } };
};
const observed = (fields: Partial<Observed>): Observed => ({
  service: service(),
  pods: [],
  slices: [],
  zones: new Map([["one", "zone-one"]]),
  ...fields,
});
const created = (seen: Observed): EndpointSlice[] =>
  plan(seen).steps.flatMap((step) => (step.type === "create-slice" ? [step.slice] : []));
const stored = (slice: EndpointSlice): EndpointSlice => ({
  ...slice,
  metadata: { ...slice.metadata, uid: slice.metadata.name },
});

describe("EndpointSlices of a Service", () => {
  test.each([
    ["of both families if it is headless and names none", { clusterIP: "None" }, ["IPv4", "IPv6"]],
    ["of the family of its address", { clusterIP: "fd00:10:96::1" }, ["IPv6"]],
    ["of the family of its address, if that is IPv4", { clusterIP: "10.96.0.1" }, ["IPv4"]],
  ])("are %s", (_, spec, families) => {
    const { ipFamilies: _named, ...rest } = service().spec;
    const seen = { ...service(), spec: { ...rest, ...spec } };
    const slices = created(observed({ service: seen, pods: [pod("a", ["10.0.0.1", "fd00::1"])] }));
    expect(slices.map(({ addressType }) => addressType)).toEqual(families);
  });

  test("have its pods' addresses, ports by name, nodes, zones and references", () => {
    expect(created(observed({ pods: [pod("a", ["10.0.0.1"])], service: service({}, { team: "x" }) }))).toMatchObject([
      {
        addressType: "IPv4",
        metadata: {
          labels: {
            team: "x",
            "kubernetes.io/service-name": "web",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
          },
          ownerReferences: [controlledBy(service())],
        },
        ports: [{ name: "http", port: 8080, protocol: "TCP" }],
        endpoints: [
          {
            addresses: ["10.0.0.1"],
            conditions: { ready: true, serving: true, terminating: false },
            nodeName: "one",
            zone: "zone-one",
            targetRef: { kind: "Pod", namespace: "default", name: "a", uid: "uid-a" },
          },
        ],
      },
    ]);
  });

  const rows: [string, PodFacts, boolean, object][] = [
    ["a ready pod", {}, false, { ready: true, serving: true, terminating: false }],
    ["a pod that is not ready", { ready: undefined }, false, { ready: false, serving: false, terminating: false }],
    ["a terminating pod that is ready", { deleted: true }, false, { ready: false, serving: true, terminating: true }],
    [
      "publishNotReadyAddresses",
      { ready: undefined, deleted: true },
      true,
      { ready: true, serving: false, terminating: true },
    ],
  ];
  test.each(rows)("have the conditions of %s", (_title, facts, publishNotReadyAddresses, conditions) => {
    const seen = observed({ service: service({ publishNotReadyAddresses }), pods: [pod("a", ["10.0.0.1"], facts)] });
    expect(created(seen)[0]?.endpoints[0]?.conditions).toEqual(conditions);
  });

  test("leave out pods that ended, that have no address, and whose node does not exist", () => {
    const pods = [pod("a", ["10.0.0.1"], { phase: "Failed" }), pod("b", []), pod("c", ["10.0.0.3"], { node: "gone" })];
    expect(created(observed({ pods }))).toMatchObject([{ endpoints: [], ports: [] }]);
  });

  test("are one group for each address family and each set of ports", () => {
    const pods = [
      pod("a", ["10.0.0.1", "fd00::1"]),
      pod("b", ["10.0.0.2", "fd00:0:0::2"]),
      pod("c", ["10.0.0.3"], {}, 9090),
    ];
    const slices = created(observed({ service: service({ ipFamilies: ["IPv4", "IPv6"] }), pods }));
    const shown = slices.map(({ addressType, ports, endpoints }) => [
      addressType,
      ports?.[0]?.port,
      endpoints.flatMap(({ addresses }) => addresses),
    ]);
    expect(shown).toEqual([
      ["IPv4", 8080, ["10.0.0.1", "10.0.0.2"]],
      ["IPv4", 9090, ["10.0.0.3"]],
      ["IPv6", 8080, ["fd00::1", "fd00::2"]],
    ]);
  });

  test("are headless by label, and have the hostname of a pod in the Service's subdomain", () => {
    const base = pod("a", ["10.0.0.1"]);
    const named = { ...base, spec: { ...base.spec, hostname: "a-0", subdomain: "web" } };
    const [slice] = created(observed({ service: service({ clusterIP: "None", ports: [] }), pods: [named] }));
    expect(slice?.metadata.labels).toHaveProperty(["service.kubernetes.io/headless"], "");
    expect(slice).toMatchObject({ ports: [], endpoints: [{ hostname: "a-0" }] });
  });

  test("remain as they are when nothing changed, whatever the order of pods", () => {
    const pods = [pod("a", ["10.0.0.1"]), pod("b", ["10.0.0.2"])];
    const slices = created(observed({ pods })).map(stored);
    expect(plan(observed({ pods: pods.toReversed(), slices })).steps).toEqual([]);
    const empty = created(observed({})).map(stored);
    expect(plan(observed({ slices: empty })).steps).toEqual([]);
  });

  test("are deleted when another controller owns them or the family is not the Service's", () => {
    const [slice] = created(observed({}));
    if (!slice) throw new Error("no slice");
    const other = {
      ...stored(slice),
      metadata: { ...slice.metadata, name: "other", uid: "other", ownerReferences: [] },
    };
    const v6 = {
      ...stored(slice),
      addressType: "IPv6" as const,
      metadata: { ...slice.metadata, name: "six", uid: "six" },
    };
    const { steps } = plan(observed({ slices: [stored(slice), other, v6] }));
    expect(steps.map((step) => step.type === "delete-slice" && step.target.name)).toEqual(["other", "six"]);
  });

  test("are of both families where the Service has no address, and of those that it names before that", () => {
    const familiesOf = (spec: Partial<Service["spec"]>) => {
      const { ipFamilies: _named, clusterIP: _address, ...rest } = service().spec;
      return created(observed({ service: { ...service(), spec: { ...rest, ...spec } } })).map((s) => s.addressType);
    };
    expect(familiesOf({})).toEqual(["IPv4", "IPv6"]);
    expect(familiesOf({ ipFamilies: [] })).toEqual(["IPv4", "IPv6"]);
    expect(familiesOf({ ipFamilies: ["IPv6"], clusterIP: "10.96.0.1" })).toEqual(["IPv6"]);
  });

  test("have the addresses of pods on unknown nodes where those that are not ready are published", () => {
    const pods = [pod("a", ["10.0.0.1"], { node: "gone" }), pod("b", ["10.0.0.2"], { node: "" })];
    const [slice] = created(observed({ pods, service: service({ publishNotReadyAddresses: true }) }));
    expect(slice?.endpoints.map(({ addresses, nodeName, zone }) => [addresses, nodeName, zone])).toEqual([
      [["10.0.0.1"], "gone", undefined],
      [["10.0.0.2"], undefined, undefined],
    ]);
    for (const endpoint of slice?.endpoints ?? []) {
      expect(endpoint).not.toHaveProperty("zone");
      expect(endpoint).not.toHaveProperty("hostname");
    }
    expect(slice?.endpoints[1]).not.toHaveProperty("nodeName");
  });

  test("are written again where their labels or endpoints differ, and only then", () => {
    const pods = [pod("a", ["10.0.0.1"])];
    const [own] = created(observed({ pods })).map(stored);
    if (!own) throw new Error("no slice");
    const written = (slice: EndpointSlice, seen: Partial<Observed> = {}) =>
      plan(observed({ pods, slices: [slice], ...seen })).steps;
    const labels = { ...own.metadata.labels, "service.kubernetes.io/headless": "" };
    expect(written({ ...own, metadata: { ...own.metadata, labels } })).toEqual([{ type: "update-slice", slice: own }]);
    const { labels: _, ...unlabelled } = own.metadata;
    expect(written({ ...own, metadata: unlabelled }).map(({ type }) => type)).toEqual(["update-slice"]);
    expect(written({ ...own, endpoints: [] }).map(({ type }) => type)).toEqual(["update-slice"]);
    expect(written(own)).toEqual([]);
  });

  test("of ports that no pod has any more go, but for one that is empty where there are no pods", () => {
    const [own] = created(observed({ pods: [pod("a", ["10.0.0.1"])] })).map(stored);
    const [empty] = created(observed({})).map(stored);
    if (!own || !empty) throw new Error("no slice");
    const bare = { ...empty, metadata: { ...empty.metadata, name: "empty" } };
    const steps = (slices: EndpointSlice[], pods: Pod[] = []) =>
      plan(observed({ slices, pods })).steps.map(
        (step) => `${step.type} ${"slice" in step ? step.slice.metadata.name : step.target.name}`,
      );
    expect(steps([own])).toEqual([expect.stringMatching(/^create-slice /), `delete-slice ${own.metadata.name}`]);
    expect(steps([own, bare])).toEqual([`delete-slice ${own.metadata.name}`]);
    expect(steps([bare], [pod("a", ["10.0.0.1"])])).toEqual([
      expect.stringMatching(/^create-slice /),
      "delete-slice empty",
    ]);
    const filled = { ...bare, endpoints: own.endpoints };
    expect(steps([filled])).toEqual(["update-slice empty"]);
  });

  test("have kind, owner and labels by which they are found, and each a name of its own", () => {
    const pods = [pod("a", ["10.0.0.1"]), pod("b", ["10.0.0.2"], {}, 9090)];
    const slices = created(observed({ pods }));
    expect(new Set(slices.map(({ metadata }) => metadata.name)).size).toBe(2);
    for (const slice of slices) {
      expect(slice).toMatchObject({ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice" });
      expect(slice.metadata).toMatchObject({ namespace: "default", name: expect.stringMatching(/^web-./) as string });
    }
    const { labels: _, ...metadata } = service().metadata;
    expect(created(observed({ service: { ...service(), metadata } }))[0]?.metadata.labels).toEqual({
      "kubernetes.io/service-name": "web",
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    });
    const headless = { "service.kubernetes.io/headless": "mine" };
    expect(created(observed({ service: service({}, headless) }))[0]?.metadata.labels).not.toHaveProperty([
      "service.kubernetes.io/headless",
    ]);
  });

  test("have names that a repeated plan gives again", () => {
    const seen = observed({ pods: [pod("a", ["10.0.0.1"])] });
    expect(created(seen).map(({ metadata }) => metadata.name)).toEqual(
      created(seen).map(({ metadata }) => metadata.name),
    );
  });
});

test("packing loses no endpoint, doubles none, and exceeds no slice", () => {
  const endpoint = (id: number): Endpoint => ({
    addresses: [`10.0.${id >> 8}.${id & 255}`],
    targetRef: { uid: String(id) },
  });
  const [base] = created(observed({}));
  if (!base) throw new Error("no slice");
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 6 }),
      fc.integer({ min: 0, max: 500 }),
      (starts, count) => {
        const slices = starts.map((start, i) => ({
          ...base,
          metadata: { ...base.metadata, name: `s${i}` },
          endpoints: Array.from({ length: 60 }, (_, at) => endpoint(start + at)),
        }));
        const wanted = Array.from({ length: count }, (_, id) => endpoint(id));
        const { kept, created: made } = pack(slices, wanted);
        const groups = [...kept.values(), ...made];
        expect(groups.every((group) => group.length <= MAX_ENDPOINTS)).toBe(true);
        const uids = groups.flat().map(({ targetRef }) => Number(targetRef?.uid));
        expect(uids.toSorted((a, b) => a - b)).toEqual(wanted.map((_, id) => id));
      },
    ),
  );
});
