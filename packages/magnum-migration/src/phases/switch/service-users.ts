import { isRecord } from "@causeway/foundation";

/** A Service that the API server itself calls. */
export interface CalledService {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  /** By whom, in words. */
  readonly users: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;
const recordOf = (value: unknown): Json => (isRecord(value) ? value : {});
const records = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isRecord) : []);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const nameOf = ({ metadata }: Json): string => textOf(recordOf(metadata)["name"]);

/** What of a cluster makes its API server call Services, as lists have it. */
export interface Callers {
  readonly mutating: readonly Json[];
  readonly validating: readonly Json[];
  readonly apiServices: readonly Json[];
}

/**
 * Services of webhooks whose failure fails the request, and of APIServices, each once with all that use it. A webhook
 * at a URL, or one whose failure is ignored, breaks nothing of the cluster.
 */
export function calledServices({ mutating, validating, apiServices }: Callers): readonly CalledService[] {
  const uses = [
    ...mutating.flatMap((one) => webhookUses("MutatingWebhookConfiguration", one)),
    ...validating.flatMap((one) => webhookUses("ValidatingWebhookConfiguration", one)),
    ...apiServices.map((one) => ({
      user: `APIService ${nameOf(one)}`,
      service: recordOf(one["spec"])["service"],
    })),
  ];
  const found = new Map<string, { readonly namespace: string; name: string; port: number; users: string[] }>();
  for (const { user, service } of uses) {
    if (!isRecord(service)) continue;
    const [namespace, name] = [textOf(service["namespace"]), textOf(service["name"])];
    const port = typeof service["port"] === "number" ? service["port"] : 443;
    const key = `${namespace}/${name}:${port}`;
    const known = found.get(key) ?? { namespace, name, port, users: [] };
    known.users.push(user);
    found.set(key, known);
  }
  return [...found.values()];
}

function webhookUses(kind: string, configuration: Json): { user: string; service: unknown }[] {
  return records(configuration["webhooks"])
    .filter((webhook) => webhook["failurePolicy"] !== "Ignore")
    .map((webhook) => ({
      user: `webhook ${textOf(webhook["name"])} of ${kind} ${nameOf(configuration)}`,
      service: recordOf(webhook["clientConfig"])["service"],
    }));
}
