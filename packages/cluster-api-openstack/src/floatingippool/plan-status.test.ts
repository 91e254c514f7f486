import { describe, expect, test } from "vitest";
import { address, claim, gone, ip, plan, pool, whole, type Content } from "../testing/pool-world.ts";
import { external, now } from "../testing/objects.ts";

const condition = (content: Content) =>
  plan(content).status.conditions?.find((one) => one.type === "OpenstackFloatingIPPoolReadyCondition");

describe("the status of a floating IP pool", () => {
  test("reports the maximum, a missing network and pre-allocated addresses that the project does not have", () => {
    const full = { object: pool({ maxIPs: 0 }), claims: [claim("a")] };
    expect(condition(full)?.reason).toBe("MaxIPsReached");
    expect(condition({ claims: [claim("a")], networks: [] })?.reason).toBe("UnableToFindNetwork");
    expect(condition({})).toMatchObject({ status: "True", reason: "Ready" });
    const { status } = plan({ object: pool({ preAllocatedFloatingIPs: ["172.24.4.9"] }), floatingIps: [ip(1)] });
    expect(status).toMatchObject({ failedIPs: ["172.24.4.9"], availableIPs: ["172.24.4.1"], claimedIPs: [] });
  });

  const inside = { ...external, id: "net-inside", name: "inside", "router:external": false };
  const second = { ...external, id: "net-2", name: "second", tags: ["blue"] };
  const recorded = { ...pool(), status: { floatingIPNetwork: { id: "net-2", name: "before" } } };
  const networks: [string, Content, object][] = [
    ["the only external network", { networks: [inside, external] }, { id: external.id, name: "public" }],
    [
      "the network of the spec, with its tags",
      { object: pool({ floatingIPNetwork: { filter: { name: "second" } } }), networks: [external, second] },
      { id: "net-2", name: "second", tags: ["blue"] },
    ],
    [
      "the recorded network, whatever else there is",
      { object: recorded, networks: [external, second] },
      { id: "net-2", name: "second", tags: ["blue"] },
    ],
  ];
  test.each(networks)("records %s", (_, content, network) => {
    const { status, events, wait } = whole(content);
    expect([status.floatingIPNetwork, events, wait]).toEqual([network, [], undefined]);
  });

  const problems: [string, Content, string, string | RegExp][] = [
    ["no external network", { networks: [inside] }, "UnableToFindNetwork", "The project sees no external network"],
    [
      "several external networks, of which none is named",
      { networks: [external, second] },
      "UnableToFindNetwork",
      "The project sees several external networks; set spec.floatingIPNetwork",
    ],
    [
      "a network that is not external",
      { object: pool({ floatingIPNetwork: { id: "net-inside" } }), networks: [external, inside] },
      "UnableToFindNetwork",
      /^spec\.floatingIPNetwork: no match for id net-inside/,
    ],
    [
      "claims beyond the maximum",
      {
        object: pool({ maxIPs: 1 }),
        claims: [claim("a", { addressRef: { name: "a" } }), claim("b"), claim("c")],
        addresses: [address("a", "172.24.4.1")],
        floatingIps: [ip(1)],
      },
      "MaxIPsReached",
      "The maximum of 1 addresses is in use; 2 claims wait. Raise spec.maxIPs, or delete claims",
    ],
    [
      "a call that the cloud has refused a moment ago",
      {
        claims: [claim("a")],
        more: { hold: { type: "x", reason: "QuotaExceeded", message: "Quota exceeded", until: now + 1 } },
      },
      "QuotaExceeded",
      "Quota exceeded",
    ],
  ];
  test.each(problems)(
    "reports %s in its condition and an event, and tries again in a minute",
    (_, content, reason, text) => {
      const { steps, status, wait, events } = whole(content);
      const message = typeof text === "string" ? text : (expect.stringMatching(text) as string);
      expect(steps).toEqual([]);
      expect(events).toEqual([{ type: "Warning", reason, message }]);
      expect(wait).toEqual({ for: message, until: now + 60_000 });
      expect(status.conditions).toMatchObject([
        { type: "OpenStackAuthenticationSucceeded", status: "True", reason: "Ready" },
        { type: "OpenstackFloatingIPPoolReadyCondition", status: "False", reason, message },
      ]);
    },
  );

  test("is ready while it has something to do, too", () => {
    expect(condition({ claims: [claim("a")] })).toMatchObject({ status: "True", reason: "Ready" });
  });

  test("continues when the time of a refused call is over", () => {
    const hold = { type: "x", reason: "QuotaExceeded", message: "Quota exceeded", until: now };
    expect(plan({ claims: [claim("a")], more: { hold } }).shown).toEqual(["create-floating-ip"]);
  });

  test("waits for its addresses when it is deleted: no user has to act, so there is no event", () => {
    const object = pool({}, gone);
    const content = {
      object,
      claims: [claim("a", { addressRef: { name: "a" } })],
      addresses: [address("a", "172.24.4.1")],
    };
    const { wait, events } = whole(content);
    const message = "1 IPAddresses of the pool to be deleted first";
    expect([wait, events]).toEqual([{ for: message, until: now + 60_000 }, []]);
    expect(condition(content)).toMatchObject({
      status: "False",
      reason: "Deleting",
      message: `Waiting for ${message}`,
    });
  });

  const failing = { ok: false, reason: "InvalidIdentity", message: "no Secret" } as const;
  test("reports credentials that do not work, and leaves what is known as it was", () => {
    const known = { claimedIPs: ["172.24.4.1"] };
    const object = { ...pool(), status: known };
    const { steps, status, wait, events } = whole({ object, claims: [claim("a")], more: { identity: failing } });
    expect([steps, wait]).toEqual([[], { for: "no Secret", until: now + 60_000 }]);
    expect(events).toEqual([{ type: "Warning", reason: "InvalidIdentity", message: "no Secret" }]);
    expect(status).toMatchObject({
      ...known,
      conditions: [
        { type: "OpenStackAuthenticationSucceeded", status: "False", reason: "InvalidIdentity", message: "no Secret" },
      ],
    });
    const limited = { identity: { ...failing, until: now + 5 } };
    expect(whole({ object, more: limited })).toEqual({
      steps: [],
      status: known,
      wait: { for: "no Secret", until: now + 5 },
    });
  });

  const untouched: [string, Content][] = [
    ["while it is paused", { claims: [claim("a")], more: { paused: true } }],
    ["that is being deleted and has lost its finalizer", { object: pool({}, { ...gone, finalizers: undefined }) }],
  ];
  test.each(untouched)("does nothing and changes no status of a pool %s", (_, content) => {
    const object = { ...(content.object ?? pool()), status: { claimedIPs: ["172.24.4.7"] } };
    expect(whole({ ...content, object })).toEqual({ steps: [], status: object.status });
  });

  test("reports addresses in order, without those that are being deleted, and what is free", () => {
    const claims = ["a", "b", "c"].map((name) => claim(name, { addressRef: { name } }));
    const { status } = whole({
      object: pool({ preAllocatedFloatingIPs: ["172.24.4.5", "172.24.4.6"] }),
      claims,
      addresses: [address("b", "172.24.4.2"), address("a", "172.24.4.1"), address("c", "172.24.4.3", gone)],
      floatingIps: [ip(1), ip(2), ip(3), ip(4), ip(5, { project_id: "other" })],
    });
    expect(status).toMatchObject({
      claimedIPs: ["172.24.4.1", "172.24.4.2"],
      availableIPs: ["172.24.4.4"],
      failedIPs: ["172.24.4.6"],
    });
  });
});
