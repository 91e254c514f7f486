import Type, { type Static, type TSchema } from "typebox";
import type { KubeObject, ObjectMeta } from "@causeway/kubernetes";
import type { Kind, KindVersion, PrinterColumn } from "../kind.ts";
import type { Lens } from "../lenses/lens.ts";
import { lossless } from "../lenses/lossless.ts";
import { optional } from "./fields.ts";

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
  /** False: objects of the kind are in no namespace. */
  readonly namespaced?: boolean;
  /** Other versions that are served, newest first. */
  readonly versions?: readonly VersionDefinition[];
}

/** A served version that is not stored, and how it differs from the stored one. */
export interface VersionDefinition {
  /** Such as "v1beta1". */
  readonly version: string;
  readonly spec: TSchema;
  readonly status?: TSchema;
  readonly columns?: readonly PrinterColumn[];
  /** Default: true. */
  readonly deprecated?: boolean;
  /** Leads from this version to the stored one, and back. */
  readonly lens: Lens;
}

/** The object a definition describes. */
export type DefinedObject<Spec extends TSchema, Status extends TSchema | undefined> = KubeObject & {
  spec: Static<Spec>;
} & (Status extends TSchema ? { status?: Static<Status> } : unknown);

/**
 * Makes the handle of a kind from one schema: TypeScript type, CRD and client handle agree because they are one thing.
 */
export function defineKind<Spec extends TSchema, Status extends TSchema | undefined = undefined>(
  definition: KindDefinition<Spec, Status>,
): Kind<DefinedObject<Spec, Status>> {
  const { group, version, kind, description, spec, status, scale } = definition;
  const schema = schemaOf(description, spec, status);
  return {
    group,
    version,
    kind,
    plural: definition.plural ?? `${kind.toLowerCase()}s`,
    namespaced: definition.namespaced ?? true,
    schema,
    shortNames: definition.shortNames ?? [],
    columns: definition.columns ?? [],
    ...(scale ? { scale } : {}),
    labels: definition.labels ?? {},
    versions: (definition.versions ?? []).map((older) => olderVersion(definition, older)),
  };
}

function schemaOf(description: string, spec: TSchema, status: TSchema | undefined) {
  return Type.Object(
    {
      apiVersion: Type.String(),
      kind: Type.String(),
      metadata: Type.Unsafe<ObjectMeta>({ type: "object" }),
      spec,
      ...(status ? { status: optional(status) } : {}),
    },
    { description },
  );
}

function olderVersion(
  {
    group,
    version: stored,
    description,
  }: Pick<KindDefinition<TSchema, undefined>, "group" | "version" | "description">,
  { version, spec, status, columns, deprecated, lens }: VersionDefinition,
): KindVersion {
  return {
    name: version,
    schema: schemaOf(description, spec, status),
    columns: columns ?? [],
    deprecated: deprecated ?? true,
    ...lossless({ group, version, stored, lens }),
  };
}
