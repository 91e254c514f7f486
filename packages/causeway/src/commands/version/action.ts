import { RUN_KUBERNETES, SERVED_KUBERNETES } from "@causeway/api";
import { ownCommit, ownVersion } from "../../release.ts";
import type { VersionOptions } from "./command.ts";
import { documentOf } from "../../terminal/documents.ts";

/** Writes what this program is, and the versions that it supports. */
export function version({ output }: VersionOptions): void {
  const facts = {
    version: ownVersion(),
    commit: ownCommit(),
    node: process.versions.node,
    platform: `${process.platform}/${process.arch}`,
    kubernetes: SERVED_KUBERNETES,
    kubernetesPrograms: RUN_KUBERNETES,
  };
  const document = documentOf(facts, output);
  process.stdout.write(
    document ??
      `causeway ${facts.version}
  commit      ${facts.commit}
  node        ${facts.node} on ${facts.platform}
  kubernetes  hosted control planes: ${listed(SERVED_KUBERNETES)}; by Kubernetes' own programs: ${listed(RUN_KUBERNETES)}
`,
  );
}

function listed(minors: readonly string[]): string {
  return minors.map((minor) => `${minor}.x`).join(", ");
}
