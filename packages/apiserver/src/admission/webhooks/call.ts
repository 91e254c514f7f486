import { randomUUID } from "node:crypto";
import { messageOf } from "@causeway/foundation";
import { isRecord, record, text, texts, type Json } from "../../json/json.ts";
import { badRequest } from "../../errors/status.ts";
import type { Attempt } from "../../contract/admission.ts";
import { admissionRequest } from "../request.ts";
import type { Form } from "../rules.ts";
import { CallFailure, denial } from "./errors.ts";
import type { Hook } from "./hooks.ts";

/** A patch that replaces the largest object, in base64, and room for warnings. */
const LONGEST_ANSWER = 8 * 1024 * 1024;
const REVIEW_VERSIONS = ["v1", "v1beta1"];

/** A webhook that is to be called, and the form in which its rules cover the attempt. */
export interface Invocation {
  readonly hook: Hook;
  readonly form: Form;
  /** Its objects in that form. */
  readonly attempt: Attempt;
}

/**
 * Asks one webhook; answers the JSON patch that it wants, if any. Throws CallFailure where it could not be called, and
 * the Status error of its refusal.
 */
export async function askHook(
  { hook, form, attempt }: Invocation,
  mutating: boolean,
): Promise<readonly Json[] | undefined> {
  const { call } = attempt;
  if (call.dryRun && hook.sideEffects !== "None" && hook.sideEffects !== "NoneOnDryRun") {
    throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`);
  }
  const version = hook.reviewVersions.find((v) => REVIEW_VERSIONS.includes(v));
  if (version === undefined) {
    const why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
    throw new CallFailure(hook.name, `could not create admission objects: ${why}`);
  }
  const uid = randomUUID();
  const review = reviewOf(attempt, form, { uid, version });
  const answer = await call.cluster.webhooks
    .call(hook.clientConfig, review, { timeout: hook.timeout, limit: LONGEST_ANSWER })
    .catch((error: unknown) => {
      throw new CallFailure(hook.name, `failed to call webhook: ${messageOf(error)}`, error);
    });
  const response = verified(answer, { uid, version, mutating }, (why) => {
    throw new CallFailure(hook.name, `received invalid webhook response: ${why}`);
  });
  for (const warning of texts(response["warnings"])) call.warn(warning);
  for (const [key, value] of Object.entries(record(response["auditAnnotations"]))) {
    call.annotate(`${hook.name}/${key}`, text(value));
  }
  if (response["allowed"] !== true) throw denial(hook.name, response["status"]);
  return patchOf(hook, response);
}

function reviewOf(attempt: Attempt, form: Form, { uid, version }: { uid: string; version: string }): Json {
  const request = admissionRequest(attempt, form);
  return {
    kind: "AdmissionReview",
    apiVersion: `admission.k8s.io/${version}`,
    request: { uid, ...request, object: attempt.object ?? null, oldObject: attempt.old ?? null },
  };
}

interface Expected {
  readonly uid: string;
  readonly version: string;
  readonly mutating: boolean;
}

/** The response of a review, as far as its version promises anything. */
function verified(answer: Json, { uid, version, mutating }: Expected, refuse: (why: string) => never): Json {
  const response = answer["response"];
  if (!isRecord(response)) return refuse("webhook response was absent");
  if (version !== "v1") return response;
  const given = text(response["uid"]);
  if (given !== uid) {
    return refuse(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`);
  }
  const apiVersion = `admission.k8s.io/${version}`;
  if (answer["apiVersion"] !== apiVersion || answer["kind"] !== "AdmissionReview") {
    const got = `${text(answer["apiVersion"])}, Kind=${text(answer["kind"])}`;
    return refuse(`expected webhook response of ${apiVersion}, Kind=AdmissionReview, got ${got}`);
  }
  const hasPatch = text(response["patch"]) !== "";
  const type = response["patchType"];
  const hasType = type !== undefined && type !== null;
  if (!mutating && hasPatch) return refuse("validating webhook may not return response.patch");
  if (!mutating && hasType) return refuse("validating webhook may not return response.patchType");
  if (hasPatch && !hasType) return refuse("webhook returned response.patch but not response.patchType");
  if (!hasPatch && hasType) return refuse("webhook returned response.patchType but not response.patch");
  if (hasType && type === "") return refuse('webhook returned invalid response.patchType of ""');
  return response;
}

function patchOf(hook: Hook, response: Json): readonly Json[] | undefined {
  const encoded = text(response["patch"]);
  if (encoded === "") return undefined;
  const type = text(response["patchType"]);
  if (type !== "" && type !== "JSONPatch") {
    throw new CallFailure(hook.name, `unsupported patch type ${JSON.stringify(type)}`);
  }
  try {
    const patch: unknown = JSON.parse(Buffer.from(encoded, "base64").toString("utf8"));
    if (Array.isArray(patch)) return patch.length === 0 ? undefined : (patch as Json[]);
  } catch (cause) {
    throw new CallFailure(hook.name, "received undecodable patch in webhook response: no JSON", cause);
  }
  throw new CallFailure(hook.name, "received undecodable patch in webhook response: no list");
}
