import type { Json } from "../interface.ts";
import { Choices } from "./choices.ts";
import { rootSchema } from "./schemas.ts";
import type { Subject } from "./subject.ts";
import { valueFor } from "./values.ts";

/** A random custom kind. */
export interface CustomKind {
  readonly definition: Json;
  readonly subject: Subject;
}

/**
 * The custom kind of a number, in a group of its own. Two versions of one schema; status and scale are there or not.
 */
export function customKind(number: number, group: string): CustomKind {
  const c = Choices.seeded(number, 2000);
  const schema = rootSchema(c);
  const status = c.chance(70);
  const replicas = (schema["properties"] as { spec: { properties: Json } }).spec.properties;
  const scale = c.chance(30);
  if (scale) replicas["replicas"] = { type: "integer", ...(c.chance(50) ? { default: 1 } : {}) };
  const subresources = {
    ...(status ? { status: {} } : {}),
    ...(scale ? { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } } : {}),
  };
  const versions = ["v1", "v1beta1"].map((name) => ({
    name,
    served: true,
    storage: name === "v1",
    schema: { openAPIV3Schema: schema },
    ...(status || scale ? { subresources } : {}),
  }));
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: { group, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions },
  };
  return { definition, subject: subjectOf(schema, { group, status, scale }) };
}

function subjectOf(schema: Json, about: { group: string; status: boolean; scale: boolean }): Subject {
  const { spec, status } = schema["properties"] as { spec: Json; status: Json };
  return {
    kind: "Thing",
    apiVersion: `${about.group}/v1`,
    otherVersions: [`${about.group}/v1beta1`],
    plural: "things",
    namespaced: true,
    custom: true,
    subresources: [...(about.status ? ["status" as const] : []), ...(about.scale ? ["scale" as const] : [])],
    selectors: ["metadata.namespace=other", "spec.alpha=1"],
    body: (c) => (c.chance(92) ? { spec: valueFor(c, spec) } : {}),
    status: (c) => valueFor(c, status),
  };
}
