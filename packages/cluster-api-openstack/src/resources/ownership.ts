/** The result of a search for a resource of ours. Two candidates are never a reason to pick one. */
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

/** How a resource of ours is identified. `recordedId` selects one of several. */
export interface Mark {
  readonly name: string;
  readonly description: string;
  readonly projectId: string;
  readonly recordedId?: string | undefined;
}

/**
 * Finds the resource with our name and our description in our project. One with the same name but another
 * description belongs to another owner and is not touched.
 */
export function findOwned<T extends Named>(resources: readonly T[], mark: Mark): Found<T> {
  const ours = resources.filter((r) => isOwned(r, mark));
  const recorded = ours.find((r) => r.id === mark.recordedId);
  return chosen(recorded ? [recorded] : ours);
}

/**
 * Whether name, description and project are those of the mark. A resource that has no project_id counts as the
 * project's.
 */
export function isOwned(resource: Named, mark: Mark): boolean {
  return resource.name === mark.name && isOwnedAddress(resource, mark);
}

/** The same of a floating IP, which has no name. */
export function isOwnedAddress(ip: Omit<Named, "name">, { description, projectId }: Omit<Mark, "name">): boolean {
  return ip.description === description && (ip.project_id === undefined || ip.project_id === projectId);
}

/** The result of a search for exactly one; the IDs of several are sorted, so that messages are stable. */
export function chosen<T extends { readonly id: string }>(candidates: readonly T[]): Found<T> {
  const [first, ...others] = candidates;
  if (!first) return { kind: "none" };
  if (others.length === 0) return { kind: "one", resource: first };
  return { kind: "several", ids: candidates.map((c) => c.id).sort() };
}

/** The tags to set so that all of `wanted` are present, or undefined when they are. Other tags remain. */
export function tagsToSet(present: readonly string[], wanted: readonly string[]): string[] | undefined {
  if (wanted.every((tag) => present.includes(tag))) return undefined;
  return [...new Set([...present, ...wanted])];
}

/**
 * Tags, or IDs of groups, after a change of what is wanted: `before` names those that were wanted earlier, which go;
 * those that others have set remain. Undefined: nothing changes.
 */
export function tagsAfter(
  present: readonly string[],
  { wanted, before }: { readonly wanted: readonly string[]; readonly before: readonly string[] },
): string[] | undefined {
  const kept = present.filter((each) => wanted.includes(each) || !before.includes(each));
  const next = [...new Set([...kept, ...wanted])];
  return next.length === present.length && wanted.every((each) => present.includes(each)) ? undefined : next;
}
