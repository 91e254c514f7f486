import Type, { type Static, type TSchema } from "typebox";
import type { KubeObject, ObjectMeta } from "@causeway/kubernetes";
import type { Kind, PrinterColumn } from "../kind.ts";

/** What `defineKind` needs. A spec that may be left out carries `default: {}`. */
export interface KindDefinition<Spec extends TSchema, Status extends TSchema | undefined> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Default: the kind in lower case, with an "s". */
  readonly plural?: string;
  readonly description: string;
  readonly spec: Spec;
  /** Present: the kind has a status subresource. */
  readonly status?: Status;
  readonly shortNames?: readonly string[];
  readonly columns?: readonly PrinterColumn[];
  readonly scale?: Kind<KubeObject>["scale"];
  readonly labels?: Readonly<Record<string, string>>;
}

/** The object a definition describes. */
export type DefinedObject<Spec extends TSchema, Status extends TSchema | undefined> = KubeObject & {
  spec: Static<Spec>;
} & (Status extends TSchema ? { status?: Static<Status> } : unknown);

/** Makes the handle of a kind from one schema: TypeScript type, CRD and client handle agree because they are one thing. */
export function defineKind<Spec extends TSchema, Status extends TSchema | undefined = undefined>(
  definition: KindDefinition<Spec, Status>,
): Kind<DefinedObject<Spec, Status>> {
  const { group, version, kind, description, spec, status, scale } = definition;
  const schema = Type.Object(
    {
      apiVersion: Type.String(),
      kind: Type.String(),
      metadata: Type.Unsafe<ObjectMeta>({ type: "object" }),
      spec,
      ...(status ? { status: Type.Optional(status) } : {}),
    },
    { description },
  );
  return {
    group,
    version,
    kind,
    plural: definition.plural ?? `${kind.toLowerCase()}s`,
    namespaced: true,
    schema,
    shortNames: definition.shortNames ?? [],
    columns: definition.columns ?? [],
    ...(scale ? { scale } : {}),
    labels: definition.labels ?? {},
  };
}
