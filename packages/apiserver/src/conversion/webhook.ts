import { randomUUID } from "node:crypto";
import { messageOf } from "@causeway/foundation";
import type { KubeObject } from "@causeway/kubernetes";
import { array, at, isRecord, record, text, texts, type Json } from "../json/json.ts";
import type { WebhookClient, WebhookClientConfig } from "../contract/webhooks.ts";
import { apiError } from "../errors/status.ts";
import type { Converter } from "../contract/converter.ts";
import { changedIdentity, withMetadataOf } from "./metadata.ts";

const GROUP = "apiextensions.k8s.io";
const TIMEOUT = 30_000;
const REVIEWS = ["v1", "v1beta1"];

/**
 * Has objects converted by a webhook: one ConversionReview for as many objects as are requested at once. `webhook` is
 * spec.conversion.webhook.
 */
export function webhookConverter(webhook: Json, client: WebhookClient): Converter {
  return {
    remote: true,
    async convert(objects, apiVersion) {
      const [first] = objects;
      if (first === undefined) return [];
      const subject = `conversion webhook for ${kindOf(first)}`;
      const converted = await convertedBy(webhook, { objects, apiVersion, subject, client });
      if (converted.length !== objects.length) {
        throw refusal(`${subject} returned ${converted.length} objects, expected ${objects.length}`);
      }
      return objects.map((object, i) => checked(object, converted[i], { apiVersion, subject, index: i }));
    },
  };
}

interface Question {
  readonly objects: readonly KubeObject[];
  readonly apiVersion: string;
  readonly subject: string;
  readonly client: WebhookClient;
}

async function convertedBy(
  webhook: Json,
  { objects, apiVersion, subject, client }: Question,
): Promise<readonly unknown[]> {
  const version = texts(webhook["conversionReviewVersions"]).find((v) => REVIEWS.includes(v));
  if (version === undefined) throw refusal("no supported conversion review versions");
  const uid = randomUUID();
  const review = {
    kind: "ConversionReview",
    apiVersion: `${GROUP}/${version}`,
    request: { uid, desiredAPIVersion: apiVersion, objects },
  };
  try {
    const config: WebhookClientConfig = record(webhook["clientConfig"]);
    return answered(await client.call(config, review, { timeout: TIMEOUT }), version, uid);
  } catch (error) {
    throw refusal(`${subject} failed: ${messageOf(error)}`);
  }
}

/** The converted objects of a ConversionReview. Throws an Error that says what is wrong with it. */
function answered(review: Json, version: string, uid: string): readonly unknown[] {
  if (version === "v1") {
    const [apiVersion, kind] = [text(review["apiVersion"]), text(review["kind"])];
    if (apiVersion !== `${GROUP}/v1` || kind !== "ConversionReview") {
      const received = `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
      throw new Error(`expected webhook response of ${GROUP}/v1, Kind=ConversionReview, got ${received}`);
    }
  }
  const response = record(review["response"]);
  if (version === "v1" && text(response["uid"]) !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(text(response["uid"]))}`);
  }
  const status = text(at(response, "result", "status"));
  if (status !== "Success") {
    const message = text(at(response, "result", "message"));
    throw new Error(message || `response.result.status was '${status}', not 'Success'`);
  }
  return array(response["convertedObjects"]);
}

interface Expected {
  readonly apiVersion: string;
  readonly subject: string;
  readonly index: number;
}

function checked(before: KubeObject, after: unknown, { apiVersion, subject, index }: Expected): KubeObject {
  const object = record(after);
  const invalidAt = `${subject} returned invalid object at index ${index}`;
  if (!isRecord(after)) throw refusal(`${invalidAt}: it is not an object`);
  if (object["apiVersion"] !== apiVersion) {
    const why = `invalid groupVersion (expected ${apiVersion}, received ${text(object["apiVersion"])})`;
    throw refusal(`${invalidAt}: ${why}`);
  }
  if (object["kind"] !== before.kind) {
    throw refusal(`${invalidAt}: invalid kind (expected ${before.kind}, received ${text(object["kind"])})`);
  }
  const changed = changedIdentity(before, object);
  if (changed !== undefined) throw refusal(`${subject} returned invalid object: ${changed}`);
  try {
    return withMetadataOf(before, object);
  } catch (error) {
    throw refusal(`${subject} returned invalid metadata: ${messageOf(error)}`);
  }
}

/** The error for the client: 500 without a reason, as kube-apiserver responds to an error without a Status. */
function refusal(message: string): Error {
  return apiError(500, "", message);
}

/** As Go prints a GroupVersionKind. */
function kindOf({ apiVersion, kind }: KubeObject): string {
  return `${apiVersion}, Kind=${kind}`;
}
