import { describe, expect, test } from "vitest";
import { partsInCreate } from "@causeway/octavia-tree";
import type { LoadBalancer } from "@causeway/openstack";
import { certificateName, ingressOwner, POLICY_DESCRIPTION } from "../names.ts";
import { balancerOf, emptyBalancer, floatingIp } from "../testing/observed.ts";
import type { HeldBalancer, ObservedBalancer, WantedBalancer } from "./balancer.ts";
import { isAnothers, ownershipOf, planBalancer, planRelease, type BalancerPlan } from "./plan-balancer.ts";
import type { BalancerStep } from "./steps.ts";

const NOW = 1_000_000;
const LATER = NOW + 60_000;
const OWNER = ingressOwner("c", { namespace: "n", name: "web", uid: "u" });
const OTHER = ingressOwner("c", { namespace: "n", name: "other", uid: "o" });
const CERTIFICATE = certificateName(OWNER, "secret", "d".repeat(64));
const bundle = { digest: "d".repeat(64), pkcs12: () => Buffer.alloc(0) };
const MEMBERS = [{ address: "10.0.0.9", protocol_port: 30_001 }];

const wanted: WantedBalancer = {
  owner: OWNER,
  description: "says",
  place: { subnetId: "subnet", provider: undefined, flavorId: undefined },
  tree: {
    tags: [OWNER.tag],
    pools: [
      {
        poolName: "a".repeat(64),
        poolProtocol: "HTTP",
        algorithm: "ROUND_ROBIN",
        persistence: null,
        members: MEMBERS,
        monitor: undefined,
        monitorName: "",
        serial: false,
        memberCosts: { kept: 0, changed: 0, single: 0, cycle: 10 },
      },
    ],
    listeners: [],
  },
  address: { internal: false, networkId: "public", address: undefined, keep: false },
  certificates: new Map(),
};
const body = {
  name: OWNER.name,
  description: "says",
  vip_subnet_id: "subnet",
  tags: [OWNER.tag],
  ...partsInCreate(wanted.tree, POLICY_DESCRIPTION),
};
const there = (more: Partial<LoadBalancer> = {}): ObservedBalancer => ({
  ...balancerOf(OWNER, body, more),
  floatingIp: floatingIp(OWNER),
});
const [lb] = there().found as [LoadBalancer];
const held = (more: Partial<HeldBalancer>): HeldBalancer => ({ ...emptyBalancer(OWNER).held, ...more });
const from = { now: NOW, served: false };
const nothing: BalancerPlan = { steps: [], events: [], settled: false };
const deletion = (id: string, message: string): BalancerStep => ({
  type: "delete-load-balancer",
  id,
  event: { type: "Normal", reason: "Deleting", message },
});
const settled: BalancerPlan = { steps: [], events: [], settled: true, address: "203.0.113.5" };

describe("the plan of a load balancer", () => {
  const extra = { ...lb, id: "extra" };
  const busy = { ...there(), held: held({ busy: NOW + 5 }) };
  const longer = { ...wanted, tree: { ...wanted.tree, tags: [...wanted.tree.tags, "more"] } };
  const tagged: BalancerStep = { type: "update-load-balancer", id: "lb", change: { tags: [OWNER.tag, "more"] } };
  const changeable = { for: "load balancer lb to be changeable", until: NOW + 5 };
  const active = { for: "load balancer lb to be ACTIVE", until: LATER };
  const braked = { ...there(), held: held({ braked: () => NOW + 7 }) };
  const onlyHeld = { for: "changes that did not settle or were refused", until: NOW + 7, onlyHeld: true };
  test.each<[string, WantedBalancer, ObservedBalancer, BalancerPlan]>([
    ["that is as it is wanted has nothing to do", wanted, there(), settled],
    ["has one change", longer, there(), { ...settled, settled: false, steps: [tagged] }],
    ["waits with a change while it is busy", longer, busy, { ...settled, settled: false, wait: changeable }],
    ["that is busy waits for nothing if nothing is to be changed", wanted, busy, settled],
    [
      "is changed when it is busy no longer",
      longer,
      { ...busy, held: held({ busy: NOW }) },
      { ...settled, settled: false, steps: [tagged] },
    ],
    ["waits for changes that are held back", longer, braked, { ...settled, settled: false, wait: onlyHeld }],
    [
      "that is being created has no address yet",
      wanted,
      there({ provisioning_status: "PENDING_CREATE" }),
      { ...nothing, wait: active },
    ],
    [
      "that is being changed keeps its address",
      wanted,
      there({ provisioning_status: "PENDING_UPDATE" }),
      { ...settled, settled: false, wait: active },
    ],
    [
      "whose parts are not read yet waits",
      wanted,
      { ...there(), tree: undefined },
      { ...settled, settled: false, wait: active },
    ],
    [
      "that is being changed waits though its parts were read",
      wanted,
      { ...there(), found: [{ ...lb, provisioning_status: "PENDING_UPDATE" }] },
      { ...settled, settled: false, wait: active },
    ],
    [
      "of which there are two loses the second",
      wanted,
      { ...there(), found: [lb, extra] },
      { ...nothing, steps: [deletion("extra", "Deleting second load balancer extra")] },
    ],
    [
      "of which a second is being changed is not settled",
      wanted,
      { ...there(), found: [lb, { ...extra, provisioning_status: "PENDING_UPDATE" }] },
      { ...settled, settled: false },
    ],
  ])("%s", (_title, goal, observed, expected) => {
    expect(planBalancer(goal, observed, from)).toStrictEqual(expected);
  });

  test("is marked as ours before anything else of it is changed", () => {
    const unmarked = there({ tags: ["theirs"] });
    const { steps } = planBalancer({ ...wanted, tree: { ...wanted.tree, pools: [] } }, unmarked, from);
    expect(steps).toEqual([{ type: "update-load-balancer", id: "lb", change: { tags: ["theirs", OWNER.tag] } }]);
  });

  test("says why it cannot have the wanted address, and keeps what it has", () => {
    const goal = { ...wanted, address: { ...wanted.address, address: "203.0.113.9" } };
    const failure = "there is no floating IP 203.0.113.9 in the project";
    expect(planBalancer(goal, there(), from)).toStrictEqual({ ...settled, failure });
  });

  test("opens its members' ports in the security group of the nodes", () => {
    const group = { managed: true, groups: [], memberPorts: [], grouped: [], cidr: "10.0.0.0/24" };
    const { steps, settled: done } = planBalancer(wanted, { ...there(), group }, from);
    expect([steps.map(({ type }) => type), done]).toEqual([["create-security-group"], false]);
  });

  test.each<[string, readonly LoadBalancer[], string]>([
    [
      "that is another owner's",
      [{ ...lb, tags: [OTHER.tag] }],
      `load balancer lb is named ${OWNER.name}, and its tags name another owner`,
    ],
    ["of which nothing says which is ours", [lb, { ...extra, tags: [] }], `2 load balancers are named ${OWNER.name}`],
  ])("refuses one %s", (_title, found, failure) => {
    const plan = planBalancer(wanted, { ...there(), found }, from);
    expect(plan).toMatchObject({ steps: [], settled: false, failure: expect.stringContaining(failure) });
    expect(plan.wait).toEqual({ for: "the blocking condition to clear", until: LATER });
  });

  test("adopts one without any tag of an owner", () => {
    expect(planBalancer(wanted, there({ tags: [] }), from).failure).toBeUndefined();
  });

  describe("that is not there", () => {
    const created = (more: object = {}): BalancerPlan => ({
      ...nothing,
      steps: [
        {
          type: "create-load-balancer",
          body: { ...body, ...more },
          event: { type: "Normal", reason: "Creating", message: `Creating load balancer ${OWNER.name}` },
        },
      ],
    });
    const place = { subnetId: "subnet", provider: "ovn", flavorId: "big", vipAddress: "10.0.0.5" };
    const wait = { for: `${OWNER.name} to be created again`, until: NOW + 1 };
    test.each<[string, Partial<WantedBalancer>, Partial<HeldBalancer>, BalancerPlan]>([
      ["is created", {}, {}, created()],
      [
        "is created at its place",
        { place },
        {},
        created({ provider: "ovn", flavor_id: "big", vip_address: "10.0.0.5" }),
      ],
      ["waits while an earlier create may be under way", {}, { uncertain: NOW + 1 }, { ...nothing, wait }],
      ["waits after it was broken", {}, { broken: NOW + 1, uncertain: NOW }, { ...nothing, wait }],
      ["is created again then", {}, { broken: NOW, uncertain: NOW }, created()],
    ])("%s", (_title, more, waiting, expected) => {
      const observed = { ...emptyBalancer(OWNER), held: held(waiting) };
      expect(planBalancer({ ...wanted, ...more }, observed, from)).toStrictEqual(expected);
    });
  });

  describe("in ERROR", () => {
    const broken = there({ provisioning_status: "ERROR" });
    const gone = { ...deletion("lb", "Deleting load balancer lb, which went to ERROR"), broken: true };
    const failure = expect.stringContaining("load balancer lb is in ERROR; fail it over");
    const wait = { for: "the blocking condition to clear", until: LATER };
    test.each<[string, ObservedBalancer, boolean, object]>([
      ["is left to a person when it has served", broken, true, { ...nothing, failure, wait }],
      [
        "is left to a person when it is not marked as ours",
        there({ provisioning_status: "ERROR", tags: [] }),
        false,
        { ...nothing, failure, wait },
      ],
      [
        "is deleted when it never served; its successor gets its address",
        broken,
        false,
        { ...nothing, steps: [{ type: "detach-floating-ip", id: "fip" }, gone] },
      ],
      [
        "is deleted without an address, too",
        { ...broken, floatingIp: undefined },
        false,
        { ...nothing, steps: [gone] },
      ],
      [
        "is deleted ever more slowly",
        { ...broken, held: held({ broken: NOW + 3 }) },
        false,
        { ...nothing, wait: { for: "broken load balancer lb to be deleted", until: NOW + 3 } },
      ],
      [
        "is deleted after that time",
        { ...broken, floatingIp: undefined, held: held({ broken: NOW }) },
        false,
        { ...nothing, steps: [gone] },
      ],
    ])("%s", (_title, observed, served, expected) => {
      expect(planBalancer(wanted, observed, { now: NOW, served })).toStrictEqual(expected);
    });
  });

  describe("with certificates", () => {
    const goal = { ...wanted, certificates: new Map([[CERTIFICATE, bundle]]) };
    const old = certificateName(OWNER, "secret", "e".repeat(64));
    const stored = [
      { name: CERTIFICATE, ref: "now" },
      { name: old, ref: "old" },
      { name: certificateName(OTHER, "secret", "e".repeat(64)), ref: "theirs" },
    ];
    test("has them stored before anything refers to them", () => {
      const steps = [{ type: "store-certificate", name: CERTIFICATE }];
      expect(planBalancer(goal, emptyBalancer(OWNER), from)).toStrictEqual({ ...nothing, steps });
    });

    test("deletes those of its own that no listener uses any more", () => {
      const plan = planBalancer(goal, { ...there(), stored }, from);
      expect(plan.steps).toEqual([{ type: "delete-certificate", name: old, ref: "old" }]);
    });

    test.each([{ default_tls_container_ref: "old" }, { sni_container_refs: ["old"] }])(
      "keeps one in use: %j",
      (use) => {
        const { tree } = there();
        if (!tree) throw new Error("it has no parts");
        const listener = { id: "L", name: "by hand", tags: [], ...use } as unknown as (typeof tree.listeners)[number];
        const observed = { ...there(), stored, tree: { ...tree, listeners: [listener] } };
        expect(planBalancer(goal, observed, from).steps).toEqual([]);
      },
    );

    test("waits with that until the parts are known", () => {
      expect(planBalancer(goal, { ...there(), stored, tree: undefined }, from).steps).toEqual([]);
    });
  });
});

describe("the release of a load balancer", () => {
  const release = { keepFloatingIp: false, now: NOW };
  const steps: BalancerStep[] = [
    { type: "delete-floating-ip", id: "fip" },
    deletion("lb", "Deleting load balancer lb"),
  ];
  const going = { ...nothing, wait: { for: `load balancer ${OWNER.name} to be deleted`, until: LATER } };
  const at = there();
  const none = emptyBalancer(OWNER);
  const free = floatingIp(OWNER, { id: "free", port_id: null });
  const stored = [
    { name: CERTIFICATE, ref: "now" },
    { name: certificateName(OTHER, "secret", "e".repeat(64)), ref: "theirs" },
  ];
  const users = { ...floatingIp(OWNER), description: "mine" };
  const uncertain = { for: `${OWNER.name}, whose creation got no response`, until: NOW + 1 };
  const changeable = { for: "the load balancer to be changeable", until: NOW + 1 };
  test.each<[string, ObservedBalancer, BalancerPlan]>([
    ["deletes it and its address", at, { ...nothing, steps }],
    [
      "only detaches a user's address",
      { ...at, floatingIp: users },
      { ...nothing, steps: [{ type: "detach-floating-ip", id: "fip" }, ...steps.slice(1)] },
    ],
    [
      "leaves an address of another port",
      { ...at, floatingIp: floatingIp(OWNER, { port_id: "theirs" }) },
      { ...nothing, steps: steps.slice(1) },
    ],
    ["deletes one without an address", { ...at, floatingIp: undefined }, { ...nothing, steps: steps.slice(1) }],
    ["leaves another owner's", { ...at, found: [{ ...lb, tags: [OTHER.tag] }] }, { ...nothing, settled: true }],
    ["waits while it is changing", there({ provisioning_status: "PENDING_UPDATE" }), going],
    ["waits while it is busy", { ...at, held: held({ busy: NOW + 1 }) }, { ...nothing, wait: changeable }],
    ["deletes it when it is busy no longer", { ...at, held: held({ busy: NOW }) }, { ...nothing, steps }],
    ["waits until it is gone", { ...none, leaving: [lb] }, going],
    [
      "waits longer while it is busy",
      { ...none, leaving: [lb], held: held({ busy: LATER + 1 }) },
      { ...nothing, wait: { ...going.wait, until: LATER + 1 } },
    ],
    [
      "waits for one whose create got no response",
      { ...none, held: held({ uncertain: NOW + 1 }) },
      { ...nothing, wait: uncertain },
    ],
    [
      "is over when none of it appeared",
      { ...none, held: held({ uncertain: NOW, busy: NOW + 1 }) },
      { ...nothing, settled: true },
    ],
    [
      "then deletes its certificates",
      { ...none, stored },
      { ...nothing, steps: [{ type: "delete-certificate", name: CERTIFICATE, ref: "now" }] },
    ],
    [
      "then deletes its addresses that are free",
      { ...none, own: [free, floatingIp(OWNER)] },
      { ...nothing, steps: [{ type: "delete-floating-ip", id: "free" }] },
    ],
    ["is over when nothing is left", none, { ...nothing, settled: true }],
  ])("%s", (_title, observed, expected) => {
    expect(planRelease(observed, release)).toStrictEqual(expected);
  });

  test("keeps addresses that are to be kept", () => {
    const keep = { ...release, keepFloatingIp: true };
    expect(planRelease(at, keep).steps[0]).toEqual({ type: "detach-floating-ip", id: "fip" });
    expect(planRelease({ ...none, own: [free] }, keep)).toStrictEqual({ ...nothing, settled: true });
  });
});

describe("the parts that an owner may delete", () => {
  const owns = ownershipOf(OWNER);
  test.each([
    ["a listener with its name", { name: `${OWNER.name}_80`, tags: [] }, true],
    ["a listener with its tag", { name: "renamed", tags: [OWNER.tag] }, true],
    ["another listener", { name: "by hand", tags: [OTHER.tag] }, false],
  ])("%s: %j", (_title, listener, expected) => {
    expect(owns.listener(listener as never)).toBe(expected);
  });

  test("pools with names of ours, and policies with our description", () => {
    expect([owns.pool({ name: "a".repeat(64) } as never), owns.pool({ name: "by hand" } as never)]).toEqual([
      true,
      false,
    ]);
    const policy = (description: string) => owns.policy({ policy: { description } } as never);
    expect([policy(POLICY_DESCRIPTION), policy("by hand")]).toEqual([true, false]);
  });

  test("nothing of one that another owner has tagged", () => {
    const tagged = (...tags: string[]) => isAnothers({ tags }, OWNER);
    expect([tagged(), tagged("x"), tagged(OTHER.tag), tagged(OTHER.tag, OWNER.tag)]).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });
});
