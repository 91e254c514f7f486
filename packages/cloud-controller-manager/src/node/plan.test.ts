import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Node, NodeAddress } from "@causeway/kubernetes";
import type { Server } from "@causeway/openstack";
import { defaultCloudConfig } from "../config/config.ts";
import { aServer } from "../testing/objects.ts";
import type { Observed } from "./gather.ts";
import { labelValue, plan } from "./plan.ts";
import { formatProviderId, parseProviderId } from "./provider-id.ts";
import type { Step } from "./steps.ts";
import { shutdownTaint, uninitializedTaint } from "./taints.ts";

const now = Date.UTC(2026, 0, 2);
const minutes = 60_000;

function aNewNode(changes: Partial<Node> = {}): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1", uid: "1", creationTimestamp: new Date(now - 20 * minutes).toISOString() },
    spec: { taints: [{ key: uninitializedTaint, value: "true", effect: "NoSchedule" }] },
    status: { addresses: [{ type: "Hostname", address: "n1" }] },
    ...changes,
  };
}

function observed(changes: Partial<Observed> = {}): Observed {
  return {
    node: aNewNode(),
    servers: [aServer("n1")],
    ports: [],
    flavor: undefined,
    region: "RegionOne",
    denials: 0,
    doubtful: false,
    trunked: [],
    duties: { initialise: true, lifecycle: true },
    config: defaultCloudConfig(),
    ...changes,
  };
}

/** Applies steps until there are none. */
function settle(start: Observed): { node: Node; steps: Step[] } {
  const steps: Step[] = [];
  let { node } = start;
  for (let round = 0; round < 10; round++) {
    const [step] = plan({ ...start, node }, now).steps;
    if (!step) return { node, steps };
    steps.push(step);
    node = applied(node, step);
  }
  throw new Error("there is no end to it");
}

function applied(node: Node, step: Step): Node {
  if (step.type === "set-addresses") return { ...node, status: { ...node.status, addresses: [...step.addresses] } };
  if (step.type === "delete-node") return { ...node, metadata: { ...node.metadata, deletionTimestamp: "now" } };
  return {
    ...node,
    metadata: { ...node.metadata, labels: { ...node.metadata.labels, ...step.labels } },
    spec: {
      ...node.spec,
      ...(step.providerId === undefined ? {} : { providerID: step.providerId }),
      ...(step.taints ? { taints: [...step.taints] } : {}),
    },
  };
}

const reasons = (o: Observed) => (plan(o, now).events ?? []).map((e) => e.reason);
const heard = (ago: number, status = "True") => ({
  addresses: [],
  conditions: [{ type: "Ready", status: status as "True", lastHeartbeatTime: new Date(now - ago).toISOString() }],
});

describe("a new Node", () => {
  test("gets addresses first, then providerID, labels and the end of its taint in one patch", () => {
    const { steps } = settle(observed());
    expect(steps).toEqual([
      {
        type: "set-addresses",
        addresses: [
          { type: "InternalIP", address: "10.0.0.1" },
          { type: "Hostname", address: "n1" },
        ],
      },
      {
        type: "set-node",
        providerId: "openstack:///n1",
        labels: {
          "node.kubernetes.io/instance-type": "m1.small",
          "beta.kubernetes.io/instance-type": "m1.small",
          "topology.kubernetes.io/zone": "nova",
          "failure-domain.beta.kubernetes.io/zone": "nova",
          "topology.kubernetes.io/region": "RegionOne",
          "failure-domain.beta.kubernetes.io/region": "RegionOne",
        },
        taints: [],
      },
    ]);
  });

  test("has the region in its providerID where that is wanted", () => {
    const config = { ...defaultCloudConfig(), regional: true };
    expect(settle(observed({ config })).node.spec?.providerID).toBe("openstack://RegionOne/n1");
  });

  test("keeps its taint until its server has an address", () => {
    const start = observed({ servers: [aServer("n1", { addresses: {} })] });
    expect(settle(start).node.spec?.taints).toHaveLength(1);
    expect(plan({ ...start, node: settle(start).node }, now).wait?.for).toMatch(/address/);
  });

  test("waits for a server of its name, and is not deleted while there may come one", () => {
    const young = aNewNode({ status: heard(0, "False") });
    expect(plan(observed({ servers: [], denials: 9, node: young }), now).wait?.for).toBe("a server named n1");
    const silent = aNewNode({ status: heard(7 * minutes, "Unknown") });
    expect(plan(observed({ servers: [], denials: 9, node: silent }), now).steps).toMatchObject([
      { type: "delete-node" },
    ]);
  });

  test("remains uninitialised with a warning when two servers have its name", () => {
    expect(reasons(observed({ servers: [aServer("a"), aServer("b")] }))).toEqual(["AmbiguousServer"]);
  });

  test.each([
    ["a zone with a blank", { "OS-EXT-AZ:availability_zone": "nova east" }, "topology.kubernetes.io/zone", "nova-east"],
    [
      "a flavor name that is no label",
      { flavor: { id: "42", original_name: "big one" } },
      "node.kubernetes.io/instance-type",
      "large",
    ],
  ])("%s gives a valid label", (_what, change, label, value) => {
    const flavor = { id: "42", name: "large", vcpus: 1, ram: 1, disk: 1 };
    const start = observed({ servers: [aServer("n1", change as Partial<Server>)], flavor });
    expect(settle(start).node.metadata.labels?.[label]).toBe(value);
  });
});

describe("a node IP that the kubelet was given", () => {
  const withIp = (ip: string) => {
    const metadata = { name: "n1", annotations: { "alpha.kubernetes.io/provided-node-ip": ip } };
    const lan = [
      { addr: "10.0.0.1", version: 4 as const },
      { addr: "10.0.0.2", version: 4 as const },
      { addr: "fd00::2", version: 6 as const },
    ];
    return observed({ node: aNewNode({ metadata }), servers: [aServer("n1", { addresses: { lan } })] });
  };
  const internal = (o: Observed) =>
    settle(o).node.status?.addresses?.flatMap((a: NodeAddress) => (a.type === "InternalIP" ? a.address : []));

  test("is the only one of its type", () => {
    expect(internal(withIp("10.0.0.2"))).toEqual(["10.0.0.2"]);
    expect(internal(withIp("10.0.0.2,fd00:0::2"))).toEqual(["10.0.0.2", "fd00::2"]);
  });

  test("that the server does not have keeps the Node uninitialised, with a warning", () => {
    const start = withIp("10.9.9.9");
    expect(settle(start).node.spec?.taints).toHaveLength(1);
    expect(reasons(start)).toEqual(["UnknownNodeIP"]);
  });
});

describe("a Node of a server", () => {
  const known = (changes: Partial<Node> = {}) =>
    settle(observed()).node.metadata && { ...settle(observed()).node, ...changes };

  test("that is as it should be has no steps", () => {
    expect(plan(observed({ node: known() }), now)).toEqual({ steps: [], status: undefined });
  });

  test("that is stopped is tainted, and that is started again is not", () => {
    const stopped = settle(observed({ node: known(), servers: [aServer("n1", { status: "SHUTOFF" })] }));
    expect(stopped.node.spec?.taints).toEqual([{ key: shutdownTaint, effect: "NoSchedule" }]);
    expect(settle(observed({ node: stopped.node })).node.spec?.taints).toEqual([]);
  });

  test("of another region or another provider is left alone", () => {
    const elsewhere = known({ spec: { providerID: "openstack://RegionTwo/n1" } });
    expect(plan(observed({ node: elsewhere, servers: [] }), now).steps).toEqual([]);
    expect(reasons(observed({ node: elsewhere, servers: [] }))).toEqual(["ForeignRegion"]);
    expect(reasons(observed({ node: known({ spec: { providerID: "aws:///i-1" } }) }))).toEqual(["ForeignProviderID"]);
  });

  test.each([
    ["denied twice and not Ready", 2, heard(0, "False"), false],
    ["denied three times and not Ready", 3, heard(0, "False"), true],
    ["denied three times and Ready", 3, heard(0), false],
    ["denied three times, Ready, and silent for seven minutes", 3, heard(7 * minutes), true],
  ])("that was %s is deleted: %s", (_what, denials, status, deleted) => {
    const start = observed({ node: known({ status }), servers: [], denials });
    expect(plan(start, now).steps.map((s) => s.type)).toEqual(deleted ? ["delete-node"] : []);
    if (!deleted) expect(plan(start, now).wait?.until).toBeGreaterThan(now);
  });

  test("that is being deleted is not deleted again", () => {
    const node = known({ metadata: { name: "n1", deletionTimestamp: "now" } });
    expect(plan(observed({ node, servers: [], denials: 9 }), now).steps).toEqual([]);
  });

  test("converges from every state: a second reconcile plans no step", () => {
    const taints = fc
      .subarray([uninitializedTaint, shutdownTaint, "mine"])
      .map((keys) => keys.map((key) => ({ key, effect: "NoSchedule" as const })));
    const status = fc.constantFrom("ACTIVE" as const, "SHUTOFF" as const, "BUILD" as const);
    const networks = fc.dictionary(
      fc.constantFrom("a", "b", "c"),
      fc.array(
        fc.record({
          addr: fc.ipV4(),
          version: fc.constant(4 as const),
          "OS-EXT-IPS:type": fc.constantFrom("fixed", "floating"),
        }),
        { maxLength: 2 },
      ),
    );
    fc.assert(
      fc.property(taints, status, networks, (given, state, addresses) => {
        const server = aServer("n1", { status: state, addresses: addresses as Server["addresses"] });
        const start = observed({ node: aNewNode({ spec: { taints: given } }), servers: [server] });
        const { node } = settle(start);
        expect(plan({ ...start, node }, now).steps).toEqual([]);
        expect(node.spec?.taints?.some((t) => t.key === "mine") ?? false).toBe(given.some((t) => t.key === "mine"));
        expect(node.spec?.taints?.some((t) => t.key === shutdownTaint)).toBe(state === "SHUTOFF");
      }),
    );
  });
});

describe("a providerID", () => {
  test.each([
    ["openstack:///abc", { region: "", serverId: "abc" }],
    ["openstack://RegionOne/abc", { region: "RegionOne", serverId: "abc" }],
    ["abc-def", { region: "", serverId: "abc-def" }],
    ["aws:///zone/i-1", undefined],
    ["openstack://abc", undefined],
    ["", undefined],
  ])("%j is %j", (text, expected) => {
    expect(parseProviderId(text)).toEqual(expected);
  });

  test("is read as it was written", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9]{0,8}$/), fc.uuid(), (region, serverId) => {
        expect(parseProviderId(formatProviderId({ region, serverId }))).toEqual({ region, serverId });
      }),
    );
  });
});

test("any text becomes a valid label value", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 100 }), (text) => {
      expect(labelValue(text)).toMatch(/^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/);
    }),
  );
});

describe("a Node whose cloud is judged by other controllers, too,", () => {
  const settled = settle(observed()).node;
  const off = aServer("n1", { status: "SHUTOFF" });
  const taint = { key: shutdownTaint, effect: "NoSchedule" };
  const follows = { initialise: false, lifecycle: true };
  test.each<[string, Partial<Observed>, readonly object[]]>([
    ["is tainted when its server is stopped", { servers: [off] }, [{ type: "set-node", labels: {}, taints: [taint] }]],
    ["is not changed otherwise", { node: aNewNode() }, []],
    ["is not tainted without that duty", { servers: [off], duties: { initialise: false, lifecycle: false } }, []],
    [
      "is not deleted without that duty",
      { servers: [], denials: 9, duties: { initialise: true, lifecycle: false } },
      [],
    ],
  ])("%s", (_title, changes, steps) => {
    expect(plan(observed({ node: settled, duties: follows, ...changes }), now).steps).toEqual(steps);
  });

  test("keeps its taints next to that of a stopped server", () => {
    const node = aNewNode();
    const [step] = plan(observed({ node, servers: [off], duties: follows }), now).steps;
    expect(step).toEqual({ type: "set-node", labels: {}, taints: [...(node.spec?.taints ?? []), taint] });
  });

  const wait = { for: "server n1 to stop, or node n1 to be Ready", until: now + 5_000 };
  test.each<[string, Partial<Observed>, object | undefined]>([
    ["in doubt is read again soon", { doubtful: true }, wait],
    ["without a doubt is not", {}, undefined],
    [
      "in doubt is not without that duty",
      { doubtful: true, duties: { initialise: true, lifecycle: false } },
      undefined,
    ],
    [
      "in doubt waits for its server's address first",
      { doubtful: true, servers: [aServer("n1", { addresses: {} })] },
      { for: "server n1 to have the node's address" },
    ],
  ])("%s", (_title, changes, expected) => {
    expect(plan(observed({ node: settled, ...changes }), now).wait).toEqual(expected);
  });
});

describe("a Node without a server", () => {
  const of = (status: Node["status"], change: Partial<Node["metadata"]> = {}, providerID?: string): Observed => {
    const node = aNewNode(status ? { status } : {});
    const spec = providerID === undefined ? {} : { providerID };
    return observed({ servers: [], denials: 3, node: { ...node, metadata: { ...node.metadata, ...change }, spec } });
  };
  const id = "openstack:///gone";
  const created = (ago: number) => ({ creationTimestamp: new Date(now - ago).toISOString() });
  test.each<[string, Observed, string | number]>([
    ["is deleted once it is old and silent", of(heard(6 * minutes + 1), created(10 * minutes + 1)), "delete-node"],
    ["has ten minutes", of(heard(7 * minutes), created(10 * minutes)), 60_000],
    ["may be silent for six", of(heard(6 * minutes), created(20 * minutes)), 60_000],
    ["of unknown age waits", of(heard(7 * minutes), { creationTimestamp: undefined as never }), 60_000],
    ["that had one is deleted when it is not Ready", of(heard(0, "False"), {}, id), "delete-node"],
    ["that had one remains while it is Ready", of(heard(0), {}, id), 60_000],
    ["that had one is deleted when it is silent", of(heard(7 * minutes), {}, id), "delete-node"],
    ["waits for more denials", { ...of(heard(0, "False"), {}, id), denials: 2 }, 5_000],
    ["of which nothing was heard is silent", of({ addresses: [], conditions: [] }, {}, id), "delete-node"],
    [
      "that was heard in 1970 alone is silent",
      of(
        { addresses: [], conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "1970-01-01T00:00:00Z" }] },
        {},
        id,
      ),
      "delete-node",
    ],
  ])("%s", (_title, given, expected) => {
    const { steps, wait } = plan(given, now);
    expect(steps[0]?.type ?? (wait?.until ?? 0) - now).toBe(expected);
  });
});

describe("the addresses of a Node", () => {
  const address = (type: NodeAddress["type"], ip: string): NodeAddress => ({ type, address: ip });
  const server = aServer("n1", {
    addresses: {
      lan: [
        { addr: "10.0.0.1", version: 4, "OS-EXT-IPS:type": "fixed" },
        { addr: "203.0.113.1", version: 4, "OS-EXT-IPS:type": "floating" },
      ],
    },
  });
  const addressesOf = (changes: Partial<Node>) =>
    settle(observed({ servers: [server], node: aNewNode(changes) })).node.status?.addresses;
  test("are the server's, with the kubelet's own name", () => {
    const all = [address("InternalIP", "10.0.0.1"), address("ExternalIP", "203.0.113.1")];
    expect(addressesOf({})).toEqual([...all, address("Hostname", "n1")]);
    expect(addressesOf({ status: { addresses: [] } })).toEqual(all);
  });

  test("are changed where one of them differs, and not otherwise", () => {
    const { node } = settle(observed({ servers: [server] }));
    const moved = (changes: Partial<NodeAddress>) => {
      const addresses = (node.status?.addresses ?? []).map((each, i) => (i === 1 ? { ...each, ...changes } : each));
      const [step] = plan(observed({ servers: [server], node: { ...node, status: { addresses } } }), now).steps;
      return step?.type;
    };
    expect([moved({}), moved({ address: "203.0.113.2" }), moved({ type: "InternalIP" })]).toEqual([
      undefined,
      "set-addresses",
      "set-addresses",
    ]);
    const short = { ...node, status: { addresses: (node.status?.addresses ?? []).slice(0, 2) } };
    expect(plan(observed({ servers: [server], node: short }), now).steps).toEqual([]);
  });

  test("may be an ExternalIP alone", () => {
    const floating = [{ addr: "203.0.113.1", version: 4 as const, "OS-EXT-IPS:type": "floating" as const }];
    const { node } = settle(observed({ servers: [aServer("n1", { addresses: { lan: floating } })] }));
    expect(node.spec?.taints).toEqual([]);
  });

  test("that the kubelet was given may be an ExternalIP", () => {
    const annotations = { "alpha.kubernetes.io/provided-node-ip": "203.0.113.1" };
    const { metadata } = aNewNode();
    expect(addressesOf({ metadata: { ...metadata, annotations } })?.[0]).toEqual(address("ExternalIP", "203.0.113.1"));
  });
});

test("a warning about a Node is one event, and a Node without one has none", () => {
  const { events } = plan(observed({ servers: [aServer("a"), aServer("b")] }), now);
  const message = "2 servers are named n1; rename or delete all but the node's own, or set the node's providerID";
  expect(events).toEqual([{ type: "Warning", reason: "AmbiguousServer", message }]);
  const going = aNewNode();
  const leaving = { ...going, metadata: { ...going.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  expect(plan(observed({ node: leaving }), now)).toEqual({ steps: [], status: undefined });
});

test("labels of a Node that has all are not written again, and nor is what the server does not have", () => {
  const bare = aServer("n1", { flavor: { original_name: "" } as Server["flavor"], "OS-EXT-AZ:availability_zone": "" });
  const labels = settle(observed({ servers: [bare] })).node.metadata.labels ?? {};
  expect(Object.keys(labels).toSorted()).toEqual([
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/region",
  ]);
  const { node } = settle(observed());
  const changed = { ...node, metadata: { ...node.metadata, labels: {} } };
  const [step] = plan(observed({ node: changed }), now).steps;
  expect(step).not.toHaveProperty("providerId");
  expect(step).not.toHaveProperty("taints");
});
