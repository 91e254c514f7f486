import type { Json } from "../interface.ts";

type ResponseOf = (request: Json, response: Json) => unknown;

/** What a conversion webhook does wrong, and the message that the client gets. */
export const REFUSALS: readonly (readonly [string, ResponseOf, string])[] = [
  [
    "fails with a message",
    (_q, r) => ({ ...r, result: { status: "Failure", message: "no such luck" } }),
    "conversion webhook for GROUP/v2, Kind=Gauge failed: no such luck",
  ],
  [
    "fails without a message",
    (_q, r) => ({ ...r, result: { status: "Failure" } }),
    "conversion webhook for GROUP/v2, Kind=Gauge failed: response.result.status was 'Failure', not 'Success'",
  ],
  [
    "returns too few objects",
    (_q, r) => ({ ...r, convertedObjects: [] }),
    "conversion webhook for GROUP/v2, Kind=Gauge returned 0 objects, expected 1",
  ],
  [
    "returns another version",
    (_q, r) => changed(r, (o) => ({ ...o, apiVersion: "other/v1" })),
    "conversion webhook for GROUP/v2, Kind=Gauge returned invalid object at index 0: invalid groupVersion (expected GROUP/v1, received other/v1)",
  ],
  [
    "returns another kind",
    (_q, r) => changed(r, (o) => ({ ...o, kind: "Other" })),
    "conversion webhook for GROUP/v2, Kind=Gauge returned invalid object at index 0: invalid kind (expected Gauge, received Other)",
  ],
  [
    "changes the name",
    (_q, r) => changed(r, (o) => ({ ...o, metadata: { ...(o["metadata"] as Json), name: "b" } })),
    "conversion webhook for GROUP/v2, Kind=Gauge returned invalid object: must have the same name: a != b",
  ],
  [
    "loses the metadata's labels to numbers",
    (_q, r) => changed(r, (o) => ({ ...o, metadata: { ...(o["metadata"] as Json), labels: { a: 1 } } })),
    "conversion webhook for GROUP/v2, Kind=Gauge returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
  ],
  [
    "makes a label that may not be",
    (_q, r) => changed(r, (o) => ({ ...o, metadata: { ...(o["metadata"] as Json), labels: { a: "-" } } })),
    "conversion webhook for GROUP/v2, Kind=Gauge returned invalid metadata: metadata.labels: Invalid value: \"-\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
];

function changed(response: Json, by: (object: Json) => Json): Json {
  return { ...response, convertedObjects: (response["convertedObjects"] as Json[]).map(by) };
}

const ENDPOINT = "https://127.0.0.1:1/convert";
const webhook = (clientConfig: Json, more: Json = {}): Json => ({
  strategy: "Webhook",
  webhook: { clientConfig, conversionReviewVersions: ["v1"], ...more },
});
const CONFIG = "spec.conversion.webhookClientConfig";

/** A CRD's spec.conversion, and the cause of its rejection. */
export const DEFINITION_REFUSALS: readonly (readonly [string, Json, string])[] = [
  [
    "with a webhook and no client config",
    { strategy: "Webhook", webhook: { conversionReviewVersions: ["v1"] } },
    `${CONFIG}: Required value: required when strategy is set to Webhook`,
  ],
  ["with neither url nor service", webhook({}), `${CONFIG}: Required value: exactly one of url or service is required`],
  [
    "with a url that is not https",
    webhook({ url: "http://127.0.0.1/convert" }),
    `${CONFIG}.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
  ],
  [
    "with a url that has a query",
    webhook({ url: `${ENDPOINT}?a=b` }),
    `${CONFIG}.url: Invalid value: "a=b": query parameters are not permitted in the URL`,
  ],
  [
    "with a url that names a user",
    webhook({ url: "https://me@127.0.0.1/convert" }),
    `${CONFIG}.url: Invalid value: "me": user information is not permitted in the URL`,
  ],
  [
    "with a service without a name",
    webhook({ service: { namespace: "default" } }),
    `${CONFIG}.service.namespace: Required value`,
  ],
  [
    "with a service's path that is none",
    webhook({ service: { namespace: "default", name: "a", path: "convert" } }),
    `${CONFIG}.service.path: Invalid value: "convert": must start with a '/'`,
  ],
  [
    "that knows no review version",
    webhook({ url: ENDPOINT }, { conversionReviewVersions: ["v9"] }),
    'spec.conversion.conversionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1',
  ],
  [
    "that names a review version twice",
    webhook({ url: ENDPOINT }, { conversionReviewVersions: ["v1", "v1"] }),
    'spec.conversion.conversionReviewVersions[1]: Invalid value: "v1": duplicate version',
  ],
  [
    "without review versions",
    webhook({ url: ENDPOINT }, { conversionReviewVersions: [] }),
    "spec.conversion.conversionReviewVersions: Required value",
  ],
  [
    "with a webhook though it asks for none",
    { strategy: "None", webhook: { clientConfig: { url: ENDPOINT }, conversionReviewVersions: ["v1"] } },
    `[${CONFIG}: Forbidden: should not be set when strategy is not set to Webhook, spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook]`,
  ],
  [
    "with another strategy",
    { strategy: "Magic" },
    'spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"',
  ],
];
