import type { Kernel } from "../interface.ts";

/** A project's limit of a resource, if `more` would pass it; undefined if there is room. */
export function exceededLimit(
  kernel: Pick<Kernel, "quota">,
  projectId: string,
  { resource, used, more = 1 }: QuotaNeed,
): number | undefined {
  const limit = kernel.quota(projectId, resource);
  return limit >= 0 && more > 0 && used + more > limit ? limit : undefined;
}

/** How much of a resource a request needs. */
export interface QuotaNeed {
  readonly resource: string;
  readonly used: number;
  readonly more?: number;
}
