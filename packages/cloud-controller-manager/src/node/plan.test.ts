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
