import type { ConfigMap } from "@causeway/kubernetes";
import type { Component } from "../model/component.ts";
import { metadataOf, objectName, type Context, type Rendered } from "./context.ts";
import type { Parts } from "./types.ts";

/** The name of the ConfigMap with the databases of OVN that members have reported. */
export const knownDatabasesName = (deployment: string): string => objectName(deployment, "ovn-known");

/** It changes in place, and no pod starts again for it: only one that has lost its disk reads it. */
export function knownDatabases(context: Context): Rendered<ConfigMap>[] {
  const { knownDatabases: data, deployment } = context;
  if (data === undefined) return [];
  const metadata = metadataOf(context, knownDatabasesName(deployment.metadata.name));
  return [{ object: { apiVersion: "v1", kind: "ConfigMap", metadata, data: { ...data } } }];
}

/** Where a member reads it. A first installation has none. */
export function knownDatabaseParts({ deployment }: Context, { prepares }: Component): Parts {
  if (!prepares) return { volumes: [], mounts: [] };
  const configMap = { name: knownDatabasesName(deployment.metadata.name), optional: true, defaultMode: 0o444 };
  return {
    volumes: [{ name: "known", configMap }],
    mounts: [{ name: "known", mountPath: "/etc/ovn-known", readOnly: true }],
  };
}
