import { shortList } from "@causeway/foundation";
import { records, timestamp, type Json } from "../json/json.ts";

/** What a namespace that is being deleted still has. */
export interface NamespaceRemains {
  /** Objects by resource and group ("pods.", "deployments.apps"). */
  readonly objects: ReadonlyMap<string, number>;
  /** Objects by the finalizer that holds them. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** Why objects could not be deleted. */
  readonly failures: readonly string[];
}

/** Kinds and finalizers named in a message, at most. */
const NAMED = 50;

/**
 * The conditions of a namespace that is being deleted, with the types, reasons and messages of kube-controller-manager.
 * In addition to it, pods that remain are reported, too: they are deleted before all else. Undefined: `before` has
 * them.
 */
export function terminatingConditions(before: unknown, remaining: NamespaceRemains, now: number): Json[] | undefined {
  const old = records(before);
  const { objects, finalizers, failures } = remaining;
  const wanted = [
    fine("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    fine(
      "NamespaceDeletionGroupVersionParsingFailure",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    failures.length > 0
      ? problem("NamespaceDeletionContentFailure", "ContentDeletionFailed", {
          text: `Failed to delete all resource types, ${failures.length} remaining: `,
          list: failures,
        })
      : fine(
          "NamespaceDeletionContentFailure",
          "ContentDeleted",
          "All content successfully deleted, may be waiting on finalization",
        ),
    objects.size > 0
      ? problem("NamespaceContentRemaining", "SomeResourcesRemain", {
          text: "Some resources are remaining: ",
          list: [...objects].map(([resource, count]) => `${resource} has ${count} resource instances`),
        })
      : fine("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed"),
    finalizers.size > 0
      ? problem("NamespaceFinalizersRemaining", "SomeFinalizersRemain", {
          text: "Some content in the namespace has finalizers remaining: ",
          list: [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`),
        })
      : fine("NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
  ];
  let isChanged = false;
  const made = wanted.map((condition): Json => {
    const found = old.find(({ type }) => type === condition["type"]);
    const isSame = ["status", "reason", "message"].every((field) => found?.[field] === condition[field]);
    if (found && isSame) return found;
    isChanged = true;
    const since = found?.["status"] === condition["status"] ? found?.["lastTransitionTime"] : undefined;
    return { ...condition, lastTransitionTime: since ?? timestamp(now) };
  });
  if (!isChanged) return undefined;
  const types = new Set(made.map(({ type }) => type));
  return [...old.filter(({ type }) => !types.has(type)), ...made];
}

function fine(type: string, reason: string, message: string): Json {
  return { type, status: "False", reason, message };
}

function problem(type: string, reason: string, { text, list }: { text: string; list: readonly string[] }): Json {
  return { type, status: "True", reason, message: `${text}${shortList(list.toSorted(), NAMED)}` };
}
