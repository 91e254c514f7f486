import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Endpoints, EndpointSlice, EndpointSubset, ObjectMeta, Service } from "@causeway/kubernetes";
import { controlledBy } from "../testing/objects.ts";
import type { Observed } from "./gather.ts";
import { MAX_ADDRESSES, plan } from "./plan.ts";

const key = { namespace: "default", name: "db" };
const service = (selector?: Record<string, string>): Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { ...key, uid: "service" },
  spec: { ports: [{ port: 5432 }], ...(selector ? { selector } : {}) },
});
const endpointsWith = (subsets: EndpointSubset[], metadata: Partial<ObjectMeta> = {}): Endpoints => ({
  apiVersion: "v1",
  kind: "Endpoints",
  metadata: { ...key, uid: "endpoints", ...metadata },
  subsets,
});
const one: EndpointSubset = { addresses: [{ ip: "10.0.0.1" }], ports: [{ name: "sql", port: 5432, protocol: "TCP" }] };
const observed = (subsets: EndpointSubset[], fields: Partial<Observed> = {}): Observed => ({
  key,
  endpoints: endpointsWith(subsets),
  service: service(),
  slices: [],
  names: [],
  ...fields,
});
const stored = (slice: EndpointSlice): EndpointSlice => ({
  ...slice,
  metadata: { ...slice.metadata, uid: `uid-${slice.metadata.name}`, resourceVersion: "1" },
});
/** The slices after the plan, as the server would keep them. */
function after(seen: Observed): EndpointSlice[] {
  const slices = new Map(seen.slices.map((slice) => [slice.metadata.name, slice]));
  for (const step of plan(seen).steps) {
    if (step.type === "delete-slice") slices.delete(step.target.name);
    else slices.set(step.slice.metadata.name, stored(step.slice));
  }
  return [...slices.values()];
}
const seenAgain = (seen: Observed, slices = after(seen)): Observed => ({
  ...seen,
  slices,
  names: slices.map(({ metadata }) => metadata.name),
});
const typesOf = (seen: Observed) => plan(seen).steps.map(({ type }) => type);
const many = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ ip: `10.1.${(i + from) >> 8}.${(i + from) & 255}` }));

describe("EndpointSlices that mirror Endpoints", () => {
  test("have the addresses, ports, labels and annotations of the Endpoints, which own them", () => {
    const reference = { kind: "Pod", namespace: "default", name: "a", uid: "a" };
    const endpoints = endpointsWith(
      [{ ...one, addresses: [{ ip: "10.0.0.1", hostname: "a", nodeName: "one", targetRef: reference }] }],
      {
        labels: { team: "x", "kubernetes.io/service-name": "other" },
        annotations: {
          note: "kept",
          "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z",
          "kubectl.kubernetes.io/last-applied-configuration": "{}",
        },
      },
    );
    const [slice, ...more] = after(observed([], { endpoints }));
    expect(more).toEqual([]);
    expect(slice?.metadata.name).toMatch(/^db-/u);
    expect(slice).toMatchObject({
      addressType: "IPv4",
      metadata: { namespace: "default", ownerReferences: [controlledBy(endpoints)] },
      ports: [{ name: "sql", port: 5432, protocol: "TCP" }],
    });
    expect(slice?.metadata.labels).toEqual({
      team: "x",
      "kubernetes.io/service-name": "db",
      "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
    });
    expect(slice?.metadata.annotations).toEqual({ note: "kept" });
    expect(slice?.endpoints).toEqual([
      { addresses: ["10.0.0.1"], conditions: { ready: true }, hostname: "a", nodeName: "one", targetRef: reference },
    ]);
  });

  const without: [string, Partial<Observed>][] = [
    ["there are no Endpoints", { endpoints: undefined }],
    ["the Endpoints are being deleted", { endpoints: endpointsWith([one], { deletionTimestamp: "2026-01-01" }) }],
    ["there is no Service", { service: undefined }],
    ["the Service has a selector", { service: service({ app: "db" }) }],
    [
      "the Endpoints are labelled not to be mirrored",
      { endpoints: endpointsWith([one], { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } }) },
    ],
    [
      "the Endpoints are the lock of a leader election",
      { endpoints: endpointsWith([one], { annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } }) },
    ],
    ["the Endpoints have no addresses", { endpoints: endpointsWith([{ ports: one.ports ?? [] }]) }],
    ["the Endpoints have no subsets", { endpoints: endpointsWith([]) }],
  ];
  test.each(without)("are not created, and deleted, where %s", (_, fields) => {
    expect(typesOf(observed([one], fields))).toEqual([]);
    const before = seenAgain(observed([one]));
    expect(typesOf({ ...before, ...fields })).toEqual(["delete-slice"]);
  });

  test("are mirrored where the label that skips has another value, and where the selector is empty", () => {
    const endpoints = endpointsWith([one], { labels: { "endpointslice.kubernetes.io/skip-mirror": "yes" } });
    expect(typesOf(observed([], { endpoints, service: service({}) }))).toEqual(["create-slice"]);
  });

  const subsets: [string, EndpointSubset[], object[]][] = [
    [
      "an address that is not ready is an endpoint that is not ready",
      [{ addresses: [{ ip: "10.0.0.1" }], notReadyAddresses: [{ ip: "10.0.0.2" }], ports: [{ port: 80 }] }],
      [{ type: "IPv4", ports: [80], ips: ["10.0.0.1", "!10.0.0.2"] }],
    ],
    [
      "each address family has a slice of its own",
      [{ addresses: [{ ip: "10.0.0.1" }, { ip: "fd00:0::1" }], ports: [{ port: 80 }] }],
      [
        { type: "IPv4", ports: [80], ips: ["10.0.0.1"] },
        { type: "IPv6", ports: [80], ips: ["fd00::1"] },
      ],
    ],
    [
      "subsets with the same ports share a slice",
      [
        { addresses: [{ ip: "10.0.0.2" }], ports: [{ port: 80 }] },
        { addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] },
      ],
      [{ type: "IPv4", ports: [80], ips: ["10.0.0.1", "10.0.0.2"] }],
    ],
    [
      "ports with the same addresses share a slice",
      [
        { addresses: [{ ip: "10.0.0.1" }], ports: [{ name: "a", port: 80 }] },
        { addresses: [{ ip: "10.0.0.1" }], ports: [{ name: "b", port: 81 }] },
      ],
      [{ type: "IPv4", ports: [80, 81], ips: ["10.0.0.1"] }],
    ],
    [
      "ports with other addresses have a slice of their own",
      [
        {
          addresses: [{ ip: "10.0.0.1" }],
          ports: [
            { name: "a", port: 80 },
            { name: "b", port: 81 },
          ],
        },
        { addresses: [{ ip: "10.0.0.2" }], ports: [{ name: "a", port: 80 }] },
      ],
      [
        { type: "IPv4", ports: [80], ips: ["10.0.0.1", "10.0.0.2"] },
        { type: "IPv4", ports: [81], ips: ["10.0.0.1"] },
      ],
    ],
    [
      "an address that is listed as ready and as not ready is not ready",
      [
        { addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] },
        { notReadyAddresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] },
      ],
      [{ type: "IPv4", ports: [80], ips: ["!10.0.0.1"] }],
    ],
    [
      "a subset without ports has a slice without ports",
      [{ addresses: [{ ip: "10.0.0.1" }] }],
      [{ type: "IPv4", ports: [], ips: ["10.0.0.1"] }],
    ],
  ];
  test.each(subsets)("%s", (_, given, expected) => {
    const shown = after(observed(given)).map(({ addressType, ports, endpoints }) => ({
      type: addressType,
      ports: (ports ?? []).map(({ port }) => port),
      ips: endpoints.map(({ addresses, conditions }) => (conditions?.ready ? "" : "!") + addresses.join()),
    }));
    expect(shown).toEqual(expected);
  });

  test("have at most 1,000 addresses of a subset, the ready ones first, and an event says how many were skipped", () => {
    const seen = observed([{ addresses: many(990, 20), notReadyAddresses: many(20), ports: [{ port: 80 }] }]);
    const [slice] = after(seen);
    expect(slice?.endpoints).toHaveLength(MAX_ADDRESSES);
    expect(slice?.endpoints.filter(({ conditions }) => conditions?.ready)).toHaveLength(990);
    expect(plan(seen).events).toEqual([]);
    expect(plan(seenAgain(seen)).events).toEqual([
      {
        type: "Warning",
        reason: "TooManyAddressesToMirror",
        message:
          "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 10 addresses were skipped",
      },
    ]);
  });

  test("leave invalid addresses out, with an event", () => {
    const seen = observed([{ addresses: [{ ip: "10.0.0.1" }, { ip: "nowhere" }], ports: [{ port: 80 }] }]);
    expect(after(seen)[0]?.endpoints).toHaveLength(1);
    expect(plan(seenAgain(seen)).events).toMatchObject([
      { reason: "InvalidIPAddress", message: "Skipped 1 invalid IP addresses when mirroring to EndpointSlices" },
    ]);
  });

  test("are updated when labels, annotations, addresses or ports change, and keep their names", () => {
    const first = seenAgain(observed([one], { endpoints: endpointsWith([one], { annotations: { note: "old" } }) }));
    const changes: Endpoints[] = [
      endpointsWith([one]),
      endpointsWith([one], { annotations: { note: "new" } }),
      endpointsWith([one], { annotations: { note: "old" }, labels: { team: "x" } }),
      endpointsWith([{ ...one, addresses: [{ ip: "10.0.0.2" }] }], { annotations: { note: "old" } }),
      endpointsWith([{ ...one, ports: [{ name: "sql", port: 5433 }] }], { annotations: { note: "old" } }),
    ];
    for (const endpoints of changes) {
      const seen = { ...first, endpoints };
      expect(typesOf(seen)).toEqual(["update-slice"]);
      expect(after(seen)[0]?.metadata.name).toBe(first.slices[0]?.metadata.name);
      expect(typesOf(seenAgain(seen))).toEqual([]);
    }
    expect(after({ ...first, endpoints: endpointsWith([one]) })[0]?.metadata.annotations).toBeUndefined();
  });

  test("of Endpoints that were recreated are replaced", () => {
    const before = seenAgain(observed([one]));
    const seen = { ...before, endpoints: endpointsWith([one], { uid: "recreated" }) };
    expect(typesOf(seen)).toEqual(["create-slice", "delete-slice"]);
    expect(typesOf(seenAgain(seen))).toEqual([]);
  });

  test("of the same ports that two controllers created are reduced to one", () => {
    const before = seenAgain(observed([one]));
    const [slice] = before.slices;
    const twin = { ...slice, metadata: { ...slice?.metadata, name: "db-twin", uid: "twin" } } as EndpointSlice;
    expect(typesOf({ ...before, slices: [...before.slices, twin] })).toEqual(["delete-slice"]);
  });

  test("take no name that another slice of the namespace has", () => {
    const [first] = after(observed([one]));
    const taken = first?.metadata.name ?? "";
    const [second] = after(observed([one], { names: [taken] }));
    expect(second?.metadata.name).not.toBe(taken);
  });

  const ip = fc
    .tuple(fc.boolean(), fc.integer({ min: 1, max: 6 }))
    .map(([v4, i]) => ({ ip: v4 ? `10.0.0.${i}` : `fd00::${i}` }));
  const port = fc.constantFrom({ name: "a", port: 80 }, { name: "b", port: 81 }, { name: "c", port: 82 });
  const anySubset = fc.record({
    addresses: fc.array(ip, { maxLength: 5 }),
    notReadyAddresses: fc.array(ip, { maxLength: 3 }),
    ports: fc.uniqueArray(port, { maxLength: 3, selector: ({ name }) => name }),
  });
  const anySubsets = fc.array(anySubset, { maxLength: 4 });
  /** Each address at each port, and whether it is ready. */
  const pairs = (list: readonly (readonly [string, string, boolean])[]) => {
    const ready = new Map<string, boolean>();
    for (const [address, at, is] of list) ready.set(`${address} ${at}`, is && (ready.get(`${address} ${at}`) ?? true));
    return [...ready].map(([name, is]) => `${name} ${is}`).toSorted((a, b) => (a < b ? -1 : 1));
  };
  const listed = (given: readonly EndpointSubset[]) =>
    pairs(
      given.flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
        (ports.length > 0 ? ports.map(({ name = "" }) => name) : ["none"]).flatMap((name) => [
          ...addresses.map((address) => [address.ip, name, true] as const),
          ...notReadyAddresses.map((address) => [address.ip, name, false] as const),
        ]),
      ),
    );
  const mirrored = (slices: readonly EndpointSlice[]) =>
    pairs(
      slices.flatMap(({ ports = [], endpoints }) =>
        (ports.length > 0 ? ports.map(({ name = "" }) => name) : ["none"]).flatMap((name) =>
          endpoints.map(({ addresses, conditions }) => [addresses.join(), name, conditions?.ready === true] as const),
        ),
      ),
    );

  test("property: every address is mirrored at every port, once, after any change and a crash between two steps", () => {
    fc.assert(
      fc.property(anySubsets, anySubsets, fc.nat(), (before, now, crash) => {
        const first = seenAgain(observed(before));
        expect(plan(first).steps).toEqual([]);
        expect(mirrored(first.slices)).toEqual(listed(before));
        const changed = { ...first, endpoints: endpointsWith(now) };
        const { steps } = plan(changed);
        // Only some of the steps were performed.
        const slices = new Map(first.slices.map((slice) => [slice.metadata.name, slice]));
        for (const step of steps.slice(0, crash % (steps.length + 1))) {
          if (step.type === "delete-slice") slices.delete(step.target.name);
          else slices.set(step.slice.metadata.name, stored(step.slice));
        }
        const last = seenAgain(seenAgain(changed, [...slices.values()]));
        expect(plan(last).steps).toEqual([]);
        expect(mirrored(last.slices)).toEqual(listed(now));
        const count = last.slices.flatMap(({ endpoints }) => endpoints).length;
        expect(count).toBe(
          new Set(
            last.slices.flatMap(({ ports, addressType, endpoints }) =>
              endpoints.map((e) => JSON.stringify([ports, addressType, e.addresses])),
            ),
          ).size,
        );
      }),
    );
  });
});
