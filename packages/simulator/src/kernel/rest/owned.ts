import type { Caller } from "../interface.ts";

/** The row, if it is of the caller's project or the caller administers the cloud; else the service's refusal. */
export function ownedBy<T extends { readonly project_id: string }>(
  { projectId, isAdmin }: Caller,
  row: T | undefined,
  missing: () => Error,
): T {
  if (row && (row.project_id === projectId || isAdmin)) return row;
  throw missing();
}
