import { isJson, type Json } from "../lenses/json.ts";
import { converted, type Context, type Lens } from "../lenses/lens.ts";

/**
 * Kinds that are known to be served at another version than v1beta1, which every provider of either contract serves.
 */
const versions: Readonly<Record<string, string>> = { HostedControlPlane: "v1alpha1" };

/**
 * A reference of the older version {apiVersion, kind, name, namespace} that the stored one has as {apiGroup, kind,
 * name}: within the namespace, and without version.
 */
export function reference(older: string, newer: string = older): Lens {
  return converted(older, newer, { up: groupReference, down: versionedReference });
}

function groupReference(value: unknown): unknown {
  if (!isJson(value)) return value;
  const { apiVersion, kind, name } = value;
  const apiGroup = typeof apiVersion === "string" && apiVersion.includes("/") ? apiVersion.split("/")[0] : undefined;
  return defined({ apiGroup, kind, name });
}

function versionedReference(value: unknown, { namespace }: Context): unknown {
  if (!isJson(value)) return value;
  const { apiGroup, kind, name } = value;
  const version = Object.hasOwn(versions, String(kind)) ? versions[String(kind)] : "v1beta1";
  const apiVersion = typeof apiGroup === "string" ? `${apiGroup}/${version}` : undefined;
  return defined({ apiVersion, kind, name, namespace });
}

/** A reference to a template, which keeps its version in both: {apiVersion, kind, name} in the stored one. */
export function templateReference(older: string, newer: string): Lens {
  return converted(older, newer, {
    up: (value) => {
      if (!isJson(value)) return value;
      const { apiVersion, kind, name } = value;
      return defined({ apiVersion, kind, name });
    },
    down: (value, { namespace }) => (isJson(value) ? defined({ ...value, namespace }) : value),
  });
}

function defined(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
