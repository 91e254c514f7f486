import type { ClusterClass } from "@causeway/api";
import type { ObjectKey } from "@causeway/kubernetes";
import type { Referred } from "../contract/kind-table.ts";
import type { ProviderObject } from "../contract/provider-object.ts";
import { lookUp, type Context } from "../objects/context.ts";
import { referencesOf, type TemplateReference } from "../topology/blueprint.ts";
import { discoverVariables, type DiscoveredVariables } from "./discover.ts";
import { isPausedClass } from "./paused.ts";
import { classProblems } from "./problems.ts";

/** All that the planner of ClusterClasses reads. */
export interface Observed {
  readonly clusterClass: ClusterClass;
  /** Each template that it refers to, and where. */
  readonly templates: readonly {
    readonly path: string;
    readonly reference: TemplateReference;
    readonly found: Referred<ProviderObject>;
  }[];
  /** By patch, in their order. */
  readonly discovered: readonly DiscoveredVariables[];
}

/** Undefined: the class is gone. */
export async function gather(context: Context, key: ObjectKey, signal: AbortSignal): Promise<Observed | undefined> {
  const clusterClass = context.classes.get(key);
  if (!clusterClass) return undefined;
  const templates = referencesOf(clusterClass).map(({ path, reference }) => {
    const { apiVersion, kind, name } = reference;
    const apiGroup = apiVersion.split("/")[0] ?? "";
    return { path, reference, found: lookUp(context, key.namespace, { apiGroup, kind, name }) };
  });
  return { clusterClass, templates, discovered: await discoveredOf(context, clusterClass, signal) };
}

/** No extension is called for an invalid or paused class. */
async function discoveredOf(
  { named, clock }: Context,
  clusterClass: ClusterClass,
  signal: AbortSignal,
): Promise<DiscoveredVariables[]> {
  if (isPausedClass(clusterClass) || classProblems(clusterClass).length > 0) return [];
  return discoverVariables({ calls: named, clock }, clusterClass, signal);
}
