import { describe, expect, test } from "vitest";
import type { CausewayError } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import type { AdmissionPlugin, Operation, Phase } from "../../contract/admission.ts";
import type { Cluster } from "../../contract/cluster.ts";
import { define } from "../../contract/define.ts";
import type { Resource } from "../../contract/resource.ts";
import type { WebhookClientConfig } from "../../contract/webhooks.ts";
import { record, records, type Json } from "../../json/json.ts";
import { admissionCluster, attemptOn, inVersions, MAPS, type AttemptFields } from "../../testing/attempts.ts";
import { Expressions } from "../cel/expressions.ts";
import { readHooks } from "./hooks.ts";
import { webhookPlugin } from "./plugin.ts";

const GROUP = "admissionregistration.k8s.io";
const MUTATING = `${GROUP}/mutatingwebhookconfigurations`;
const VALIDATING = `${GROUP}/validatingwebhookconfigurations`;
const RULES = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }];
const things = inVersions(
  { kind: "Thing", plural: "things", group: "x.io" },
  {
    name: "v1",
    toStored: (draft) => ({ ...draft, form: "stored" }) as never,
  },
  {
    name: "v2",
    fromStored: (o) => ({ ...o, apiVersion: "x.io/v2", form: "v2" }) as unknown as KubeObject,
    toStored: (draft) => ({ ...draft, form: "back" }) as never,
  },
);
const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "o", labels: { a: "b" } }, data: { n: "0" } };

/** A webhook whose name is its address. */
const hook = (name: string, more: Json = {}): Json => ({
  name,
  rules: RULES,
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  clientConfig: { url: name },
  ...more,
});
const set = (path: string, value: unknown): Json => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify([{ op: "add", path, value }])).toString("base64"),
});

type Responds = (object: Json, times: number) => Json | Error;

interface Case {
  readonly hooks: readonly Json[];
  readonly responds?: Readonly<Record<string, Responds>>;
  readonly resource?: Resource;
  readonly attempt?: AttemptFields;
}

interface Opened {
  readonly cluster: Cluster;
  readonly plugin: AdmissionPlugin;
  /** The webhooks that were called, with what they saw. */
  readonly calls: { readonly name: string; readonly object: Json }[];
  readonly logged: unknown[];
}

async function opened({ hooks, responds = {} }: Case): Promise<Opened> {
  const calls: { name: string; object: Json }[] = [];
  const logged: unknown[] = [];
  const call = async ({ url = "" }: WebhookClientConfig, review: Json): Promise<Json> => {
    const { uid, object } = record(review["request"]);
    calls.push({ name: url, object: record(object) });
    const times = calls.filter((c) => c.name === url).length;
    const response = responds[url]?.(record(object), times) ?? { allowed: true };
    if (response instanceof Error) throw response;
    return { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response: { uid, ...response } };
  };
  const configuration = [{ metadata: { name: "c" }, webhooks: hooks }];
  const cluster = await admissionCluster(
    {
      "/namespaces": [{ metadata: { name: "ns", labels: { team: "a" } } }],
      [MUTATING]: configuration,
      [VALIDATING]: configuration,
    },
    {
      resources: [things],
      more: {
        webhooks: { call, close: () => {} },
        log: { warn: (message: string, fields: unknown) => void logged.push([message, fields]) } as never,
      },
    },
  );
  return { cluster, plugin: webhookPlugin(cluster, new Expressions()), calls, logged };
}

async function run(phase: Phase, one: Case) {
  const { cluster, plugin, calls, logged } = await opened(one);
  const attempted = attemptOn(cluster, one.resource ?? MAPS, { object: map, ...one.attempt });
  const result = await Promise.resolve(plugin[phase]?.(attempted.attempt)).then(
    (object) => ({ object }),
    (error: unknown) => {
      const { details } = error as CausewayError;
      if (!details) throw error;
      return { status: record(details["status"]) };
    },
  );
  const { status = {}, object } = result as { status?: Json; object?: Json };
  const { annotations } = attempted;
  return { object, status, calls, names: calls.map((c) => c.name), logged, annotations };
}

const note = (webhook: string, mutated: boolean): string => JSON.stringify({ configuration: "c", webhook, mutated });

describe("mutating webhooks", () => {
  test("see what the one before made of the object, and are noted", async () => {
    const { object, calls, annotations } = await run("mutate", {
      hooks: [hook("a"), hook("b"), hook("c")],
      responds: { a: () => set("/data/a", "1"), b: () => ({ allowed: true }), c: () => set("/data/c", "3") },
    });
    expect(object).toEqual({ ...map, data: { n: "0", a: "1", c: "3" } });
    expect(calls.map(({ object: seen }) => seen["data"])).toEqual([{ n: "0" }, { n: "0", a: "1" }, { n: "0", a: "1" }]);
    expect(annotations).toEqual([
      ["mutation.webhook.admission.k8s.io/round_0_index_0", note("a", true)],
      ["mutation.webhook.admission.k8s.io/round_0_index_1", note("b", false)],
      ["mutation.webhook.admission.k8s.io/round_0_index_2", note("c", true)],
    ]);
  });

  test("leave the object as it is", async () => {
    expect((await run("mutate", { hooks: [] })).object).toBe(map);
    const same = await run("mutate", { hooks: [hook("a")], responds: { a: () => set("/data/n", "0") } });
    expect(same.object).toBe(map);
    expect(same.annotations[0]?.[1]).toBe(note("a", false));
  });

  // The rows are those of apiserver's pkg/admission/plugin/webhook/mutating/reinvocationcontext_test.go.
  const again = { reinvocationPolicy: "IfNeeded" };
  test.each<[string, readonly Json[], Readonly<Record<string, Responds>>, readonly string[]]>([
    ["are called once", [hook("a"), hook("b")], { b: () => set("/data/b", "1") }, ["a", "b"]],
    [
      "are called again when a later one changed the object",
      [hook("a", again), hook("b")],
      { b: () => set("/data/b", "1") },
      ["a", "b", "a"],
    ],
    [
      "are not called again when no later one did",
      [hook("b"), hook("a", again)],
      { b: () => set("/data/b", "1") },
      ["b", "a"],
    ],
    ["are not called again when nothing changed", [hook("a", again), hook("b")], {}, ["a", "b"]],
    ["are not called again by what they change", [hook("a", again)], { a: () => set("/data/b", "1") }, ["a"]],
    [
      "are called again without the others",
      [hook("a", again), hook("b", again), hook("c"), hook("d", again)],
      { b: () => set("/data/b", "1") },
      ["a", "b", "c", "d", "a"],
    ],
    [
      "are called again at most once, also by what those that are called again change",
      [hook("a", again), hook("b", again)],
      { a: (_o, times) => set("/data/a", String(times)), b: (_o, times) => set("/data/b", String(times)) },
      ["a", "b", "a", "b"],
    ],
  ])("%s", async (_what, hooks, responds, expected) => {
    expect((await run("mutate", { hooks, responds })).names).toEqual(expected);
  });

  test("note the second round as such", async () => {
    const hooks = [hook("a", again), hook("b")];
    const responds = {
      a: (_o: Json, times: number) => (times === 2 ? set("/data/a", "2") : { allowed: true }),
      b: () => set("/data/b", "1"),
    };
    const { annotations, object } = await run("mutate", { hooks, responds });
    expect(annotations.at(-1)).toEqual(["mutation.webhook.admission.k8s.io/round_1_index_0", note("a", true)]);
    expect(object?.["data"]).toEqual({ n: "0", b: "1", a: "2" });
  });

  test("that share a name are distinguished", async () => {
    const hooks = [hook("a", again), hook("a"), hook("b")];
    const responds = { b: () => set("/data/b", "1") };
    expect((await run("mutate", { hooks, responds })).names).toEqual(["a", "a", "b", "a"]);
  });

  test("see another form, and change that", async () => {
    const rules = [{ ...record(RULES[0]), apiVersions: ["v2"] }];
    const one: Case = {
      hooks: [hook("a", { rules, matchPolicy: "Equivalent" })],
      responds: { a: () => set("/data", "1") },
      resource: things,
      attempt: { object: { ...map, apiVersion: "x.io/v1", kind: "Thing" } },
    };
    const { calls, object } = await run("mutate", one);
    expect(calls[0]?.object).toMatchObject({ apiVersion: "x.io/v2", form: "v2" });
    expect(object).toMatchObject({ apiVersion: "x.io/v1", form: "back", data: "1" });
  });

  test("do not change what is deleted", async () => {
    const deletion: AttemptFields = { operation: "DELETE", object: undefined, old: map };
    const given = { hooks: [hook("a")], responds: { a: () => set("/data", "1") }, attempt: deletion };
    expect((await run("mutate", given)).status).toMatchObject({
      code: 500,
      message:
        'Internal error occurred: admission webhook "a" attempted to modify the object, which is not supported for this operation',
    });
    expect((await run("mutate", { hooks: [hook("a")], attempt: deletion })).status).toEqual({});
  });

  test("whose patch does not apply are an error of the server's", async () => {
    const { status } = await run("mutate", {
      hooks: [hook("a", { failurePolicy: "Ignore" })],
      responds: { a: () => set("/x/y", "1") },
    });
    expect(status).toMatchObject({ code: 500, reason: "InternalError" });
  });
});

describe("a webhook that cannot be called", () => {
  const responds = { a: () => new Error("down") };
  const WHY = 'failed calling webhook "a": failed to call webhook: down';
  test.each<[Phase, string]>([
    ["mutate", "failed-open.mutation.webhook.admission.k8s.io/round_0_index_0"],
    ["validate", "failed-open.validating.webhook.admission.k8s.io/round_0_index_0"],
  ])("fails the request in phase %s, unless failures are ignored", async (phase, key) => {
    const { status } = await run(phase, { hooks: [hook("a")], responds });
    expect(status).toMatchObject({ code: 500, message: `Internal error occurred: ${WHY}` });
    const open = await run(phase, { hooks: [hook("a", { failurePolicy: "Ignore" })], responds });
    expect(open.status).toEqual({});
    expect(open.annotations[0]).toEqual([key, "a"]);
    expect(open.logged).toEqual([["a webhook that may fail failed", { webhook: "a", reason: WHY }]]);
  });

  test("is not one that refuses", async () => {
    const refuses = { a: () => ({ allowed: false }) };
    const hooks = [hook("a", { failurePolicy: "Ignore" })];
    for (const phase of ["mutate", "validate"] as const) {
      expect((await run(phase, { hooks, responds: refuses })).status).toMatchObject({ code: 400 });
    }
  });
});

describe("validating webhooks", () => {
  test("change nothing", async () => {
    const { status } = await run("validate", { hooks: [hook("a")], responds: { a: () => set("/data/a", "1") } });
    expect(status["message"]).toContain("validating webhook may not return response.patch");
  });

  test("are all called, and the first refusal is the response", async () => {
    const refusing = (message: string) => () => ({ allowed: false, status: { message } });
    const { names, status } = await run("validate", {
      hooks: [hook("a"), hook("b"), hook("c")],
      responds: { b: refusing("no b"), c: refusing("no c") },
    });
    expect(names).toEqual(["a", "b", "c"]);
    expect(status["message"]).toBe('admission webhook "b" denied the request: no b');
  });

  test("that are called are counted from zero", async () => {
    const hooks = [hook("x", { rules: [] }), hook("a", { failurePolicy: "Ignore" })];
    const { annotations } = await run("validate", { hooks, responds: { a: () => new Error("down") } });
    expect(annotations).toEqual([["failed-open.validating.webhook.admission.k8s.io/round_0_index_0", "a"]]);
  });
});

describe("a webhook is called for", () => {
  const condition = (expression: string): Json => ({ matchConditions: [{ name: "c", expression }] });
  test.each<[string, Json, boolean]>([
    ["what its rules cover", {}, true],
    ["nothing else", { rules: [] }, false],
    ["objects that it selects", { objectSelector: { matchLabels: { a: "b" } } }, true],
    ["no others", { objectSelector: { matchLabels: { a: "c" } } }, false],
    ["namespaces that it selects", { namespaceSelector: { matchLabels: { team: "a" } } }, true],
    ["no other namespaces", { namespaceSelector: { matchLabels: { team: "b" } } }, false],
    ["what its conditions match", condition("object.data.n == '0'"), true],
    ["any namespace, which conditions do not see", condition("namespaceObject == null"), true],
    ["what all of them match", condition("object.data.n == '1'"), false],
  ])("%s", async (_what, more, expected) => {
    for (const phase of ["mutate", "validate"] as const) {
      const { names, status } = await run(phase, { hooks: [hook("a", more)] });
      expect([names, status]).toEqual([expected ? ["a"] : [], {}]);
    }
  });

  test("nothing where its conditions fail, unless failures are ignored", async () => {
    const failing = condition("object.data.x == '1'");
    const why = "expression 'object.data.x == '1'' resulted in error: no such key: x";
    const { status, names } = await run("validate", { hooks: [hook("a", failing)] });
    expect(status).toMatchObject({ code: 403, message: `configmaps "o" is forbidden: ${why}` });
    const ignored = await run("validate", { hooks: [hook("a", { ...failing, failurePolicy: "Ignore" })] });
    expect([...names, ...ignored.names, ignored.status]).toEqual([{}]);
  });
});

test("webhooks are read by configuration, as they are written", async () => {
  const cluster = await admissionCluster({
    [MUTATING]: [
      { metadata: { name: "b" }, webhooks: [{ name: "x" }] },
      {
        metadata: { name: "a" },
        webhooks: [
          hook("x", {
            matchPolicy: "Exact",
            namespaceSelector: { a: 1 },
            objectSelector: { b: 1 },
            matchConditions: [{ name: "c", expression: "true" }],
            timeoutSeconds: 3,
            failurePolicy: "Ignore",
            reinvocationPolicy: "IfNeeded",
          }),
          { name: "y" },
          { name: "x" },
        ],
      },
    ],
  });
  const read = readHooks(cluster, "mutatingwebhookconfigurations", new Expressions());
  expect(read.map(({ id }) => id)).toEqual(["a/x/0", "a/y/0", "a/x/1", "b/x/0"]);
  expect(read[0]).toEqual({
    id: "a/x/0",
    configuration: "a",
    name: "x",
    rules: RULES,
    matchPolicy: "Exact",
    namespaceSelector: { a: 1 },
    objectSelector: { b: 1 },
    conditions: [{ name: "c", expression: expect.objectContaining({ text: "true" }) as unknown }],
    clientConfig: { url: "x" },
    reviewVersions: ["v1"],
    timeout: 3000,
    ignoresFailure: true,
    sideEffects: "None",
    reinvocable: true,
  });
  expect(read[3]).toMatchObject({ timeout: 10_000, ignoresFailure: false, reinvocable: false, sideEffects: "" });
  expect(records(read[3]?.conditions)).toEqual([]);
});

describe("webhooks concern", () => {
  const configuration = define({ kind: "K", plural: "validatingadmissionpolicies", group: GROUP });
  test.each<[string, Json, Resource, Operation, boolean]>([
    ["what their rules cover", {}, MAPS, "CREATE", true],
    ["nothing else", { rules: [{ ...record(RULES[0]), operations: ["DELETE"] }] }, MAPS, "CREATE", false],
    ["no configuration of admission", {}, configuration, "CREATE", false],
    ["equivalents", { rules: [{ ...record(RULES[0]), apiVersions: ["v2"] }] }, things, "CREATE", true],
    [
      "no equivalents where they must not",
      { rules: [{ ...record(RULES[0]), apiVersions: ["v2"] }], matchPolicy: "Exact" },
      things,
      "CREATE",
      false,
    ],
  ])("%s", async (_what, more, resource, operation, expected) => {
    const { cluster, plugin } = await opened({ hooks: [hook("a", more)] });
    const { call } = attemptOn(cluster, resource).attempt;
    for (const phase of ["mutate", "validate"] as const) expect(plugin.concerns(call, operation, phase)).toBe(expected);
  });

  test("what matches from the commit of their configuration on", async () => {
    const { cluster, plugin } = await opened({ hooks: [hook("a", { rules: [] })] });
    const { call } = attemptOn(cluster, MAPS).attempt;
    const concerned = (): boolean[] => (["mutate", "validate"] as const).map((p) => plugin.concerns(call, "CREATE", p));
    expect(concerned()).toEqual([false, false]);
    const object = { metadata: { name: "d" }, webhooks: [hook("b")] } as unknown as KubeObject;
    for (const resource of [MUTATING, VALIDATING]) {
      await cluster.store.create({ cluster: "", resource, namespace: "", name: "d" }, object);
    }
    const commit = (plural: string, group = GROUP): void =>
      cluster.changes.emit({ type: "ADDED", resource: define({ kind: "K", plural, group }), object });
    commit("mutatingwebhookconfigurations", "x.io");
    commit("validatingadmissionpolicies");
    expect(concerned()).toEqual([false, false]);
    commit("mutatingwebhookconfigurations");
    expect(concerned()).toEqual([true, false]);
    commit("validatingwebhookconfigurations");
    expect(concerned()).toEqual([true, true]);
  });
});
