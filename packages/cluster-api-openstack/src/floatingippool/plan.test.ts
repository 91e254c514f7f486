import { describe, expect, test } from "vitest";
import { address, claim, gone, ip, namespace, plan, pool, whole, type Content } from "../testing/pool-world.ts";
import { external } from "../testing/objects.ts";
import { poolDescription } from "./naming.ts";

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
    [
      "tags what an attempt left without a tag with reclaimPolicy Retain",
      { object: pool({ reclaimPolicy: "Retain" }), floatingIps: [ip(1, { tags: [] })] },
      ["tag-floating-ip ip-1"],
    ],
    [
      "deletes what an attempt left without a tag, whose claim has gone",
      { floatingIps: [ip(1, { tags: [] })] },
      ["delete-floating-ip ip-1 172.24.4.1"],
    ],
    [
      "gives a claim what an attempt left without a tag",
      { claims: [claim("a")], floatingIps: [ip(1, { tags: [] })] },
      ["create-address a 172.24.4.1"],
    ],
    [
      "tags it once it is claimed",
      {
        claims: [claim("a", { addressRef: { name: "a" } })],
        addresses: [address("a", "172.24.4.1")],
        floatingIps: [ip(1, { tags: [] })],
      },
      ["tag-floating-ip ip-1"],
    ],
    [
      "deletes none while the address of a claim is not seen",
      { claims: [claim("a", { addressRef: { name: "a" } })], floatingIps: [ip(1, { tags: [] })] },
      [],
    ],
    ["keeps what was retained before the policy was changed", { floatingIps: [ip(1)] }, []],
    ["deletes none without a tag that a port has", { floatingIps: [ip(1, { tags: [], port_id: "p" })] }, []],
    [
      "deletes the floating IP of a released address",
      { addresses: [address("a", "172.24.4.1", gone)], floatingIps: [ip(1)] },
      ["delete-floating-ip ip-1 172.24.4.1", "release-address a"],
    ],
    [
      "gives a recreated claim no address that is being deleted",
      { claims: [claim("a")], addresses: [address("a", "172.24.4.1", { ...gone, finalizers: [] })] },
      [],
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
    ["has nothing to do once its finalizer is removed", { object: pool({}, { ...gone, finalizers: ["other"] }) }, []],
    [
      "gives nothing to a claim that is being deleted",
      { claims: [{ ...claim("a"), metadata: { name: "a", namespace, ...gone } }], floatingIps: [ip(1)] },
      [],
    ],
    [
      "gives a claim the free floating IP also at the maximum, and creates none for the next",
      {
        object: pool({ maxIPs: 1 }),
        claims: [claim("a", { addressRef: { name: "a" } }), claim("b"), claim("c")],
        addresses: [address("a", "172.24.4.1")],
        floatingIps: [ip(1), ip(2)],
      },
      ["create-address b 172.24.4.2"],
    ],
    [
      "counts addresses that exist towards the maximum",
      {
        object: pool({ maxIPs: 2 }),
        claims: [claim("a", { addressRef: { name: "a" } }), claim("b"), claim("c")],
        addresses: [address("a", "172.24.4.1")],
        floatingIps: [ip(1)],
      },
      ["create-floating-ip"],
    ],
    [
      "hands out floating IPs in the order of their IDs",
      { claims: [claim("a"), claim("b"), claim("c")], floatingIps: [ip(2), ip(3), ip(1)] },
      ["create-address a 172.24.4.1", "create-address b 172.24.4.2", "create-address c 172.24.4.3"],
    ],
    [
      "hands out a pre-allocated floating IP of its own once",
      {
        object: pool({ preAllocatedFloatingIPs: ["172.24.4.1"] }),
        claims: [claim("a"), claim("b")],
        floatingIps: [ip(1)],
      },
      ["create-address a 172.24.4.1", "create-floating-ip"],
    ],
    [
      "uses no floating IP of another project",
      {
        object: pool({ preAllocatedFloatingIPs: ["172.24.4.2"] }),
        claims: [claim("a")],
        floatingIps: [ip(1, { project_id: "other" }), ip(2, { project_id: "other" })],
      },
      ["create-floating-ip"],
    ],
    [
      "uses what upstream's provider created: it is recorded and has the pool's tag",
      {
        object: { ...pool(), status: { availableIPs: ["172.24.4.1", "172.24.4.2"] } },
        claims: [claim("a"), claim("b")],
        floatingIps: [
          ip(1, { description: "upstream" }),
          ip(2, { description: "upstream", tags: [] }),
          ip(3, { description: "upstream" }),
        ],
      },
      ["create-address a 172.24.4.1", "create-floating-ip"],
    ],
    [
      "releases an address of another floating IP without it, and one of upstream's with it",
      {
        addresses: [address("a", "172.24.4.1", gone), address("b", "172.24.4.2", gone)],
        floatingIps: [ip(1, { description: "mine", tags: [] }), ip(2, { description: "upstream" }), ip(3)],
      },
      ["release-address a", "delete-floating-ip ip-2 172.24.4.2", "release-address b"],
    ],
    [
      "deletes the floating IP that it created, also where the attempt left it without a tag",
      { addresses: [address("a", "172.24.4.1", gone)], floatingIps: [ip(1, { tags: [] })] },
      ["delete-floating-ip ip-1 172.24.4.1", "release-address a"],
    ],
    [
      "has nothing to do with an address that is being deleted and was released",
      { addresses: [address("a", "172.24.4.1", { ...gone, finalizers: ["other"] })] },
      [],
    ],
    [
      "releases addresses before anything else",
      {
        object: pool({}, { finalizers: [] }),
        claims: [claim("b")],
        addresses: [address("a", "172.24.4.1", gone)],
      },
      ["release-address a"],
    ],
    [
      "does not release an address without finalizers",
      { addresses: [address("a", "172.24.4.1", { ...gone, finalizers: undefined })], floatingIps: [ip(1)] },
      [],
    ],
    [
      "keeps a floating IP that a port has, and pre-allocated ones that it created, when it is deleted",
      {
        object: pool({ preAllocatedFloatingIPs: ["172.24.4.2"] }, gone),
        floatingIps: [ip(1, { port_id: "p" }), ip(2), ip(3)],
      },
      ["delete-floating-ip ip-3 172.24.4.3", "remove-finalizer"],
    ],
  ];
  test.each(rows)("%s", (_, content, steps) => expect(plan(content).shown).toEqual(steps));

  test("creates a floating IP in its network with the proof of who created it, and names those that it has", () => {
    const object = pool({ reclaimPolicy: "Retain" });
    const { steps } = whole({ object, claims: [claim("a"), claim("b")], floatingIps: [ip(1, { tags: ["blue"] })] });
    expect(steps).toEqual([
      {
        type: "tag-floating-ip",
        reason: "OpenStackError",
        id: "ip-1",
        tags: ["blue", "cluster-api-provider-openstack-fip-pool-public"],
      },
      { type: "create-address", reason: "OpenStackError", claim: "a", address: "172.24.4.1" },
      {
        type: "create-floating-ip",
        reason: "OpenStackError",
        body: { floating_network_id: external.id, description: poolDescription(pool()) },
        known: ["ip-1"],
      },
    ]);
  });

  test("every step says for which condition it fails", () => {
    const contents = rows.map(([, content]) => content);
    expect(new Set(contents.flatMap((content) => whole(content).steps.map(({ reason }) => reason)))).toEqual(
      new Set(["OpenStackError"]),
    );
  });
});
