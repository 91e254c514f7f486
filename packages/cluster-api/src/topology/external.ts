import type { ClusterClass } from "@causeway/api";
import { messageOf, type Clock } from "@causeway/foundation";
import {
  againAfterFailure,
  allCallsWithin,
  NamedCallFailed,
  type ClassHook,
  type NamedCalls,
} from "../runtime/named-calls.ts";
import { classVariables } from "../variables/class-variables.ts";
import { VariableEvaluation } from "../variables/evaluation.ts";
import { desiredState, type Desired, type DesiredInput } from "./desired.ts";
import { readGenerated, type GeneratedPatch } from "./generated.ts";
import { TopologyProblem } from "./problem.ts";
import type { SkippedPatches } from "./skipped-patches.ts";

/** Milliseconds that the response to the same templates and variables is used again. */
const keep = 5 * 60_000;

/** Milliseconds after which extensions are called again although nothing has changed here. */
export const externalAgain = 10 * 60_000;

/**
 * The objects of a topology, with the patches of extensions among those of its class. Each extension is shown the
 * templates as the patches before its own leave them; in the end those that validate see all of them.
 *
 * @throws TopologyProblem
 */
export async function desiredWithExtensions(
  { calls, skipped, clock }: ExtensionContext,
  given: Omit<DesiredInput, "generated" | "patches">,
  signal: AbortSignal,
): Promise<Desired> {
  const deadline = clock.now() + allCallsWithin;
  const variables = given.variables ?? new VariableEvaluation(classVariables(given.blueprint.class));
  const input = { ...given, variables };
  const patches = input.blueprint.class.spec.patches ?? [];
  const generated = new Map<string, readonly GeneratedPatch[]>();
  const send = async (hook: ClassHook, handler: string, { patch, of }: Subject) => {
    const items = of.patcher.items.map((item) => ({
      // What is validated needs no identity.
      ...(hook === "GeneratePatches" ? { uid: item.uid } : {}),
      holderReference: item.holderReference,
      object: item.object,
      variables: of.patcher.variablesFor(patch.name, item),
    }));
    return calls.call(
      {
        hook,
        handler,
        namespace: input.cluster.metadata.namespace ?? "",
        settings: patch.external?.settings,
        fields: { variables: of.patcher.variablesFor(patch.name), items },
        keep,
        deadline,
      },
      signal,
    );
  };
  for (const [at, patch] of patches.entries()) {
    const handler = patch.external?.generatePatchesExtension;
    if (!handler) continue;
    const before = desiredState({ ...input, generated, patches: at });
    await judged(`failed to generate patches for patch ${JSON.stringify(patch.name)}`, signal, async () => {
      const response = await send("GeneratePatches", handler, { patch, of: before });
      if (response) skipped.forget(input.cluster, patch.name);
      else if (skipped.maySkip(input.cluster, patch.name)) {
        generated.set(patch.name, []);
        return;
      } else throw new Error(notIgnored(handler));
      const uids = before.patcher.items.map(({ uid }) => uid);
      generated.set(
        patch.name,
        named(handler, () => readGenerated(response, uids)),
      );
    });
  }
  const desired = desiredState({ ...input, generated });
  for (const patch of patches) {
    const handler = patch.external?.validateTopologyExtension;
    if (!handler) continue;
    await judged(`validation of patch ${JSON.stringify(patch.name)} failed`, signal, () =>
      send("ValidateTopology", handler, { patch, of: desired }),
    );
  }
  return desired;
}

/** How extensions are called, and what is known from before. */
interface ExtensionContext {
  readonly calls: NamedCalls;
  readonly skipped: SkippedPatches;
  readonly clock: Clock;
}

/** What a call is about: a patch, and the templates that the handler is to be shown. */
interface Subject {
  readonly patch: NonNullable<DesiredInput["blueprint"]["class"]["spec"]["patches"]>[number];
  readonly of: Desired;
}

async function judged(what: string, signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    signal.throwIfAborted();
    const isCall = error instanceof NamedCallFailed;
    throw new TopologyProblem(`${what}: ${messageOf(error)}`, {
      again: isCall ? error.again : againAfterFailure,
      isWait: isCall && error.why === "busy",
    });
  }
}

function notIgnored(handler: string): string {
  return (
    `extension handler ${JSON.stringify(handler)} cannot be reached. Its failurePolicy is Ignore, but without its ` +
    "patches the machines of this Cluster could be replaced: nothing of the Cluster is changed until it responds"
  );
}

/** A response that cannot be used is the extension's fault: its name goes into the message. */
function named<T>(handler: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`extension handler ${JSON.stringify(handler)}: ${messageOf(error)}`, { cause: error });
  }
}

/** Whether a class names handlers of an extension, whose config has this name. */
export function namesExtension({ spec }: Pick<ClusterClass, "spec">, config: string): boolean {
  return (spec.patches ?? []).some(({ external }) =>
    [
      external?.discoverVariablesExtension,
      external?.generatePatchesExtension,
      external?.validateTopologyExtension,
    ].some((handler) => handler?.endsWith(`.${config}`)),
  );
}
