import type { Generator, Step } from "../input.ts";
import { NAMESPACE, objectOf, pathOf, type Tree } from "../objects.ts";
import type { Random } from "../random.ts";
import { hostileText } from "../values.ts";
import { JSON_TYPE } from "./json.ts";
import { patterns } from "./patterns.ts";
import { crd, dryRun, resource, tried } from "./schema.ts";

/** CEL in CRDs' rules, with resources to hold them against, and in admission policies. */
export const cel: Generator = (random, index) => {
  const rules = Array.from({ length: random.between(1, 3) }, () => rule(random));
  const definition = crd(random, index, schemaWith(random, rules));
  const shape = random.below(10);
  if (shape < 3) return [dryRun(JSON.stringify(definition))];
  if (shape < 7) return tried(definition, index, [JSON.stringify(resource(index, { spec: spec(random) }))]);
  return policy(random, index);
};

function schemaWith(random: Random, rules: readonly Tree[]): Tree {
  const bounds = random.chance(0.7) ? { maxLength: random.pick([10, 1000, 100_000]) } : {};
  const items = random.chance(0.7) ? { maxItems: random.pick([5, 100, 10_000]) } : {};
  return {
    type: "object",
    properties: {
      spec: {
        type: "object",
        "x-kubernetes-validations": rules,
        properties: {
          s: { type: "string", ...bounds },
          l: { type: "array", ...items, items: { type: "string", ...bounds } },
          n: { type: "array", ...items, items: { type: "array", ...items, items: { type: "integer" } } },
          m: { type: "object", maxProperties: 100, additionalProperties: { type: "string", ...bounds } },
          i: { type: "integer" },
          d: { type: "string", format: "date-time" },
          b: { type: "string", format: "byte", ...bounds },
        },
      },
    },
  };
}

function rule(random: Random): Tree {
  const extra = random.chance(0.2) ? { messageExpression: text(random, 2) } : {};
  const more = random.chance(0.1)
    ? { optionalOldSelf: true, fieldPath: random.pick([".s", ".x", hostileText(random)]) }
    : {};
  return { rule: truth(random, random.between(1, 4)), message: "m", ...extra, ...more };
}

function spec(random: Random): Tree {
  const long = (): string => random.pick(["a", "a!", "ab", "1", "."]).repeat(random.size(10_000));
  const size = random.size(1000);
  return {
    s: long(),
    l: Array.from({ length: size }, (_, i) => `e${i}`),
    n: Array.from({ length: Math.min(100, size) }, () => Array.from({ length: Math.min(100, size) }, (_, i) => i)),
    m: Object.fromEntries(Array.from({ length: Math.min(100, size) }, (_, i) => [`k${i}`, "v"])),
    i: random.below(100),
    d: "2026-01-01T00:00:00Z",
    b: "AAAA",
  };
}

/** A CEL expression that is a bool, mostly well-formed. */
function truth(random: Random, depth: number): string {
  const list = (): string => listOf(random, depth - 1);
  const inner = (): string => (depth <= 0 ? random.pick(["true", "self.i > 1", "x == x"]) : truth(random, depth - 1));
  const n = random.size(3000);
  return random.pick([
    () => `${list()}.all(x, ${inner()})`,
    () => `${list()}.exists(x, ${inner()})`,
    () => `${list()}.exists_one(x, ${inner()})`,
    () => `${list()}.filter(x, ${inner()}).size() > 0`,
    () => `${list()}.all(x, ${list()}.all(y, ${list()}.all(z, x == y || y == z)))`,
    () => `${text(random, depth)}.matches('${patterns(random).replaceAll(/[\\']/g, "\\$&")}')`,
    () => `${text(random, depth)}.contains(${text(random, depth)})`,
    () => `${text(random, depth)}.startsWith(self.s)`,
    () => `${list()} == ${list()}`,
    () => `sets.contains(${list()}, ${list()})`,
    () => `sets.intersects(${list()}, ${list()})`,
    () => `${list()}.isSorted()`,
    () => `${list()}.indexOf(self.s) >= 0`,
    () => `${list()}.sum() == ${list()}.sum()`,
    () => `(${inner()}) ${random.pick(["&&", "||", "==", "!=", "?"])} (${inner()})`,
    () => `!(${inner()}) ? ${inner()} : ${inner()}`,
    () => `url(${text(random, 1)}).getHost() == 'a'`,
    () => `isQuantity(${text(random, 1)}) && quantity(self.s).isGreaterThan(quantity('1'))`,
    () => `ip(${text(random, 1)}).family() == 4 || cidr(self.s).containsIP('1.2.3.4')`,
    () => `timestamp(self.d) < timestamp('2030-01-01T00:00:00Z') && duration('1h') > duration(self.s)`,
    () => `self.m.all(k, self.m[k].size() < 10 && ${inner()})`,
    () => `${"(".repeat(n)}true${")".repeat(n)}`,
    () => `${"!".repeat(n)}true`,
    () => Array.from({ length: n }, () => "true").join(random.pick([" && ", " || "])),
    () => Array.from({ length: n }, () => "1").join(random.pick([" + ", " * ", " - "])) + " == 1",
    () => `[${"1,".repeat(n)}1].all(x, x == 1)`,
    () => `self${".s".repeat(n)} == 'a'`,
    () => `{${Array.from({ length: n }, (_, i) => `'k${i}': ${i}`).join(",")}}.size() > 1`,
    () => `'${"a".repeat(n)}' == self.s`,
    () => `${"-".repeat(n)}1 == 1`,
    () => `${"true ? ".repeat(Math.min(n, 500))}true${" : false".repeat(Math.min(n, 500))}`,
    () => `self.i ${random.pick(["/", "%"])} 0 == 1`,
    () => `9223372036854775807 + self.i > 0`,
    () => hostileText(random).slice(0, 5000),
    () => `semver('${"1.".repeat(Math.min(n, 100))}').major() == 1`,
    () => `format.named('dns1123Label').value().validate(${text(random, 1)}).hasValue()`,
  ])();
}

function listOf(random: Random, depth: number): string {
  if (depth <= 0) return random.pick(["self.l", "self.n", "[1, 2, 3]", "self.m"]);
  const inner = listOf(random, depth - 1);
  return random.pick([
    () => `${inner}.map(x, x)`,
    () => `${inner}.map(x, [x, x])`,
    () => `${inner}.map(x, ${listOf(random, depth - 1)})`,
    () => `${inner}.map(x, x + x)`,
    () => `(${inner} + ${inner})`,
    () => `${inner}.filter(x, ${truth(random, depth - 1)})`,
    () => `${text(random, depth)}.split('')`,
    () => `${text(random, depth)}.findAll('${random.pick(["a", ".", "a*", ""])}')`,
    () => "self.l",
  ])();
}

function text(random: Random, depth: number): string {
  if (depth <= 0) return random.pick(["self.s", "'a'", "self.l[0]", "string(self.i)", "self.b", "b'a'"]);
  const inner = text(random, depth - 1);
  return random.pick([
    () => `(${inner} + ${inner})`,
    () => `${inner}.replace('a', 'aa')`,
    () => `${inner}.replace('', ${text(random, depth - 1)})`,
    () => `self.l.join(${inner})`,
    () => `${inner}.upperAscii()`,
    () => `${inner}.substring(0, ${random.below(2000)})`,
    () => `'%s%s%s'.format([${inner}, ${inner}, ${inner}])`,
    () => `'${"%s".repeat(random.size(300))}'.format([${inner}])`,
    () => `${inner}.split('').join(${inner})`,
    () => `base64.encode(bytes(${inner}))`,
    () => `${inner}.reverse()`,
    () => `${inner}.quote()`,
    () => "self.s",
  ])();
}

/** An admission policy for one ConfigMap: in a dry run, or created with a binding, used, and deleted. */
function policy(random: Random, index: number): Step[] {
  const name = `fuzz-${index}`;
  const root = "/apis/admissionregistration.k8s.io/v1";
  const object = (expression: string): string => expression.replaceAll("self.", "object.data.");
  const variables = Array.from({ length: random.below(4) }, (_, i) => ({
    name: `v${i}`,
    expression: object(text(random, 2)),
  }));
  const validations = Array.from({ length: random.between(1, 3) }, () => ({
    expression: object(truth(random, random.between(1, 4))),
    ...(random.chance(0.3) ? { messageExpression: object(text(random, 3)) } : {}),
  }));
  const body = JSON.stringify({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: {
      failurePolicy: "Ignore",
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: [""],
            apiVersions: ["v1"],
            operations: ["CREATE"],
            resources: ["configmaps"],
            resourceNames: [name],
          },
        ],
      },
      variables,
      validations,
    },
  });
  const plural = `${root}/validatingadmissionpolicies`;
  const post = (path: string, content: string, isPreparation = false): Step => ({
    method: "POST",
    path,
    headers: JSON_TYPE,
    body: content,
    isPreparation,
  });
  if (random.chance(0.4)) return [post(`${plural}?dryRun=All`, body)];
  const binding = { policyName: name, validationActions: ["Deny"] };
  const kind = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicyBinding" };
  const map = {
    ...objectOf("configmaps", name),
    metadata: { name, namespace: NAMESPACE },
    data: { s: "a".repeat(random.size(10_000)) },
  };
  return [
    post(plural, body),
    post(
      `${root}/validatingadmissionpolicybindings`,
      JSON.stringify({ ...kind, metadata: { name }, spec: binding }),
      true,
    ),
    post(`${pathOf("configmaps")}?dryRun=All`, JSON.stringify(map)),
    { method: "DELETE", path: `${root}/validatingadmissionpolicybindings/${name}`, isPreparation: true },
    { method: "DELETE", path: `${plural}/${name}`, isPreparation: true },
  ];
}
