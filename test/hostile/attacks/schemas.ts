import { upTo, type Attack, type Target } from "../target.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const definition = (kind: string, spec: object, version: object = {}): object => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${kind}s.attack.example.com` },
  spec: {
    group: "attack.example.com",
    scope: "Namespaced",
    names: { plural: `${kind}s`, singular: kind, kind, listKind: `${kind}List` },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
        ...version,
      },
    ],
  },
});

/** Defines a kind, waits a moment until it is served, and sends objects of it. */
async function attackKind(
  t: Target,
  kind: string,
  spec: object,
  objects: readonly unknown[],
  version?: object,
): Promise<void> {
  const made = await t.create(DEFINITIONS, definition(kind, spec, version));
  if (made.status !== 201) return;
  const path = `/apis/attack.example.com/v1/namespaces/default/${kind}s`;
  for (let tries = 0; tries < 40 && !t.signal.aborted; tries += 1) {
    if ((await t.send({ path })).status === 200) break;
    await new Promise((done) => setTimeout(done, 25));
  }
  const texts = objects.map((o) =>
    JSON.stringify({ apiVersion: "attack.example.com/v1", kind, metadata: { generateName: "x-" }, spec: o }),
  );
  await t.repeat(texts.length * 3, 3, (n) => ({
    method: "POST",
    path,
    type: "application/json",
    body: texts[n % texts.length] ?? "",
  }));
}

const text = (pattern: string) => ({ type: "object", properties: { a: { type: "string", pattern } } });
const rule = (expression: string, of: object) => ({
  type: "object",
  properties: of,
  "x-kubernetes-validations": [{ rule: expression }],
});
const STRINGS = { s: { type: "string", maxLength: 200_000 } };
const NUMBERS = { l: { type: "array", maxItems: 2_000, items: { type: "integer" } } };

export const schemas: readonly Attack[] = [
  {
    title: "a pattern of a CRD has four bounded repetitions in a row",
    run: (t) => attackKind(t, "bounded", text("^a{0,999}a{0,999}a{0,999}a{0,999}$"), [{ a: `${"a".repeat(999)}!` }]),
  },
  {
    title: "a pattern of a CRD has two stars before an end",
    run: (t) => attackKind(t, "star", text("^a*a*a*a*a*b$"), [{ a: "a".repeat(100_000) }]),
  },
  {
    title: "a pattern of a CRD chooses among overlapping words",
    run: (t) => attackKind(t, "choice", text("^(a|b|ab)*(aa|a)*c{1000}$"), [{ a: "ab".repeat(50_000) }]),
  },
  {
    title: "a pattern of a CRD counts a thousand times a thousand",
    run: (t) => attackKind(t, "count", text("^((a{1,100}){1,100}){1,100}$"), [{ a: "a".repeat(100_000) }]),
  },
  {
    title: "a rule of a CRD matches a pattern that backtracks",
    run: (t) =>
      attackKind(t, "celmatch", rule("self.s.matches('^a{0,999}a{0,999}a{0,999}a{0,999}b$')", STRINGS), [
        { s: "a".repeat(100_000) },
      ]),
  },
  {
    title: "a rule of a CRD nests three loops",
    run: (t) =>
      attackKind(t, "celloop", rule("self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0)))", NUMBERS), [
        { l: upTo(2_000) },
      ]),
  },
  {
    title: "a rule of a CRD doubles a string forty times",
    run: (t) => {
      const doubled = upTo(40).reduce((inner) => `[${inner}].map(x, x + x)[0]`, "self.s");
      return attackKind(t, "celdouble", rule(`size(${doubled}) > 0`, STRINGS), [{ s: "x".repeat(1_000) }]);
    },
  },
  {
    title: "a CRD's defaults multiply a small body",
    run: (t) => {
      const item = { type: "object", properties: { d: { type: "string", default: "x".repeat(10_000) } } };
      const spec = { type: "object", properties: { l: { type: "array", items: item } } };
      return attackKind(t, "amplified", spec, [{ l: upTo(100_000).map(() => ({})) }]);
    },
  },
  {
    title: "a set of 100,000 items must have no item twice",
    run: (t) => {
      const l = { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } };
      return attackKind(t, "aset", { type: "object", properties: { l } }, [{ l: upTo(100_000).map(String) }]);
    },
  },
  {
    title: "a map list of 30,000 items has two keys",
    run: (t) => {
      const items = {
        type: "object",
        required: ["a", "b"],
        properties: { a: { type: "string" }, b: { type: "string" } },
      };
      const l = { type: "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"], items };
      return attackKind(t, "amap", { type: "object", properties: { l } }, [
        { l: upTo(30_000).map((n) => ({ a: `${n}`, b: "b" })) },
      ]);
    },
  },
  {
    title: "every item of a list of 100,000 is of the wrong type",
    run: (t) => {
      const l = {
        type: "array",
        items: { type: "object", properties: { x: { type: "integer", minimum: 10, enum: [10, 11] } } },
      };
      return attackKind(t, "wrong", { type: "object", properties: { l } }, [
        { l: upTo(100_000).map(() => ({ x: "no" })) },
      ]);
    },
  },
  {
    title: "a CRD has 20,000 properties and 20,000 values of an enumeration",
    run: async (t) => {
      const properties = Object.fromEntries(upTo(20_000).map((n) => [`p${n}`, { type: "string" }]));
      const spec = {
        type: "object",
        properties: { ...properties, e: { type: "string", enum: upTo(20_000).map((n) => `v${n}`) } },
      };
      await attackKind(t, "wide", spec, [{ e: "none" }]);
    },
  },
  {
    title: "a CRD nests 2,000 levels",
    run: async (t) => {
      const deep = upTo(2_000).reduce<object>((inner) => ({ type: "object", properties: { a: inner } }), {
        type: "string",
      });
      await t.repeat(4, 2, () => ({
        method: "POST",
        path: DEFINITIONS,
        type: "application/json",
        body: JSON.stringify(definition("deep", deep)),
      }));
    },
  },
  {
    title: "a CRD has 500 rules of 5,000 characters",
    run: async (t) => {
      const rules = upTo(500).map((n) => ({ rule: `${"self.s != 'x' && ".repeat(300)}self.s != 'y${n}'` }));
      const spec = { type: "object", properties: STRINGS, "x-kubernetes-validations": rules };
      await t.repeat(4, 2, () => ({
        method: "POST",
        path: DEFINITIONS,
        type: "application/json",
        body: JSON.stringify(definition("rules", spec)),
      }));
    },
  },
  {
    title: "a rule of a CRD nests 3,000 parentheses",
    run: async (t) => {
      const spec = rule(`${"(".repeat(3_000)}true${")".repeat(3_000)}`, STRINGS);
      await t.repeat(6, 2, () => ({
        method: "POST",
        path: DEFINITIONS,
        type: "application/json",
        body: JSON.stringify(definition("nested", spec)),
      }));
    },
  },
  {
    title: "columns of a CRD walk every object again and again",
    run: async (t) => {
      const additionalPrinterColumns = upTo(60).map((n) => ({
        name: `c${n}`,
        type: "string",
        jsonPath: ".spec.l[*].x",
      }));
      const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
      const objects = [{ l: upTo(20_000).map((n) => ({ x: n })) }];
      await attackKind(t, "column", spec, objects, { additionalPrinterColumns });
      const path = "/apis/attack.example.com/v1/namespaces/default/columns";
      await t.repeat(30, 10, () => ({ path, accept: "application/json;as=Table;v=v1;g=meta.k8s.io" }));
    },
  },
  {
    title: "a policy's expression backtracks over every write",
    run: async (t) => {
      const policy = {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingAdmissionPolicy",
        metadata: { name: "slow.example.com" },
        spec: {
          failurePolicy: "Ignore",
          matchConstraints: {
            resourceRules: [
              { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] },
            ],
          },
          validations: [{ expression: "object.data.a.matches('^(a{0,500}){0,500}a{0,999}a{0,999}b$')" }],
        },
      };
      const binding = {
        apiVersion: "admissionregistration.k8s.io/v1",
        kind: "ValidatingAdmissionPolicyBinding",
        metadata: { name: "slow.example.com" },
        spec: { policyName: "slow.example.com", validationActions: ["Audit"] },
      };
      await t.create("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", policy);
      await t.create("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", binding);
      const body = JSON.stringify({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { generateName: "p-" },
        data: { a: "a".repeat(200_000) },
      });
      await t.repeat(10, 5, () => ({
        method: "POST",
        path: "/api/v1/namespaces/default/configmaps?dryRun=All",
        type: "application/json",
        body,
      }));
      await t.send({
        method: "DELETE",
        path: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/slow.example.com",
      });
      await t.send({
        method: "DELETE",
        path: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/slow.example.com",
      });
    },
  },
  {
    title: "CRDs come and go while 20 clients read the OpenAPI documents",
    lasts: 3_000,
    run: (t) => {
      const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
      const churn = t.repeat(60, 1, (n) =>
        n % 2 === 0
          ? {
              method: "POST",
              path: DEFINITIONS,
              type: "application/json",
              body: JSON.stringify(definition("churn", spec)),
            }
          : { method: "DELETE", path: `${DEFINITIONS}/churns.attack.example.com` },
      );
      return Promise.all([churn, t.repeat(400, 20, (n) => ({ path: n % 2 ? "/openapi/v2" : "/openapi/v3/api/v1" }))]);
    },
  },
];
