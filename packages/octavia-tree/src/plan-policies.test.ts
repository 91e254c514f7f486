import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { L7Policy, L7Rule } from "@causeway/openstack";
import type { DesiredPolicy } from "./desired.ts";
import { longestRise, policyChanges, type PolicyGoal } from "./plan-policies.ts";
import { placed, withoutPolicy, withPolicy, withRule } from "./policy-details.ts";
import { policyName, ruleText, type ObservedPolicy } from "./policy-key.ts";
import type { PolicyStep } from "./steps.ts";

const path = (value: string) => ({ type: "PATH", compare_type: "STARTS_WITH", value }) as const;
const host = (value: string) => ({ type: "HOST_NAME", compare_type: "EQUAL_TO", value }) as const;
const toPool = (pool: string, ...rules: DesiredPolicy["rules"]): DesiredPolicy => ({
  action: "REDIRECT_TO_POOL",
  pool,
  rules,
});
const goal = (wanted: readonly DesiredPolicy[]): PolicyGoal => ({
  listenerId: "L",
  wanted,
  description: "ours",
  poolId: (name) => (name === "missing" ? undefined : `id of ${name}`),
  owns: ({ policy }) => policy.description === "ours",
});

/** A listener of a cloud that does what is requested, one step at a time. */
class Model {
  policies: readonly ObservedPolicy[] = [];
  #made = 0;

  constructor(policies: readonly ObservedPolicy[] = []) {
    this.policies = policies;
  }

  apply(step: PolicyStep): void {
    switch (step.type) {
      case "create-policy": {
        const { position = 1, admin_state_up = true, ...body } = step.body;
        const made = { ...aPolicy(`p${(this.#made += 1)}`), ...body, admin_state_up } as L7Policy;
        this.policies = placed(withPolicy(this.policies, { ...made, position }), made.id, position);
        return;
      }
      case "create-rule": {
        const rule = { id: `r${(this.#made += 1)}`, key: null, invert: false, ...step.body } as L7Rule;
        this.policies = withRule(this.policies, step.policyId, rule);
        return;
      }
      case "delete-policy":
        this.policies = withoutPolicy(this.policies, step.id);
        return;
      case "update-policy": {
        const { position, ...change } = step.change;
        this.policies = this.policies.map((p) =>
          p.policy.id === step.id ? { ...p, policy: { ...p.policy, ...change } as L7Policy } : p,
        );
        if (position !== undefined) this.policies = placed(this.policies, step.id, position);
      }
    }
  }

  /** Takes the first step of each plan; the steps that were done. */
  converge(wanted: readonly DesiredPolicy[]): string[] {
    const types: string[] = [];
    for (let i = 0; i < 200; i += 1) {
      const step = policyChanges(this.policies, goal(wanted)).next().value;
      if (!step) return types;
      types.push(step.type);
      this.apply(step);
    }
    throw new Error(`not converged: ${types.join(" ")}`);
  }
}

function aPolicy(id: string, more: Partial<L7Policy> = {}): L7Policy {
  return {
    id,
    name: "",
    description: "ours",
    listener_id: "L",
    action: "REDIRECT_TO_POOL",
    position: 1,
    redirect_pool_id: null,
    redirect_url: null,
    redirect_prefix: null,
    redirect_http_code: null,
    rules: [],
    provisioning_status: "ACTIVE",
    operating_status: "ONLINE",
    admin_state_up: true,
    tags: [],
    project_id: "p",
    ...more,
  };
}

function aRule(id: string, body: DesiredPolicy["rules"][number]): L7Rule {
  return { id, key: null, invert: false, ...body } as L7Rule;
}

describe("policies of a listener", () => {
  test("creates a policy with two rules switched off, and switches it on when it has both", () => {
    const model = new Model();
    expect(model.converge([toPool("a", host("x"), path("/a"))])).toEqual([
      "create-policy",
      "create-rule",
      "create-rule",
      "update-policy",
    ]);
    expect(model.policies[0]?.policy.admin_state_up).toBe(true);
  });

  test("creates a policy with one rule in two changes", () => {
    expect(new Model().converge([toPool("a", path("/a"))])).toEqual(["create-policy", "create-rule"]);
  });

  test("changes the pool of a policy whose rules remain", () => {
    const model = new Model();
    model.converge([toPool("a", path("/a"))]);
    expect(model.converge([toPool("b", path("/a"))])).toEqual(["update-policy"]);
    expect(model.policies[0]?.policy.redirect_pool_id).toBe("id of b");
  });

  test("serves the first of two policies with equal rules, which Octavia would apply", () => {
    const model = new Model();
    model.converge([toPool("elder", path("/a")), toPool("younger", path("/a"))]);
    expect(model.policies.map(({ policy }) => policy.redirect_pool_id)).toEqual(["id of elder"]);
  });

  test("creates the successor of a policy before it deletes the policy", () => {
    const model = new Model();
    model.converge([toPool("a", path("/a"))]);
    expect(model.converge([toPool("a", path("/b"))])).toEqual(["create-policy", "create-rule", "delete-policy"]);
  });

  test("keeps a policy without a name whose rules are wanted, as upstream creates them", () => {
    const policy = aPolicy("u", { redirect_pool_id: "id of a" });
    const model = new Model([{ policy, rules: [aRule("1", path("/a")), aRule("2", host("x"))] }]);
    expect(model.converge([toPool("a", host("x"), path("/a"))])).toEqual([]);
  });

  test("leaves a policy of another user alone, and deletes one of two equal policies of ours", () => {
    const rules = [aRule("1", path("/a"))];
    const model = new Model([
      { policy: aPolicy("one", { redirect_pool_id: "id of a", position: 1 }), rules },
      { policy: aPolicy("two", { redirect_pool_id: "id of a", position: 2 }), rules },
      { policy: aPolicy("user", { description: "by hand", position: 3 }), rules: [aRule("2", path("/z"))] },
    ]);
    expect(model.converge([toPool("a", path("/a"))])).toEqual(["delete-policy"]);
    expect(model.policies.map(({ policy }) => policy.id)).toEqual(["one", "user"]);
  });

  test("waits with a policy whose pool does not exist", () => {
    expect(new Model().converge([toPool("missing", path("/a"))])).toEqual([]);
  });

  test("completes a policy that a crash left with one of its rules", () => {
    const wanted = toPool("a", host("x"), path("/a"));
    const policy = aPolicy("half", { name: policyName(wanted), admin_state_up: false, redirect_pool_id: "id of a" });
    const model = new Model([{ policy, rules: [aRule("1", host("x"))] }]);
    expect(model.converge([wanted])).toEqual(["create-rule", "update-policy"]);
  });

  test("reads no rules of a policy whose name proves them", () => {
    const wanted = toPool("a", path("/a"));
    const policy = aPolicy("whole", { name: policyName(wanted), rules: [{ id: "1" }], redirect_pool_id: "id of a" });
    expect(new Model([{ policy, rules: undefined }]).converge([wanted])).toEqual([]);
  });

  test("moves one policy when one is out of order", () => {
    const wanted = ["/c", "/b", "/a", "/d"].map((value) => toPool("a", path(value)));
    const model = new Model();
    model.converge(wanted);
    expect(model.converge([3, 0, 1, 2].flatMap((i) => wanted[i] ?? []))).toEqual(["update-policy"]);
  });

  test.each<[string, Partial<L7Policy>, Omit<DesiredPolicy, "rules">, object | undefined]>([
    [
      "its pool",
      { redirect_pool_id: "id of b" },
      { action: "REDIRECT_TO_POOL", pool: "a" },
      { redirect_pool_id: "id of a" },
    ],
    ["what it does", { action: "REJECT" }, { action: "REDIRECT_TO_URL" }, { action: "REDIRECT_TO_URL" }],
    [
      "its URL",
      { redirect_url: "http://x" },
      { action: "REDIRECT_TO_URL", url: "http://y" },
      { redirect_url: "http://y" },
    ],
    [
      "its prefix",
      { redirect_prefix: "http://x" },
      { action: "REDIRECT_PREFIX", prefix: "http://y" },
      { redirect_prefix: "http://y" },
    ],
    ["its code", { redirect_http_code: 301 }, { action: "REDIRECT_TO_URL", code: 302 }, { redirect_http_code: 302 }],
    ["its switch", { admin_state_up: false }, { action: "REJECT" }, { admin_state_up: true }],
    [
      "nothing that is not wanted",
      { redirect_url: "http://x", redirect_http_code: 301 },
      { action: "REJECT" },
      undefined,
    ],
    [
      "nothing while its pool does not exist",
      { admin_state_up: false },
      { action: "REDIRECT_TO_POOL", pool: "missing" },
      undefined,
    ],
  ])("rights %s", (_title, have, more, change) => {
    const policy = aPolicy("p", { action: more.action, ...have });
    const found = { policy, rules: [aRule("1", path("/a"))] };
    const steps = [...policyChanges([found], goal([{ ...more, rules: [path("/a")] }]))];
    expect(steps).toEqual(change ? [{ type: "update-policy", listenerId: "L", id: "p", change }] : []);
  });

  test("creates a policy with all that it is to do, at its place", () => {
    const wanted: DesiredPolicy = { action: "REDIRECT_PREFIX", url: "u", prefix: "p", code: 301, rules: [path("/b")] };
    const first = aPolicy("one", { redirect_pool_id: "id of a" });
    const steps = policyChanges(
      [{ policy: first, rules: [aRule("1", path("/a"))] }],
      goal([toPool("a", path("/a")), wanted, { action: "REJECT", rules: [path("/c")] }, toPool("b", path("/d"))]),
    );
    const common = { listener_id: "L", description: "ours" };
    const [b, c, d] = ["/b", "/c", "/d"].map((value) => policyName({ rules: [path(value)] }));
    expect([...steps].map((step) => step.type === "create-policy" && step.body)).toStrictEqual([
      {
        ...common,
        name: b,
        action: "REDIRECT_PREFIX",
        redirect_url: "u",
        redirect_prefix: "p",
        redirect_http_code: 301,
        position: 2,
      },
      { ...common, name: c, action: "REJECT", position: 2 },
      { ...common, name: d, action: "REDIRECT_TO_POOL", redirect_pool_id: "id of b", position: 2 },
    ]);
  });

  test("has a successor for a policy that is being deleted", () => {
    const policy = aPolicy("going", { redirect_pool_id: "id of a", provisioning_status: "PENDING_DELETE" });
    const found = { policy: { ...policy, description: "by hand" }, rules: [aRule("1", path("/a"))] };
    expect(new Model([found]).converge([toPool("a", path("/a"))])).toEqual(["create-policy", "create-rule"]);
  });

  test("knows rules with a key, and of two policies with equal rules the first in the order", () => {
    const header = { type: "HEADER", compare_type: "EQUAL_TO", key: "x-tenant", value: "1" } as const;
    const policies = [
      { policy: aPolicy("later", { position: 3, redirect_pool_id: "id of a" }), rules: [aRule("1", header)] },
      { policy: aPolicy("other", { position: 2, redirect_pool_id: "id of a" }), rules: [aRule("1", path("/a"))] },
      { policy: aPolicy("first", { position: 1, redirect_pool_id: "id of a" }), rules: [aRule("2", header)] },
    ];
    expect([...policyChanges(policies, goal([toPool("a", header), toPool("a", path("/a"))]))]).toEqual([
      { type: "delete-policy", listenerId: "L", id: "later" },
    ]);
  });

  const letters = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f", "g"), { maxLength: 7 });
  test("from any state reaches the wanted policies in the wanted order, whatever other users have between them", () => {
    fc.assert(
      fc.property(letters, letters, fc.array(fc.nat(6), { maxLength: 3 }), (first, second, users) => {
        const model = new Model();
        const of = (names: readonly string[]) => names.map((name) => toPool(name, path(`/${name}`)));
        model.converge(of(first));
        for (const [i, place] of users.entries()) {
          const made = aPolicy(`user${i}`, { description: "by hand", position: place + 1 });
          model.policies = placed(withPolicy(model.policies, made), made.id, place + 1);
        }
        model.converge(of(second));
        const own = model.policies.filter(({ policy }) => policy.description === "ours");
        expect(own.map(({ rules }) => rules?.map(ruleText))).toEqual(of(second).map((d) => d.rules.map(ruleText)));
        expect(model.policies.filter(({ policy }) => policy.description !== "ours")).toHaveLength(users.length);
      }),
    );
  });
});

test("the plan of policies finds a longest rising run of positions", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9), { maxLength: 8 }), (numbers) => {
      const found = [...longestRise(numbers)].sort((a, b) => a - b).map((i) => numbers[i] ?? 0);
      expect(found).toEqual(found.toSorted((a, b) => a - b));
      let best = 0;
      for (let mask = 0; mask < 1 << numbers.length; mask += 1) {
        const some = numbers.filter((_, i) => (mask >> i) % 2 === 1);
        if (some.every((n, i) => i === 0 || (some[i - 1] ?? 0) < n)) best = Math.max(best, some.length);
      }
      expect(found).toHaveLength(best);
    }),
  );
});
