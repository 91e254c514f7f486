import { describe, expect, test } from "vitest";
import type { CausewayError } from "@causeway/foundation";
import type { WebhookCallOptions, WebhookClientConfig } from "../../contract/webhooks.ts";
import { record, type Json } from "../../json/json.ts";
import { admissionCluster, attemptOn, MAPS, type AttemptFields } from "../../testing/attempts.ts";
import { askHook } from "./call.ts";
import { denial, internalError } from "./errors.ts";
import type { Hook } from "./hooks.ts";

const HOOK = { name: "h.x.io", reviewVersions: ["v1"], timeout: 3000, sideEffects: "None", clientConfig: { url: "u" } };
const patch = (operations: unknown): string => Buffer.from(JSON.stringify(operations)).toString("base64");
const ADD = [{ op: "add", path: "/data", value: {} }];

interface HookCase {
  readonly hook?: Partial<Hook>;
  readonly mutating?: boolean;
  readonly attempt?: AttemptFields;
  /** What is returned next to the UID and what has to be there. */
  readonly answer?: (review: Json) => Json;
  readonly fails?: string;
}

/** What a webhook with this response has done, and what it was sent. */
async function asked({ hook = {}, mutating = false, attempt = {}, answer, fails }: HookCase) {
  const sent: { config: WebhookClientConfig; review: Json; options: WebhookCallOptions }[] = [];
  const call = (config: WebhookClientConfig, review: Json, options: WebhookCallOptions): Promise<Json> => {
    sent.push({ config, review, options });
    if (fails !== undefined) return Promise.reject(new Error(fails));
    return Promise.resolve(answer?.(review) ?? answering({ allowed: true })(review));
  };
  const cluster = await admissionCluster({}, { more: { webhooks: { call, close: () => {} } } });
  const attempted = attemptOn(cluster, MAPS, { object: { metadata: { name: "o" } }, ...attempt });
  const invocation = {
    hook: { ...HOOK, ...hook } as unknown as Hook,
    form: { resource: MAPS, version: { name: "v1" } },
    attempt: attempted.attempt,
  };
  const result = await askHook(invocation, mutating).then(
    (value) => ({ value }),
    (error: unknown) => ({ error: error as CausewayError }),
  );
  const status = record("error" in result ? result.error.details?.["status"] : undefined);
  return {
    value: "value" in result ? result.value : undefined,
    why: "error" in result ? `${result.error.name}: ${result.error.message}` : undefined,
    status,
    sent,
    warnings: attempted.warnings,
    annotations: attempted.annotations,
  };
}

/** The review that a webhook returns with this response. */
const answering =
  (response: Json, more: Json = {}) =>
  (review: Json): Json => ({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    response: { uid: record(review["request"])["uid"], ...response },
    ...more,
  });

describe("a webhook is sent", () => {
  test("a review with what is attempted", async () => {
    const object = { metadata: { name: "o" } };
    const { sent } = await asked({ attempt: { object }, hook: { reviewVersions: ["v2", "v1beta1", "v1"] } });
    expect(sent).toEqual([
      {
        config: { url: "u" },
        review: {
          kind: "AdmissionReview",
          apiVersion: "admission.k8s.io/v1beta1",
          request: expect.objectContaining({ uid: expect.any(String), name: "o", object, oldObject: null }),
        },
        options: { timeout: 3000, limit: 8 * 1024 * 1024 },
      },
    ]);
  });

  test("null for an object that is deleted, and the old one", async () => {
    const { sent } = await asked({ attempt: { operation: "DELETE", object: undefined, old: { metadata: {} } } });
    expect(sent[0]?.review["request"]).toMatchObject({ object: null, oldObject: { metadata: {} } });
  });

  test.each([
    ["None", true],
    ["NoneOnDryRun", true],
    ["Some", false],
    ["Unknown", false],
  ])("a dry run if its side effects are %s: %s", async (sideEffects, expected) => {
    const { why, sent } = await asked({ hook: { sideEffects }, attempt: { dryRun: true } });
    expect(sent).toHaveLength(expected ? 1 : 0);
    expect(why).toBe(expected ? undefined : 'CausewayError: admission webhook "h.x.io" does not support dry run');
    expect((await asked({ hook: { sideEffects } })).why).toBeUndefined();
  });
});

// The rows are those of apiserver's pkg/admission/plugin/webhook/request/admissionreview_test.go.
describe("the response of a webhook", () => {
  const FAILED = 'CallFailure: failed calling webhook "h.x.io": ';
  const INVALID = `${FAILED}received invalid webhook response: `;
  const ok = { allowed: true };
  const patched = { ...ok, patch: patch(ADD), patchType: "JSONPatch" };
  test.each<[string, HookCase, string | undefined]>([
    ["may allow", { answer: answering(ok) }, undefined],
    ["is there", { answer: () => ({}) }, `${INVALID}webhook response was absent`],
    [
      "has the UID of the request",
      { answer: answering({ ...ok, uid: "x" }) },
      expect.stringMatching(/received invalid webhook response: expected response.uid="[-0-9a-f]{36}", got "x"$/),
    ],
    [
      "is of the version that was sent",
      { answer: answering(ok, { apiVersion: "admission.k8s.io/v1beta1" }) },
      `${INVALID}expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1beta1, Kind=AdmissionReview`,
    ],
    [
      "is a review",
      { answer: answering(ok, { kind: "Other" }) },
      `${INVALID}expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=Other`,
    ],
    [
      "may be anything in v1beta1",
      { hook: { reviewVersions: ["v1beta1"] }, answer: () => ({ response: ok }) },
      undefined,
    ],
    [
      "is there in v1beta1 too",
      { hook: { reviewVersions: ["v1beta1"] }, answer: () => ({}) },
      `${INVALID}webhook response was absent`,
    ],
    ["may have a patch of what is changed", { mutating: true, answer: answering(patched) }, undefined],
    [
      "has no patch of what is validated",
      { answer: answering(patched) },
      `${INVALID}validating webhook may not return response.patch`,
    ],
    [
      "has no type of a patch of what is validated",
      { answer: answering({ ...ok, patchType: "JSONPatch" }) },
      `${INVALID}validating webhook may not return response.patchType`,
    ],
    ["may have null for the type of no patch", { answer: answering({ ...ok, patchType: null }) }, undefined],
    [
      "has the type of its patch",
      { mutating: true, answer: answering({ ...ok, patch: patch(ADD) }) },
      `${INVALID}webhook returned response.patch but not response.patchType`,
    ],
    [
      "has the patch of its type",
      { mutating: true, answer: answering({ ...ok, patchType: "JSONPatch" }) },
      `${INVALID}webhook returned response.patchType but not response.patch`,
    ],
    [
      "has a type that is not empty",
      { mutating: true, answer: answering({ ...patched, patchType: "" }) },
      `${INVALID}webhook returned invalid response.patchType of ""`,
    ],
    [
      "has a known type of patch",
      { mutating: true, answer: answering({ ...patched, patchType: "Merge" }) },
      `${FAILED}unsupported patch type "Merge"`,
    ],
    [
      "has a patch that can be read",
      { mutating: true, answer: answering({ ...patched, patch: "e3g=" }) },
      `${FAILED}received undecodable patch in webhook response: no JSON`,
    ],
    [
      "has a list of operations",
      { mutating: true, answer: answering({ ...patched, patch: patch({}) }) },
      `${FAILED}received undecodable patch in webhook response: no list`,
    ],
    ["comes", { fails: "refused" }, `${FAILED}failed to call webhook: refused`],
    [
      "is requested in a version that both know",
      { hook: { reviewVersions: ["v2"] } },
      `${FAILED}could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)`,
    ],
  ])("%s", async (_what, asking, expected) => {
    expect((await asked(asking)).why).toEqual(expected);
  });

  test("changes the object by its patch", async () => {
    const given = (answer: Json) => asked({ mutating: true, answer: answering(answer) });
    expect((await given(patched)).value).toEqual(ADD);
    expect((await given({ ...patched, patch: patch([]) })).value).toBeUndefined();
    expect((await given(ok)).value).toBeUndefined();
    const old = { hook: { reviewVersions: ["v1beta1"] }, mutating: true };
    expect((await asked({ ...old, answer: answering({ ...ok, patch: patch(ADD) }) })).value).toEqual(ADD);
  });

  test("warns, and is audited", async () => {
    const answer = answering({ ...ok, warnings: ["a", "b"], auditAnnotations: { k: "v" } });
    const { warnings, annotations } = await asked({ answer });
    expect(warnings).toEqual(["a", "b"]);
    expect(annotations).toEqual([["h.x.io/k", "v"]]);
  });

  test("may refuse, with warnings and annotations", async () => {
    const status = { code: 409, reason: "Conflict", message: "busy", details: { name: "o" } };
    const answer = answering({ allowed: false, status, warnings: ["a"], auditAnnotations: { k: "v" } });
    const refused = await asked({ answer });
    expect(refused).toMatchObject({ warnings: ["a"], annotations: [["h.x.io/k", "v"]] });
    expect(refused.status).toMatchObject({
      code: 409,
      reason: "Conflict",
      message: 'admission webhook "h.x.io" denied the request: busy',
      details: { name: "o" },
    });
    expect((await asked({ answer: answering({ allowed: "true" }) })).status).toMatchObject({ code: 400 });
  });
});

// The rows are those of apiserver's pkg/admission/plugin/webhook/errors/statuserror_test.go.
describe("a refusal of a webhook", () => {
  const DENIED = 'admission webhook "h" denied the request';
  test.each<[string, unknown, Json]>([
    ["without a status", undefined, { code: 400, message: `${DENIED} without explanation` }],
    ["with a message", { message: "m" }, { code: 400, message: `${DENIED}: m` }],
    ["with a reason", { reason: "R" }, { code: 400, reason: "R", message: `${DENIED}: R` }],
    ["with both", { reason: "R", message: "m" }, { code: 400, reason: "R", message: `${DENIED}: m` }],
    ["with a code", { code: 451 }, { code: 451, message: `${DENIED} without explanation` }],
    ["with the least code", { code: 400 }, { code: 400, message: `${DENIED} without explanation` }],
    ["with a code that is no refusal", { code: 302 }, { code: 400, message: `${DENIED} without explanation` }],
    ["with a code that is no number", { code: "500" }, { code: 400, message: `${DENIED} without explanation` }],
    ["with no details", { details: "d" }, { code: 400, message: `${DENIED} without explanation` }],
    [
      "with details",
      { details: { kind: "k" } },
      { code: 400, message: `${DENIED} without explanation`, details: { kind: "k" } },
    ],
  ])("%s", (_what, result, expected) => {
    const status = { kind: "Status", apiVersion: "v1", status: "Failure", ...expected };
    expect((denial("h", result) as CausewayError).details?.["status"]).toEqual(status);
  });

  test("that is an error of the server's own is a 500", () => {
    expect((internalError(new Error("why")) as CausewayError).details?.["status"]).toEqual({
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      code: 500,
      reason: "InternalError",
      message: "Internal error occurred: why",
      details: { causes: [{ message: "why" }] },
    });
  });
});
