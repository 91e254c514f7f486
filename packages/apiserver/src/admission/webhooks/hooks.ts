import { fields, record, records, text, texts, type Json } from "../../json/json.ts";
import type { Cluster } from "../../contract/cluster.ts";
import type { WebhookClientConfig } from "../../contract/webhooks.ts";
import type { Expressions } from "../cel/expressions.ts";
import { compileConditions, type MatchCondition } from "../conditions.ts";

/** The group of webhook configurations and policies. */
export const GROUP = "admissionregistration.k8s.io";
const SECOND = 1000;
const DEFAULT_TIMEOUT = 10;

/** One webhook of a configuration. */
export interface Hook {
  /** Unlike any other of its phase: configuration, name, and which of that name. */
  readonly id: string;
  readonly configuration: string;
  readonly name: string;
  readonly rules: readonly Json[];
  readonly matchPolicy: unknown;
  readonly namespaceSelector: unknown;
  readonly objectSelector: unknown;
  readonly conditions: readonly MatchCondition[];
  readonly clientConfig: WebhookClientConfig;
  readonly reviewVersions: readonly string[];
  /** Milliseconds. */
  readonly timeout: number;
  readonly ignoresFailure: boolean;
  readonly sideEffects: string;
  readonly reinvocable: boolean;
}

/** The webhooks of all configurations of one kind: configurations by name, webhooks as written. */
export function readHooks(cluster: Cluster, plural: string, expressions: Expressions): readonly Hook[] {
  const { items } = cluster.store.list({ cluster: cluster.name, resource: `${GROUP}/${plural}` });
  return items
    .map(({ object }) => object)
    .flatMap((object) => {
      const seen = new Map<string, number>();
      return records(fields(object)["webhooks"]).map((webhook) => {
        const name = text(webhook["name"]);
        const count = seen.get(name) ?? 0;
        seen.set(name, count + 1);
        return hookOf(webhook, { configuration: object.metadata.name, count, expressions });
      });
    });
}

function hookOf(
  webhook: Json,
  { configuration, count, expressions }: { configuration: string; count: number; expressions: Expressions },
): Hook {
  const name = text(webhook["name"]);
  const seconds = webhook["timeoutSeconds"];
  return {
    id: `${configuration}/${name}/${count}`,
    configuration,
    name,
    rules: records(webhook["rules"]),
    matchPolicy: webhook["matchPolicy"],
    namespaceSelector: webhook["namespaceSelector"],
    objectSelector: webhook["objectSelector"],
    conditions: compileConditions(expressions, webhook["matchConditions"]),
    clientConfig: record(webhook["clientConfig"]) as WebhookClientConfig,
    reviewVersions: texts(webhook["admissionReviewVersions"]),
    timeout: (typeof seconds === "number" ? seconds : DEFAULT_TIMEOUT) * SECOND,
    ignoresFailure: webhook["failurePolicy"] === "Ignore",
    sideEffects: text(webhook["sideEffects"]),
    reinvocable: webhook["reinvocationPolicy"] === "IfNeeded",
  };
}
