import { describe, expect, test } from "vitest";
import type { KubeObject } from "@causeway/kubernetes";
import type { Draft, WriteContext } from "../../contract/resource.ts";
import type { FieldProblem } from "../../errors/status.ts";
import { array, type Json } from "../../json/json.ts";
import { webhookStrategy } from "./strategy.ts";

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const REQUIRED = "Required value";

/** "field: message", without the path that all share. */
const shown = (problems: readonly FieldProblem[], path = "p"): string[] =>
  problems.map(({ field, message }) => `${field.replace(path, "")}: ${message}`);

describe("a webhook configuration", () => {
  const WEBHOOK = {
    name: "a.b.c",
    clientConfig: { url: "https://a" },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds: 10,
  };
  const config = (...webhooks: Json[]): KubeObject =>
    ({ kind: "ValidatingWebhookConfiguration", metadata: { name: "c" }, webhooks }) as unknown as KubeObject;
  const judged = (object: KubeObject, old?: KubeObject): string[] => {
    const found = webhookStrategy.validate?.(object, old, {} as WriteContext);
    return shown(array(found) as FieldProblem[], "webhooks");
  };

  test("is filled in", () => {
    const filled = (kind: string, webhook: Json): unknown => {
      const draft = { kind, metadata: {}, webhooks: [webhook] } as unknown as Draft;
      webhookStrategy.applyDefaults?.(draft, undefined as never);
      return (draft["webhooks"] as Json[])[0];
    };
    const given = { rules: [{}, { scope: "Cluster" }], clientConfig: { service: {} } };
    const expected = {
      failurePolicy: "Fail",
      matchPolicy: "Equivalent",
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      rules: [{ scope: "*" }, { scope: "Cluster" }],
      clientConfig: { service: { port: 443 } },
    };
    expect(filled("ValidatingWebhookConfiguration", structuredClone(given))).toEqual(expected);
    const mutating = filled("MutatingWebhookConfiguration", structuredClone(given));
    expect(mutating).toEqual({ ...expected, reinvocationPolicy: "Never" });
    const own = {
      failurePolicy: "Ignore",
      matchPolicy: "Exact",
      namespaceSelector: { a: 1 },
      objectSelector: { b: 1 },
      timeoutSeconds: 1,
      reinvocationPolicy: "IfNeeded",
      clientConfig: { service: { port: 8 } },
    };
    expect(filled("MutatingWebhookConfiguration", structuredClone(own))).toEqual(own);
    expect(filled("ValidatingWebhookConfiguration", { clientConfig: { url: "x" } })).toMatchObject({
      clientConfig: { url: "x" },
    });
  });

  const SEGMENTS = "should be a domain with at least three segments separated by dots";
  const TIME = "the timeout value must be between 1 and 30 seconds";
  const long = `${"a".repeat(125)}.${"b".repeat(125)}.`;
  test.each<[string, Json, readonly string[]]>([
    ["is accepted when it is complete", {}, []],
    ["needs a name", { name: "" }, [`[0].name: ${REQUIRED}`]],
    ["needs a name of three parts", { name: "a.b" }, [`[0].name: Invalid value: "a.b": ${SEGMENTS}`]],
    ["has no odd name", { name: "A.b.c" }, [`[0].name: Invalid value: "A.b.c": ${SUBDOMAIN}`]],
    ["may have the longest name", { name: `${long}c` }, []],
    ["has no longer name", { name: `${long}cd` }, [`[0].name: Invalid value: "${long}cd": ${SUBDOMAIN}`]],
    [
      "has rules",
      { rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: [] }] },
      [`[0].rules[0].resources: ${REQUIRED}`],
    ],
    [
      "has a failure policy",
      { failurePolicy: "x" },
      ['[0].failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"'],
    ],
    ["may ignore failures", { failurePolicy: "Ignore" }, []],
    [
      "has a match policy",
      { matchPolicy: "x" },
      ['[0].matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact"'],
    ],
    [
      "says its side effects",
      { sideEffects: null },
      [`[0].sideEffects: ${REQUIRED}: must specify one of None, NoneOnDryRun`],
    ],
    [
      "has no other side effects",
      { sideEffects: "Some" },
      ['[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    ],
    ["may have none on a dry run", { sideEffects: "NoneOnDryRun" }, []],
    ["may have the shortest time", { timeoutSeconds: 1 }, []],
    ["may have the longest time", { timeoutSeconds: 30 }, []],
    ["has no shorter time", { timeoutSeconds: 0 }, [`[0].timeoutSeconds: Invalid value: 0: ${TIME}`]],
    ["has no longer time", { timeoutSeconds: 31 }, [`[0].timeoutSeconds: Invalid value: 31: ${TIME}`]],
    [
      "has selectors of namespaces",
      { namespaceSelector: { matchExpressions: [{ key: "a", operator: "x" }] } },
      ['[0].namespaceSelector.matchExpressions[0].operator: Invalid value: "x": not a valid selector operator'],
    ],
    [
      "has selectors of objects",
      { objectSelector: { matchExpressions: [{ key: "a", operator: "x" }] } },
      ['[0].objectSelector.matchExpressions[0].operator: Invalid value: "x": not a valid selector operator'],
    ],
    ["may be called again", { reinvocationPolicy: "IfNeeded" }, []],
    [
      "is called again or never",
      { reinvocationPolicy: "x" },
      ['[0].reinvocationPolicy: Unsupported value: "x": supported values: "IfNeeded", "Never"'],
    ],
    ["has a place", { clientConfig: {} }, [`[0].clientConfig: ${REQUIRED}: exactly one of url or service is required`]],
    [
      "needs versions of reviews",
      { admissionReviewVersions: [] },
      [`[0].admissionReviewVersions: ${REQUIRED}: must specify one of v1, v1beta1`],
    ],
    ["may have an old version of reviews", { admissionReviewVersions: ["v1beta1"] }, []],
    ["may have a version of reviews that is to come", { admissionReviewVersions: ["v9", "v1"] }, []],
    [
      "has no version of reviews twice",
      { admissionReviewVersions: ["v1", "v1"] },
      ['[0].admissionReviewVersions[1]: Invalid value: "v1": duplicate version'],
    ],
    [
      "has versions of reviews that we know",
      { admissionReviewVersions: ["v9", "1"] },
      [
        `[0].admissionReviewVersions[1]: Invalid value: "1": ${LABEL}`,
        '[0].admissionReviewVersions: Invalid value: ["v9","1"]: must include at least one of v1, v1beta1',
      ],
    ],
  ])("%s", (_what, more, expected) => {
    expect(judged(config({ ...WEBHOOK, ...more }))).toEqual(expected);
  });

  test("has each name once", () => {
    expect(judged(config(WEBHOOK, { ...WEBHOOK, name: "x.y.z" }, WEBHOOK))).toEqual([
      '[2].name: Duplicate value: "a.b.c"',
    ]);
  });

  test("has its conditions compiled when they change", () => {
    const faulty = config({ ...WEBHOOK, matchConditions: [{ name: "n", expression: "nothing" }] });
    expect(judged(faulty)[0]).toMatch(/^\[0\]\.matchConditions\[0\]\.expression: Invalid value: "nothing": /);
    expect(judged(faulty, faulty)).toEqual([]);
    expect(judged(faulty, config(WEBHOOK)).length).toBe(1);
    const number = config({ ...WEBHOOK, matchConditions: [{ name: "n", expression: "1" }] });
    expect(judged(number)[0]).toContain("must evaluate to bool");
    expect(judged(config({ ...WEBHOOK, matchConditions: [{ name: "n", expression: "true" }] }))).toEqual([]);
  });
});
