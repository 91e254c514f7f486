import type { IPAddress, IPAddressClaim, OpenStackFloatingIPPool, OpenStackFloatingIPPoolSpec } from "@causeway/api";
import type { FloatingIp } from "@causeway/openstack";
import { describe, expect, test } from "vitest";
import { external, now, projectId } from "../testing/objects.ts";

import { addressFinalizer, poolDescription, poolFinalizer } from "./naming.ts";
import { plan as planPool } from "./plan.ts";

const namespace = "default";
const pool = (spec: Partial<OpenStackFloatingIPPoolSpec> = {}, metadata: object = {}): OpenStackFloatingIPPool => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1alpha1",
  kind: "OpenStackFloatingIPPool",
  metadata: { name: "public", namespace, uid: "uid-pool", generation: 1, finalizers: [poolFinalizer], ...metadata },
  spec: { identityRef: { name: "cloud", cloudName: "c" }, reclaimPolicy: "Delete", ...spec },
});
const poolRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "OpenStackFloatingIPPool", name: "public" };
const claim = (name: string, status?: IPAddressClaim["status"]): IPAddressClaim => ({
  apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
  kind: "IPAddressClaim",
  metadata: { name, namespace },
  spec: { poolRef },
  ...(status ? { status } : {}),
});
const address = (name: string, ip: string, metadata: object = {}): IPAddress => ({
  apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
  kind: "IPAddress",
  metadata: { name, namespace, finalizers: [addressFinalizer], ...metadata },
  spec: { address: ip, prefix: 32, claimRef: { name }, poolRef },
});
const ip = (n: number, more: Partial<FloatingIp> = {}): FloatingIp => ({
  id: `ip-${n}`,
  project_id: projectId,
  floating_network_id: external.id,
  floating_ip_address: `172.24.4.${n}`,
  fixed_ip_address: null,
  port_id: null,
  router_id: null,
  status: "DOWN",
  description: poolDescription(pool()),
  tags: ["cluster-api-provider-openstack-fip-pool-public"],
  ...more,
});
const gone = { deletionTimestamp: "2026-11-21T00:00:00Z" };

interface Content {
  readonly object?: OpenStackFloatingIPPool;
  readonly claims?: readonly IPAddressClaim[];
  readonly addresses?: readonly IPAddress[];
  readonly floatingIps?: readonly FloatingIp[];
  readonly networks?: readonly (typeof external)[];
}

function plan({ object = pool(), claims = [], addresses = [], floatingIps = [], networks = [external] }: Content) {
  const identity = { ok: true, cloud: { projectId, networks, floatingIps } } as const;
  const { steps, status } = planPool({ object, paused: false, identity, claims, addresses }, now);
  const shown = steps.map((step) => {
    const { type, reason: _reason, ...rest } = step;
    const { address: at, claim: of, name, id } = rest as Record<string, string>;
    return [type, of ?? name ?? id, at].filter((part) => part !== undefined).join(" ");
  });
  return { shown, status };
}

const condition = (content: Content) =>
  plan(content).status.conditions?.find((one) => one.type === "OpenstackFloatingIPPoolReadyCondition");

describe("the plan of a floating IP pool", () => {
  const rows: [string, Content, string[]][] = [
    ["adds its finalizer first", { object: pool({}, { finalizers: [] }), claims: [claim("a")] }, ["add-finalizer"]],
    ["creates a floating IP for a claim", { claims: [claim("a")] }, ["create-floating-ip"]],
    [
      "gives a claim the floating IP that was created",
      { claims: [claim("a")], floatingIps: [ip(1)] },
      ["create-address a 172.24.4.1"],
    ],
    [
      "records an address that exists",
      { claims: [claim("a")], addresses: [address("a", "172.24.4.1")], floatingIps: [ip(1)] },
      ["record-address a"],
    ],
    [
      "is at rest with a claim that has its address",
      {
        claims: [claim("a", { addressRef: { name: "a" } })],
        addresses: [address("a", "172.24.4.1")],
        floatingIps: [ip(1, { port_id: "p" })],
      },
      [],
    ],
    [
      "gives no two claims the same address",
      { claims: [claim("a"), claim("b")], floatingIps: [ip(1)] },
      ["create-address a 172.24.4.1", "create-floating-ip"],
    ],
    [
      "hands out pre-allocated addresses first, and none that is in use",
      {
        object: pool({ preAllocatedFloatingIPs: ["172.24.4.8", "172.24.4.9"] }),
        claims: [claim("a"), claim("b")],
        floatingIps: [ip(1), ip(8, { description: "mine", port_id: "p" }), ip(9, { description: "mine", tags: [] })],
      },
      ["create-address a 172.24.4.9", "create-address b 172.24.4.1"],
    ],
    [
      "uses no floating IP of another pool with its name",
      { claims: [claim("a")], floatingIps: [ip(1, { description: poolDescription(pool({}, { uid: "other" })) })] },
      ["create-floating-ip"],
    ],
    [
      "creates no more than the maximum",
      { object: pool({ maxIPs: 1 }), claims: [claim("a"), claim("b")] },
      ["create-floating-ip"],
    ],
    ["tags what an attempt left without a tag", { floatingIps: [ip(1, { tags: [] })] }, ["tag-floating-ip ip-1"]],
    [
      "deletes the floating IP of a released address",
      { addresses: [address("a", "172.24.4.1", gone)], floatingIps: [ip(1)] },
      ["delete-floating-ip ip-1 172.24.4.1", "release-address a"],
    ],
    [
      "keeps the floating IP of a released address with reclaimPolicy Retain",
      {
        object: pool({ reclaimPolicy: "Retain" }),
        addresses: [address("a", "172.24.4.1", gone)],
        floatingIps: [ip(1)],
      },
      ["release-address a"],
    ],
    [
      "never deletes a pre-allocated floating IP",
      {
        object: pool({ preAllocatedFloatingIPs: ["172.24.4.1"] }),
        addresses: [address("a", "172.24.4.1", gone)],
        floatingIps: [ip(1, { description: "mine", tags: [] })],
      },
      ["release-address a"],
    ],
    [
      "deletes the address of a claim that is gone",
      { addresses: [address("a", "172.24.4.1")], floatingIps: [ip(1)] },
      ["delete-address a"],
    ],
    [
      "deletes what it created when it is deleted, and nothing else",
      {
        object: pool({ reclaimPolicy: "Retain", preAllocatedFloatingIPs: ["172.24.4.2"] }, gone),
        floatingIps: [ip(1), ip(2, { description: "mine" }), ip(3, { description: "mine", tags: [] })],
      },
      ["delete-floating-ip ip-1 172.24.4.1", "remove-finalizer"],
    ],
    [
      "waits with its deletion for addresses",
      {
        object: pool({}, gone),
        claims: [claim("a", { addressRef: { name: "a" } })],
        addresses: [address("a", "172.24.4.1")],
        floatingIps: [ip(1)],
      },
      [],
    ],
  ];
  test.each(rows)("%s", (_, content, steps) => expect(plan(content).shown).toEqual(steps));

  test("reports the maximum, a missing network and pre-allocated addresses that the project does not have", () => {
    const full = { object: pool({ maxIPs: 0 }), claims: [claim("a")] };
    expect(condition(full)?.reason).toBe("MaxIPsReached");
    expect(condition({ claims: [claim("a")], networks: [] })?.reason).toBe("UnableToFindNetwork");
    expect(condition({})).toMatchObject({ status: "True", reason: "Ready" });
    const { status } = plan({ object: pool({ preAllocatedFloatingIPs: ["172.24.4.9"] }), floatingIps: [ip(1)] });
    expect(status).toMatchObject({ failedIPs: ["172.24.4.9"], availableIPs: ["172.24.4.1"], claimedIPs: [] });
  });
});
