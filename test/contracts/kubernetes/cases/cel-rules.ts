import { expect } from "vitest";
import type { CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { define, definition, DEFINITIONS } from "./custom-resource.ts";
import { apply, done, invalid, made } from "./shorthands.ts";

const string = { type: "string" };
const integer = { type: "integer" };
const object = (properties: Json, more: Json = {}): Json => ({ type: "object", properties, ...more });
const list = (items: Json, more: Json = {}): Json => ({ type: "array", items, ...more });
const rules = (schema: Json, ...given: Json[]): Json => ({ ...schema, "x-kubernetes-validations": given });

function withSpec(spec: Json, more: Json = {}): Json {
  const schema = {
    openAPIV3Schema: object({ spec, status: object({}, { "x-kubernetes-preserve-unknown-fields": true }) }),
  };
  return { versions: [{ name: "v1", served: true, storage: true, schema, ...more }] };
}

interface JudgeKind {
  readonly path: string;
  readonly crd: string;
  readonly judge: (name: string, spec: Json) => Json;
}

/** Defines judges of a case's own. */
async function judges(c: Context, spec: Json, more: Json = {}): Promise<JudgeKind> {
  const group = `${c.unique("judge")}.example.com`;
  await define(c.api, definition("judges", "Judge", { group, ...withSpec(spec, more) }));
  return {
    path: c.apis(`${group}/v1`, "judges"),
    crd: `${DEFINITIONS}/judges.${group}`,
    judge: (name, given) => ({ apiVersion: `${group}/v1`, kind: "Judge", metadata: { name }, spec: given }),
  };
}

const SPEC = object({
  s: { ...string, maxLength: 20 },
  l: list(integer, { maxItems: 5 }),
  n: { type: "number" },
  t: { ...string, format: "date-time" },
  d: { ...string, format: "duration" },
  b: { ...string, format: "byte" },
  m: { type: "object", additionalProperties: integer, maxProperties: 3 },
  i: { "x-kubernetes-int-or-string": true },
});
const GIVEN = {
  s: "abc",
  l: [1, 2, 3],
  n: 1.5,
  t: "2026-03-04T05:06:07Z",
  d: "90s",
  b: "YWJj",
  m: { a: 1, b: 2 },
  i: "80%",
};

/** True of GIVEN: one line or more for every function library that Kubernetes has. */
const TRUE = [
  "self.l.isSorted() && self.l.sum() == 6 && self.l.max() == 3 && self.l.min() == 1 && self.l.indexOf(2) == 1 && self.l.lastIndexOf(9) == -1",
  "self.s.find('[b-z]+') == 'bc' && self.s.findAll('[a-z]', 2) == ['a', 'b'] && self.s.findAll('[0-9]') == []",
  "self.s.matches('^a.c$') && !self.s.matches('^(x+)+$')",
  "url('https://a:80/b?c=d&c=e').getHost() == 'a:80' && url('https://a:80/b?c=d').getHostname() == 'a'",
  "url('https://a:80/b?c=d').getPort() == '80' && url('https://a/b%20c').getEscapedPath() == '/b%20c' && url('https://a?c=d&c=e').getQuery() == {'c': ['d', 'e']} && url('/x').getScheme() == ''",
  "isURL('https://a') && !isURL('a b') && isURL('/path')",
  "isIP('::1') && !isIP('1.2.3') && ip('10.0.0.1').family() == 4 && ip('::1').isLoopback() && ip('fe80::1').isLinkLocalUnicast()",
  "ip.isCanonical('::1') && !ip.isCanonical('::0001') && ip('::1') == ip('0:0::1') && string(ip('::1')) == '::1'",
  "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0') && cidr('10.0.0.0/8').containsIP('10.1.1.1') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')",
  "cidr('10.1.0.0/8').masked() == cidr('10.0.0.0/8') && cidr('10.1.0.0/8').prefixLength() == 8 && cidr('10.1.0.0/8').ip() == ip('10.1.0.0')",
  "isQuantity('1Gi') && !isQuantity('1 Gi') && quantity('1k').isGreaterThan(quantity('1')) && quantity('2').add(1).compareTo(quantity('3')) == 0",
  "quantity('1500m').asApproximateFloat() == 1.5 && quantity('2k').asInteger() == 2000 && !quantity('1500m').isInteger() && sign(quantity('-1')) == -1 && quantity('1Ki') == quantity('1024')",
  "!format.dns1123Label().validate('my-name').hasValue() && format.dns1123Label().validate('My_Name').value().size() == 1 && !format.named('nothing').hasValue()",
  "format.named('uuid').value().validate('x').value() == ['does not match the UUID format']",
  "isSemver('1.2.3') && !isSemver('v1.2') && isSemver('v1.2', true) && semver('1.2.3').minor() == 2 && semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))",
  "sets.contains([1, 2], [1]) && sets.equivalent([1, 1], [1]) && sets.intersects(self.l, [3, 9]) && !sets.intersects(self.l, [])",
  "self.?s.orValue('x') == 'abc' && optional.of(1).hasValue() && optional.none().or(optional.of(2)).value() == 2 && !optional.ofNonZeroValue('').hasValue()",
  "self.l.all(i, v, v == i + 1) && self.l.exists(i, v, i == 2 && v == 3) && self.m.existsOne(k, v, v == 2)",
  "self.l.transformList(i, v, i * v) == [0, 2, 6] && self.l.transformList(i, v, i > 0, v) == [2, 3]",
  "self.m.transformMap(k, v, v * 2) == {'a': 2, 'b': 4} && self.l.transformMapEntry(i, v, {v: i})[3] == 2",
  "self.s.charAt(0) == 'a' && self.s.upperAscii() == 'ABC' && ' a '.trim() == 'a' && 'a,b'.split(',').size() == 2",
  "self.s.substring(1) == 'bc' && self.s.substring(0, 1) == 'a' && 'aba'.replace('a', 'x', 1) == 'xba' && 'abcabc'.lastIndexOf('b') == 4 && 'hello'.indexOf('l', 3) == 3",
  "'%s is %d and %.2f'.format(['a', 1, 1.5]) == 'a is 1 and 1.50' && '%x %b'.format([255, 5]) == 'ff 101' && '%s'.format([[1.5]]) == '[1.500000]' && '%s'.format([[1, 'a']]) == '[1, \"a\"]' && '%s'.format([{'a': true}]) == '{\"a\":true}'",
  "strings.quote('a\"b') == '\"a\\\\\"b\"'",
  "self.t.getFullYear() == 2026 && self.t.getMonth() == 2 && self.t.getDate() == 4 && self.t.getHours('+01:00') == 6 && self.t < timestamp('2027-01-01T00:00:00Z')",
  "self.d == duration('1m30s') && self.d.getSeconds() == 90 && self.t + self.d == timestamp('2026-03-04T05:07:37Z')",
  "self.b == b'abc' && string(self.b) == 'abc' && bytes('abc') == self.b && self.b.size() == 3",
  "type(self.i) == string && int(self.i.replace('%', '')) == 80 && type(self.n) == double && type(self.l) == list && type(1u) == uint",
  "self.n == 1.5 && double(1) == 1.0 && int(1.9) == 1 && string(1) == '1' && 1 < 1.5 && 7 / 2 == 3 && -7 % 3 == -1 && 2u + 1u == 3u",
  "self.m['a'] == 1 && 'b' in self.m && !('c' in self.m) && self.m.all(k, k != 'c') && self.m.size() == 2 && self.m.map(k, k).size() == 2",
  "(1 / 0 == 1 || true) && !(false && 1 / 0 == 1) && [1, 2].exists(x, x == 2 || 1 / 0 == 1)",
  "'z' > 'a' && 'ab' < 'b' && b'a' < b'b' && 'ab'.startsWith('a') && 'ab'.endsWith('b') && 'abc'.contains('bc') && size('äö') == 2",
];

/** Rules that are false for GIVEN or fail to evaluate, and the cause that each gives. */
const FALSE: readonly (readonly [Json, string])[] = [
  [{ rule: "self.n > 2" }, 'spec: Invalid value: "object": failed rule: self.n > 2'],
  [{ rule: "self.n > 2", message: "n is small" }, 'spec: Invalid value: "object": n is small'],
  [
    { rule: "self.n > 2", messageExpression: "'n is %s'.format([string(self.n)])" },
    'spec: Invalid value: "object": n is 1.5',
  ],
  [
    { rule: "self.n > 2", messageExpression: "self.m['c'] == 1 ? 'a' : 'b'", message: "m" },
    'spec: Invalid value: "object": m',
  ],
  [
    { rule: "self.n > 2", reason: "FieldValueForbidden", fieldPath: ".n" },
    "spec.n: Forbidden: failed rule: self.n > 2",
  ],
  [
    { rule: "self.n > 2", reason: "FieldValueRequired", fieldPath: ".m['c']" },
    "spec.m[c]: Required value: failed rule: self.n > 2",
  ],
  [{ rule: "self.m['c'] == 1" }, "spec: Invalid value: \"object\": no such key: c evaluating rule: self.m['c'] == 1"],
  [{ rule: "self.l[7] == 1" }, 'spec: Invalid value: "object": index out of bounds: 7 evaluating rule: self.l[7] == 1'],
  [
    { rule: "1 / (self.l[0] - 1) == 1" },
    'spec: Invalid value: "object": division by zero evaluating rule: 1 / (self.l[0] - 1) == 1',
  ],
  [
    { rule: "self.i > 1" },
    "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.i > 1",
  ],
];

const UNCHECKED =
  "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";

const UNCHANGED = object({
  old: string,
  parts: list(object({ name: string, size: integer }, { required: ["name"] }), {
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
  }),
  steps: list(string),
  other: string,
});
const STRICTER = object({
  old: rules({ ...string, maxLength: 3, pattern: "^[a-z]+$" }, { rule: "self != 'longer'" }),
  parts: list(object({ name: string, size: { ...integer, maximum: 5 } }, { required: ["name"] }), {
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["name"],
  }),
  steps: list({ ...string, maxLength: 1 }),
  other: rules(string, { rule: "self != 'bad'", message: "other is bad" }),
});

async function stricter(c: Context, before: Json): Promise<JudgeKind> {
  const made_ = await judges(c, UNCHANGED);
  await made(c.api.post(made_.path, made_.judge("a", before)));
  await done(c.api.patch(made_.crd, "merge", { spec: withSpec(STRICTER) }));
  // The stricter schema holds once a new object meets it.
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await c.api.post(`${made_.path}?dryRun=All`, made_.judge("b", { steps: ["ab"] }));
    if (answer.code === 422) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return made_;
}

const SCALES: readonly (readonly [string, Json, string])[] = [
  [
    "less than nothing",
    { spec: { replicas: -1 } },
    ".spec.replicas: Invalid value: -1: should be a non-negative integer",
  ],
  [
    "too many",
    { spec: { replicas: 3_000_000_000 } },
    ".spec.replicas: Invalid value: 3000000000: should be less than or equal to 2147483647",
  ],
  [
    "a half",
    { spec: { replicas: 1.5 } },
    ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1.5 is of the type float64, expected int64",
  ],
  [
    "a word",
    { spec: { replicas: "two" } },
    ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: two is of the type string, expected int64",
  ],
  [
    "less than nothing that is",
    { status: { replicas: -1 } },
    ".status.replicas: Invalid value: -1: should be a non-negative integer",
  ],
  [
    "a selector that is a number",
    { status: { selector: 1 } },
    '.status.selector: Invalid value: "": .status.selector accessor error: 1 is of the type int64, expected string',
  ],
];

export const celRules: CaseGroup = {
  title: "CEL validation rules of custom objects",
  cases: [
    ...[0, 1, 2, 3, 4, 5].map((part): ContractCase => ({
      name: `CEL functions return what kube-apiserver's return, part ${part + 1}`,
      async run(c) {
        const given = TRUE.filter((_, i) => i % 6 === part).map((rule) => ({ rule }));
        const { path, judge } = await judges(c, rules(SPEC, ...given));
        await made(c.api.post(path, judge("a", GIVEN)));
      },
    })),
    {
      name: "rules that do not hold, or cannot be evaluated, report what and where",
      async run(c) {
        const { path, judge } = await judges(c, rules(SPEC, ...FALSE.map(([rule]) => rule)));
        invalid(await c.api.post(path, judge("a", GIVEN)), ...FALSE.map(([, cause]) => cause));
      },
    },
    {
      name: "a stored value that a new schema rejects is kept while it does not change",
      async run(c) {
        const { path, judge } = await stricter(c, { old: "longer", other: "a" });
        const changed = await done(c.api.patch(`${path}/a`, "merge", { spec: { other: "b" } }));
        expect(changed["spec"]).toEqual({ old: "longer", other: "b" });
        await done(apply(c.api, `${path}/a`, judge("a", { other: "c" }), "one", true));
        const answer = await c.api.patch(`${path}/a`, "merge", { spec: { old: "longest" } });
        invalid(answer, "spec.old: Too long: may not be more than 3 bytes", UNCHECKED);
      },
    },
    {
      name: "a rule that an untouched value breaks is warned of",
      async run(c) {
        const { path } = await stricter(c, { other: "bad" });
        const { code, headers } = await c.api.patch(`${path}/a`, "merge", { spec: { old: "abc" } });
        expect({ code, warning: headers["warning"] }).toEqual({
          code: 200,
          warning: '299 - "spec.other: Invalid value: \\"string\\": other is bad"',
        });
      },
    },
    {
      name: "items with keys are compared each, others as a whole",
      async run(c) {
        const { path } = await stricter(c, {
          parts: [
            { name: "a", size: 9 },
            { name: "b", size: 1 },
          ],
          steps: ["ab", "c"],
        });
        await done(
          c.api.patch(`${path}/a`, "merge", {
            spec: {
              parts: [
                { name: "b", size: 2 },
                { name: "a", size: 9 },
              ],
            },
          }),
        );
        invalid(
          await c.api.patch(`${path}/a`, "merge", { spec: { parts: [{ name: "a", size: 8 }] } }),
          "spec.parts[0].size: Invalid value: 8: spec.parts[0].size in body should be less than or equal to 5",
        );
        const steps = await c.api.patch(`${path}/a`, "merge", { spec: { steps: ["ab", "d"] } });
        expect(steps.code).toBe(422);
      },
    },
    ...SCALES.map(([what, given, cause]): ContractCase => ({
      name: `a scale of ${what} of a custom object is refused`,
      async run(c) {
        const scale = {
          specReplicasPath: ".spec.replicas",
          statusReplicasPath: ".status.replicas",
          labelSelectorPath: ".status.selector",
        };
        const spec = object({ replicas: { "x-kubernetes-preserve-unknown-fields": true } });
        const { path, judge } = await judges(c, spec, { subresources: { scale } });
        const { spec: wanted = {}, status } = given;
        invalid(await c.api.post(path, { ...judge("a", wanted as Json), ...(status ? { status } : {}) }), cause);
      },
    })),
  ],
};
