import type { Orphan, Swept } from "@causeway/cloud-controller-manager";
import type { OutputFormat } from "../../options/output.ts";
import { exitStatus } from "../../terminal/report-error.ts";
import type { OrphanVolume } from "./volumes/plan.ts";
import type { SweptVolume } from "./volumes/sweep.ts";
import { documentOf } from "../../terminal/documents.ts";

/** What an orphan was made for: `Service default/web` or `claim default/data`. */
export const ownerOf = (orphan: Orphan | OrphanVolume): string =>
  "service" in orphan ? `Service ${orphan.service}` : `claim ${orphan.claim}`;

/** The exit status by what was swept, or would be: a failure comes before orphans that remain. */
export function sweptStatus(
  swept: readonly { readonly outcome: Swept["outcome"] }[],
  { detailedExitcode }: { readonly detailedExitcode: boolean },
): number {
  if (swept.some(({ outcome }) => outcome === "failed")) return exitStatus.failed;
  return detailedExitcode && swept.some(({ outcome }) => outcome === "found") ? exitStatus.findings : 0;
}

/** How the result is shown, and what was searched. */
export interface SweptOptions {
  readonly output: OutputFormat;
  /** --volumes */
  readonly withVolumes: boolean;
}

/** What was swept, or would be. */
export function renderSwept(swept: readonly (Swept | SweptVolume)[], { output, withVolumes }: SweptOptions): string {
  const document = documentOf(swept, output);
  if (document !== undefined) return document;
  if (swept.length === 0) {
    return withVolumes
      ? "No orphans of deleted Services, and no orphaned volumes that are older than ten minutes.\n"
      : "No orphans of deleted Services.\n";
  }
  const lines = swept.map((each) => {
    const { outcome, kind, name, kept, error } = each;
    const why = kept ?? error;
    return `${outcome.padEnd(7)}  ${kind} ${name} of ${ownerOf(each)}${why === undefined ? "" : `: ${why}`}`;
  });
  return `${lines.join("\n")}\n`;
}
