import type { Context, Json } from "../interface.ts";
import { startWebhook, type WebhookAnswer, type WebhookServer } from "../webhook-server.ts";
import { configMap, eventually, made } from "./shorthands.ts";

export const GROUP = "admissionregistration.k8s.io";
export const CONFIGURATIONS = `/apis/${GROUP}/v1`;
export const MAPS = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] };

export type Side = "mutating" | "validating";

const KINDS = { mutating: "MutatingWebhookConfiguration", validating: "ValidatingWebhookConfiguration" };

export function pluralOf(side: Side): string {
  return `${side}webhookconfigurations`;
}

export function configuration(side: Side, name: string, webhooks: readonly Json[]): Json {
  return { apiVersion: `${GROUP}/v1`, kind: KINDS[side], metadata: { name }, webhooks };
}

/** A webhook of the least that the API takes. */
export function hook(clientConfig: Json, more: Json = {}): Json {
  const least = { name: "hook.example.com", sideEffects: "None", admissionReviewVersions: ["v1"], rules: [MAPS] };
  return { ...least, clientConfig, ...more };
}

export const allow: WebhookAnswer = { response: { allowed: true } };

export function patching(...operations: readonly Json[]): WebhookAnswer {
  const patch = Buffer.from(JSON.stringify(operations)).toString("base64");
  return { response: { allowed: true, patch, patchType: "JSONPatch" } };
}

export function denying(status?: Json): WebhookAnswer {
  return { response: { allowed: false, ...(status ? { status } : {}) } };
}

export interface WebhookRun {
  readonly server: WebhookServer;
  /** The requests that came to webhooks of the case, not to the probe. */
  readonly asked: () => Json[];
  readonly paths: () => string[];
}

interface WebhookSpec {
  readonly side: Side;
  /** Each webhook's fields but for its clientConfig; one for each path. */
  readonly hooks?: readonly Json[];
  readonly answer: (request: Json, path: string) => WebhookAnswer;
}

/** Runs `work` while webhooks are in force for the namespace of the case. */
export async function withWebhooks(
  context: Context,
  { side, hooks = [{}], answer }: WebhookSpec,
  work: (hooked: WebhookRun) => Promise<void>,
): Promise<void> {
  const { api, namespace, core } = context;
  const isProbe = (path: string): boolean => path.startsWith("/probe");
  const server = await startWebhook((request, path) => (isProbe(path) ? allow : answer(request, path)));
  const here = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
  const at = (path: string): Json => ({ url: `${server.url}/${path}`, caBundle: server.caBundle });
  const notProbe = { objectSelector: { matchExpressions: [{ key: "probe", operator: "DoesNotExist" }] } };
  const all = hooks.map((more, i) =>
    hook(at(String(i)), { name: `hook-${i}.example.com`, ...here, ...notProbe, ...more }),
  );
  const chosen = { objectSelector: { matchLabels: { probe: "yes" } } };
  const probe = hook(at("probe"), { name: "probe.example.com", ...here, ...chosen });
  const name = context.unique(side);
  const path = `${CONFIGURATIONS}/${pluralOf(side)}`;
  await made(api.post(path, configuration(side, name, [probe, ...all])));
  try {
    // Servers hear of configurations after they are written.
    await eventually(async () => {
      await api.post(
        `${core("configmaps")}?dryRun=All`,
        configMap("probe", { metadata: { labels: { probe: "yes" } } }),
      );
      return server.seen.some((s) => isProbe(s.path)) ? true : undefined;
    }, "the configuration");
    server.seen.length = 0;
    const own = (): typeof server.seen => server.seen.filter((s) => !isProbe(s.path));
    await work({
      server,
      asked: () => own().map((s) => s.request),
      paths: () => own().map((s) => s.path.split("?")[0] ?? ""),
    });
  } finally {
    await api.delete(`${path}/${name}`);
    await server.close();
  }
}
