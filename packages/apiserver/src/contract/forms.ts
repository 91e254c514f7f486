import type { KubeObject } from "@causeway/kubernetes";
import type { Draft } from "./resource.ts";
import type { CompiledSchema } from "../schema/index.ts";
import { apiError } from "../errors/status.ts";
import type { Converter } from "./converter.ts";
import { andThen, type MaybePromise } from "../json/maybe-promise.ts";

/** The forms in which objects of a custom kind are kept and seen. */
export interface Forms {
  /** No webhook is ever called. */
  readonly local: boolean;
  /** Stored objects of later revisions, if they are of the version that is requested, are seen as they are stored. */
  readonly since: number;
  /**
   * Stored objects as clients of a version see them; the very objects where nothing is to be done. At once, unless a
   * webhook is called.
   */
  seen(stored: readonly KubeObject[], apiVersion: string): MaybePromise<readonly KubeObject[]>;
  /** An object of any version in the form in which it goes into the store. */
  stored(draft: Draft): MaybePromise<Draft>;
  /** A copy of an object that is not stored yet, in another version (for admission and field managers). */
  converted(object: KubeObject, apiVersion: string): MaybePromise<KubeObject>;
}

/** What reading and writing a custom kind in its versions needs. */
export interface FormsOptions {
  /** The apiVersion that is stored. */
  readonly storedAs: string;
  /** By apiVersion, of all versions of the CRD, served or not. */
  readonly schemas: ReadonlyMap<string, () => CompiledSchema>;
  /** Objects written at this revision or before may not be as the schemas are now. */
  readonly since: number;
  readonly converter: Converter;
}

/**
 * Reads as kube-apiserver does: what was stored is pruned and defaulted by the schema of the version it was stored in,
 * converted, and pruned by the schema of the version that is requested. Source: kubernetes.io "Versions in
 * CustomResourceDefinitions".
 */
export function createForms({ storedAs, schemas, since, converter }: FormsOptions): Forms {
  // Stored objects are shared and never change, so each is converted once for all who read it.
  const known = new WeakMap<KubeObject, Map<string, KubeObject>>();
  const schemaOf = (apiVersion: string): CompiledSchema => {
    const schema = schemas.get(apiVersion);
    if (schema === undefined)
      throw apiError(500, "", `request to convert CR from an invalid group/version: ${apiVersion}`);
    return schema();
  };
  const fresh = (object: KubeObject): KubeObject => {
    const schema = schemaOf(object.apiVersion);
    return isOlder(object, since) ? schema.default(schema.prune(object)) : object;
  };
  const remember = (object: KubeObject, apiVersion: string, seen: KubeObject): KubeObject => {
    const forms = known.get(object) ?? new Map<string, KubeObject>();
    known.set(object, forms.set(apiVersion, seen));
    return seen;
  };
  const convert = (objects: readonly KubeObject[], apiVersion: string): MaybePromise<readonly KubeObject[]> =>
    andThen(converter.convert(objects, apiVersion), (converted) => converted.map((o) => schemaOf(apiVersion).prune(o)));
  return {
    local: converter.remote !== true,
    since,
    seen(objects, apiVersion) {
      if (objects.every((o) => o.apiVersion === apiVersion && !isOlder(o, since))) return objects;
      const result = objects.map((o) => known.get(o)?.get(apiVersion) ?? fresh(o));
      const missing = result.flatMap((o, i) => (o.apiVersion === apiVersion ? [] : [i]));
      const finish = (): readonly KubeObject[] =>
        result.map((seen, i) => remember(objects[i] ?? seen, apiVersion, seen));
      if (missing.length === 0) return finish();
      return andThen(
        convert(
          missing.flatMap((i) => result[i] ?? []),
          apiVersion,
        ),
        (converted) => {
          for (const [at, i] of missing.entries()) result[i] = converted[at] ?? result[i]!;
          return finish();
        },
      );
    },
    stored(draft) {
      if (draft.apiVersion === storedAs) return draft;
      return andThen(convert([draft], storedAs), ([object]) => schemaOf(storedAs).default(object) as Draft);
    },
    converted(object, apiVersion) {
      if (object.apiVersion === apiVersion) return structuredClone(object);
      return andThen(convert([object], apiVersion), ([converted]) => structuredClone(converted ?? object));
    },
  };
}

function isOlder({ metadata }: KubeObject, since: number): boolean {
  return since > 0 && Number(metadata.resourceVersion ?? since + 1) <= since;
}
