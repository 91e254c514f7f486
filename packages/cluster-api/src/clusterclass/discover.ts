import type { ClusterClass } from "@causeway/api";
import { messageOf, type Clock } from "@causeway/foundation";
import { allCallsWithin, NamedCallFailed, type NamedCalls } from "../runtime/named-calls.ts";
import { readDiscovered } from "../variables/class-variables.ts";
import type { VariableDefinition } from "../variables/definition.ts";

/**
 * The variables that the extension of a patch has, or why they are not known. `isOld`: there is no response, but
 * nothing is known to be wrong (failurePolicy Ignore, or others are served first): these are what the status lists.
 */
export type DiscoveredVariables = { readonly patch: string; readonly handler: string } & (
  | { readonly variables: readonly VariableDefinition[]; readonly isOld?: true }
  | { readonly problem: string }
);

/** Milliseconds that a response to an equal request is used again, by other classes, too. */
const keep = 10 * 60_000;

/** Calls the extensions of a class to learn which variables their patches have. */
export async function discoverVariables(
  { calls, clock }: { readonly calls: NamedCalls; readonly clock: Clock },
  clusterClass: ClusterClass,
  signal: AbortSignal,
): Promise<DiscoveredVariables[]> {
  const { metadata, spec } = clusterClass;
  const deadline = clock.now() + allCallsWithin;
  const found: DiscoveredVariables[] = [];
  for (const { name: patch, external } of spec.patches ?? []) {
    const handler = external?.discoverVariablesExtension;
    if (!handler) continue;
    try {
      const call = {
        hook: "DiscoverVariables",
        handler,
        settings: external.settings,
        fields: {},
        keep,
        deadline,
      } as const;
      const response = await calls.call({ ...call, namespace: metadata.namespace ?? "" }, signal);
      found.push(
        response
          ? { patch, handler, variables: readDiscovered(response) }
          : { patch, handler, variables: knownVariables(clusterClass, patch), isOld: true },
      );
    } catch (error) {
      signal.throwIfAborted();
      const known = knownVariables(clusterClass, patch);
      // Where the extension serves others first, nothing is known to be wrong.
      const isWaiting = error instanceof NamedCallFailed && error.why === "busy" && known.length > 0;
      found.push(
        isWaiting ? { patch, handler, variables: known, isOld: true } : { patch, handler, problem: messageOf(error) },
      );
    }
  }
  return found;
}

/** The variables of a patch that the status lists: they remain while there is no response. */
function knownVariables({ status }: ClusterClass, patch: string): VariableDefinition[] {
  return (status?.variables ?? []).flatMap(({ name, definitions }) =>
    definitions.flatMap(({ from, ...definition }) => (from === patch ? [{ name, ...definition }] : [])),
  );
}
