import { canonicalJson } from "@causeway/foundation";
import {
  ControllerRevision,
  isAlreadyExists,
  isControlledBy,
  keyOf,
  ownerReference,
  type KubeObject,
  type ObjectMeta,
  type PodTemplateSpec,
  type ResourceType,
} from "@causeway/kubernetes";
import type { Context } from "../context.ts";
import { targetOf, type Target } from "./claim.ts";
import type { Deletions } from "./deletions.ts";
import { equalTemplates } from "./pod-template.ts";
import { fieldManager, performClaim } from "./pipeline.ts";

/** The history of a StatefulSet's or DaemonSet's template, as `kubectl rollout history` and `undo` read it. */

/** What plan decides about the ControllerRevisions of one owner. */
export type RevisionStep =
  | { readonly type: "create-revision"; readonly revision: ControllerRevision }
  /** An older revision with the present template becomes the latest again. */
  | { readonly type: "renumber-revision"; readonly target: Target; readonly revision: number }
  | { readonly type: "adopt-revision"; readonly target: Target }
  | { readonly type: "delete-revision"; readonly target: Target };

/** Whether performRevision does the step. */
export function isRevisionStep(step: { readonly type: string }): step is RevisionStep {
  return step.type.endsWith("-revision");
}

interface Replacement {
  readonly spec?: { readonly template?: PodTemplateSpec & { readonly $patch?: string } };
}

/** The template that a revision holds as a strategic merge patch. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec | undefined {
  const template = (data as Replacement | undefined)?.spec?.template;
  if (!template) return undefined;
  const { $patch: _patch, ...rest } = template;
  return rest;
}

/** A version of a template: `hashLabel` is the label that holds the hash. */
export interface NewRevision {
  readonly template: PodTemplateSpec;
  readonly number: number;
  readonly hash: string;
  readonly hashLabel: string;
}

/** The revision of the template, named after owner and hash, with the template's labels and the owner's annotations. */
export function newRevision(owner: KubeObject, { template, number, hash, hashLabel }: NewRevision): ControllerRevision {
  const { name, namespace, annotations } = owner.metadata;
  const metadata: ObjectMeta = {
    name: `${name}-${hash}`,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { ...template.metadata?.labels, [hashLabel]: hash },
    ...(annotations ? { annotations } : {}),
    ownerReferences: [ownerReference(owner, { controller: true })],
  };
  // kubectl compares the text of the patch: its fields are in the order of their names.
  const data: unknown = JSON.parse(canonicalJson({ spec: { template: { ...template, $patch: "replace" } } }));
  return { apiVersion: "apps/v1", kind: "ControllerRevision", metadata, revision: number, data };
}

/** The oldest first. */
export function byRevision(a: ControllerRevision, b: ControllerRevision): number {
  return a.revision - b.revision || (a.metadata.name < b.metadata.name ? -1 : 1);
}

/** The latest revision with the template. */
export function findRevision(
  revisions: readonly ControllerRevision[],
  template: PodTemplateSpec,
): ControllerRevision | undefined {
  return revisions.findLast((revision) => {
    const held = templateOf(revision);
    return held !== undefined && equalTemplates(held, template);
  });
}

/** Deletes the oldest revisions beyond the limit; those in use are neither counted nor deleted. */
export function outdatedRevisions(
  revisions: readonly ControllerRevision[],
  inUse: ReadonlySet<string>,
  limit: number,
): RevisionStep[] {
  const unused = revisions.filter(({ metadata }) => !inUse.has(metadata.name));
  const excess = Math.max(0, unused.length - limit);
  return unused.slice(0, excess).map((revision) => ({ type: "delete-revision", target: targetOf(revision) }));
}

/** Does one step. A revision of the same name counts as created if it is the owner's and has the same template. */
export async function performRevision<O extends KubeObject>(
  about: {
    readonly context: Context;
    readonly deletions: Deletions;
    readonly ownerType: ResourceType<O>;
    readonly owner: O;
  },
  step: RevisionStep,
  signal: AbortSignal,
): Promise<void> {
  const { context, deletions, ownerType, owner } = about;
  const { client } = context.informers;
  const options = { fieldManager, signal };
  switch (step.type) {
    case "create-revision":
      return create(context, owner, step.revision, signal);
    case "renumber-revision": {
      const body = { metadata: { uid: step.target.uid }, revision: step.revision };
      await client.patch(ControllerRevision, step.target, { type: "merge", body }, options);
      return;
    }
    case "adopt-revision":
      return performClaim(
        context,
        { ownerType, owner, type: ControllerRevision },
        { type: "adopt", target: step.target },
        signal,
      );
    case "delete-revision":
      return deletions.perform(ControllerRevision, step.target, signal);
  }
}

/**
 * The name follows from the template: an earlier attempt whose answer was lost made the same. Another one of that name
 * is a hash collision.
 */
async function create(
  { informers }: Context,
  owner: KubeObject,
  revision: ControllerRevision,
  signal: AbortSignal,
): Promise<void> {
  const { client } = informers;
  try {
    await client.create(ControllerRevision, revision, { fieldManager, signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await client.get(ControllerRevision, keyOf(revision), { signal });
    const [held, wanted] = [templateOf(found), templateOf(revision)];
    if (!isControlledBy(found, owner) || !held || !wanted || !equalTemplates(held, wanted)) throw error;
    informers.for(ControllerRevision).observe(found);
  }
}
