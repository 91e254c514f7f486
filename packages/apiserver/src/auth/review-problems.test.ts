import { expect, test } from "vitest";
import type { Json } from "../json/json.ts";
import { attributesProblems, metadataProblems, subjectProblems } from "./review-problems.ts";
import { fieldRequirements, selectorsOf } from "../contract/attribute-selectors.ts";

const shown = (problems: ReturnType<typeof attributesProblems>): string[] =>
  problems.map((p) => `${p.field}: ${p.message}`);
const labels = (selector: unknown): Json => ({ resourceAttributes: { verb: "get", labelSelector: selector } });
const fields = (selector: unknown): Json => ({ resourceAttributes: { verb: "get", fieldSelector: selector } });
const LABELS = "spec.resourceAttributes.labelSelector";
const FIELDS = "spec.resourceAttributes.fieldSelector";
const requirement = (key: string, operator: string, values?: readonly string[]): Json => ({
  requirements: [{ key, operator, ...(values ? { values } : {}) }],
});

test.each<[string, Json, readonly string[]]>([
  ["of a resource alone", { resourceAttributes: {} }, []],
  ["of a path alone", { nonResourceAttributes: {} }, []],
  [
    "of both",
    { resourceAttributes: {}, nonResourceAttributes: {} },
    ["spec.nonResourceAttributes: Invalid value: {}: cannot be specified in combination with resourceAttributes"],
  ],
  [
    "of nothing",
    {},
    [
      "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
    ],
  ],
  ["with a raw label selector", labels({ rawSelector: "a" }), []],
  [
    "with a raw selector and requirements",
    labels({ rawSelector: "a", ...requirement("a", "Exists") }),
    [`${LABELS}.rawSelector: Invalid value: "a": may not specified at the same time as requirements`],
  ],
  [
    "with an empty selector",
    labels({}),
    [`${LABELS}.requirements: Required value: when ${LABELS} is specified, requirements or rawSelector is required`],
  ],
  [
    "with an empty field selector",
    fields({}),
    [`${FIELDS}.requirements: Required value: when ${FIELDS} is specified, requirements or rawSelector is required`],
  ],
  ["with In and a value", labels(requirement("a", "In", ["b"])), []],
  ["with NotIn and a value", labels(requirement("a", "NotIn", ["b"])), []],
  [
    "with In and no value",
    labels(requirement("a", "In")),
    [`${LABELS}.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`],
  ],
  [
    "with NotIn and no value",
    fields(requirement("a", "NotIn", [])),
    [`${FIELDS}.requirements[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`],
  ],
  ["with Exists", labels(requirement("a", "Exists")), []],
  ["with DoesNotExist", labels(requirement("a", "DoesNotExist", [])), []],
  [
    "with Exists and a value",
    labels(requirement("a", "Exists", ["b"])),
    [
      `${LABELS}.requirements[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
    ],
  ],
  [
    "with DoesNotExist and a value",
    labels(requirement("a", "DoesNotExist", ["b"])),
    [
      `${LABELS}.requirements[0].values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`,
    ],
  ],
  ["with an operator of the future", labels(requirement("a", "Like")), []],
  [
    "without a key",
    labels(requirement("", "Exists")),
    [`${LABELS}.requirements[0].key: Required value: must be specified`],
  ],
])("an access review %s is accepted or refused", (_what, spec, problems) => {
  expect(shown(attributesProblems(spec))).toEqual(problems);
});

test("values of Exists are forbidden, not invalid", () => {
  expect(attributesProblems(labels(requirement("a", "Exists", ["b"])))).toMatchObject([
    { reason: "FieldValueForbidden" },
  ]);
});

test.each<[Json, boolean]>([
  [{ user: "a" }, true],
  [{ groups: ["a"] }, true],
  [{ user: "", groups: [] }, false],
  [{}, false],
])("a review of the subject %j is accepted: %s", (spec, accepted) => {
  const why = 'spec.user: Invalid value: "": at least one of user or group must be specified';
  expect(shown(subjectProblems(spec))).toEqual(accepted ? [] : [why]);
});

test.each<[Json, string | undefined, boolean]>([
  [{}, undefined, true],
  [{ metadata: { creationTimestamp: null, name: "", managedFields: [{}] } }, undefined, true],
  [{ metadata: { name: "a" } }, undefined, false],
  [{ metadata: { namespace: "a" } }, undefined, false],
  [{ metadata: { creationTimestamp: "2026-01-01T00:00:00Z" } }, undefined, false],
  [{ metadata: { namespace: "a" } }, "must be empty except for namespace", true],
  [{ metadata: { namespace: "a", labels: null } }, "must be empty except for namespace", true],
  [{ metadata: { namespace: "a", name: "b" } }, "must be empty except for namespace", false],
])("a review %j is accepted, where its metadata %s: %s", (review, why, accepted) => {
  const problems = shown(metadataProblems(review, why));
  if (accepted) expect(problems).toEqual([]);
  else expect(problems).toEqual([expect.stringMatching(/^metadata: Invalid value: /)]);
  if (!accepted) expect(problems[0]?.endsWith(why ?? "must be empty")).toBe(true);
});

const IN = "In";
test.each<[string, unknown, unknown]>([
  ["a=b", undefined, [{ key: "a", operator: IN, values: ["b"] }]],
  ["a==b", undefined, [{ key: "a", operator: IN, values: ["b"] }]],
  ["a!=b", undefined, [{ key: "a", operator: "NotIn", values: ["b"] }]],
  [
    "a=b,c=",
    undefined,
    [
      { key: "a", operator: IN, values: ["b"] },
      { key: "c", operator: IN, values: [""] },
    ],
  ],
  ["a=b\\,c", undefined, [{ key: "a", operator: IN, values: ["b,c"] }]],
  ["a", undefined, undefined],
  ["", undefined, []],
])("the field selector %j is read", (raw, _none, expected) => {
  expect(fieldRequirements(raw)).toEqual(expected);
});

test.each<[Json, unknown, readonly string[]]>([
  [
    { labelSelector: { rawSelector: "a=b, c in (d, e),!f,g,h notin (i),j!=k,l==m" } },
    {
      labelRequirements: [
        { key: "a", operator: IN, values: ["b"] },
        { key: "c", operator: IN, values: ["d", "e"] },
        { key: "f", operator: "DoesNotExist", values: [] },
        { key: "g", operator: "Exists", values: [] },
        { key: "h", operator: "NotIn", values: ["i"] },
        { key: "j", operator: "NotIn", values: ["k"] },
        { key: "l", operator: IN, values: ["m"] },
      ],
    },
    [],
  ],
  [
    { labelSelector: { rawSelector: "a in b c" } },
    {},
    ["spec.resourceAttributes.labelSelector ignored due to parse error"],
  ],
  [{ fieldSelector: { rawSelector: "a" } }, {}, ["spec.resourceAttributes.fieldSelector ignored due to parse error"]],
  [{ fieldSelector: { rawSelector: "a=b" } }, { fieldRequirements: [{ key: "a", operator: IN, values: ["b"] }] }, []],
  [
    { labelSelector: requirement("a", "DoesNotExist") },
    { labelRequirements: [{ key: "a", operator: "DoesNotExist", values: [] }] },
    [],
  ],
  [
    { labelSelector: requirement("a", "NotIn", ["b"]) },
    { labelRequirements: [{ key: "a", operator: "NotIn", values: ["b"] }] },
    [],
  ],
  [
    { labelSelector: requirement("a", "Like") },
    {},
    ["spec.resourceAttributes.labelSelector ignored due to parse error"],
  ],
  [
    {
      labelSelector: {
        requirements: [
          { key: "a", operator: "Exists" },
          { key: "b", operator: "Like" },
        ],
      },
    },
    { labelRequirements: [{ key: "a", operator: "Exists", values: [] }] },
    ["spec.resourceAttributes.labelSelector partially ignored due to parse error"],
  ],
  [{}, {}, []],
])("the selectors of %j are read", (resource, selectors, errors) => {
  expect(selectorsOf(resource)).toEqual({ selectors, errors });
});
