import type { KubeObject } from "@causeway/kubernetes";
import { fields } from "../json/json.ts";
import type { FieldError } from "../schema/field-error.ts";
import type { FieldProblem } from "../errors/status.ts";
import { contextOf, type Call } from "../contract/call.ts";
import { embeddedProblems } from "./embedded.ts";
import { validateMetadata } from "./metadata.ts";

/** Everything that is wrong with an object that is about to be stored; with `old` as an update of that. */
export function problemsOf(call: Call, object: KubeObject, old?: KubeObject): readonly FieldProblem[] {
  const { resource, version, subresource, cluster } = call;
  const { schema } = version;
  const context = contextOf(call);
  const general = [
    ...validateMetadata(resource, object, old),
    ...(resource.strategy.validate?.(object, old, context) ?? []),
  ];
  if (!schema) return general;
  const isStatus = subresource === "status";
  const inner = isStatus ? [] : schema.embedded(object).flatMap((e) => embeddedProblems(cluster.catalog.tables, e));
  const others = [...general, ...inner] as readonly FieldError[];
  const change = old ? { old: fields(old), warn: (message: string) => context.warn(message) } : {};
  return schema.validate(object, { ...change, isStatus, others });
}
