/** What a look for something of ours gave. Two candidates are never a reason to pick one. */
export type Found<T> =
  | { readonly kind: "none" }
  | { readonly kind: "one"; readonly resource: T }
  | { readonly kind: "several"; readonly ids: readonly string[] };

interface Named {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly project_id?: string;
}

/** What a resource of ours looks like. `recordedId` settles which of several it is. */
export interface Mark {
  readonly name: string;
  readonly description: string;
  readonly projectId: string;
  readonly recordedId?: string | undefined;
}

/**
 * Finds the resource that bears our name and our description in our project. One with the same name but another
 * description is somebody else's, and is left alone.
 */
export function findOwned<T extends Named>(resources: readonly T[], mark: Mark): Found<T> {
  const ours = resources.filter((r) => isOwned(r, mark));
  const recorded = ours.find((r) => r.id === mark.recordedId);
  return chosen(recorded ? [recorded] : ours);
}

export function isOwned(resource: Named, mark: Mark): boolean {
  return (
    resource.name === mark.name &&
    resource.description === mark.description &&
    (resource.project_id === undefined || resource.project_id === mark.projectId)
  );
}

export function chosen<T extends { readonly id: string }>(candidates: readonly T[]): Found<T> {
  const [first, ...others] = candidates;
  if (!first) return { kind: "none" };
  if (others.length === 0) return { kind: "one", resource: first };
  return { kind: "several", ids: candidates.map((c) => c.id).sort() };
}

/** The tags to set so that all of `wanted` are there, or undefined when they are. Tags of others stay. */
export function tagsToSet(present: readonly string[], wanted: readonly string[]): string[] | undefined {
  if (wanted.every((tag) => present.includes(tag))) return undefined;
  return [...new Set([...present, ...wanted])];
}
