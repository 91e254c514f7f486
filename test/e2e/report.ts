import { existsSync, readFileSync, rmSync } from "node:fs";

/** How one spec of the suite ended. */
export interface Outcome {
  /** The texts of its containers and its own, as `--ginkgo.focus` matches them. */
  readonly name: string;
  readonly state: string;
  readonly seconds: number;
  readonly failure?: string;
}

interface Report {
  readonly SpecReports: readonly {
    readonly ContainerHierarchyTexts: readonly string[] | null;
    readonly LeafNodeType: string;
    readonly LeafNodeText: string;
    readonly State: string;
    readonly RunTime: number;
    readonly Failure?: { readonly Message: string };
  }[];
}

/** The outcomes of the specs that ran, of a report in JSON, which is taken away; a suite that was ended for its time leaves none. */
export function outcomesOf(report: string): Outcome[] {
  if (!existsSync(report)) return [];
  const [suite] = JSON.parse(readFileSync(report, "utf8")) as Report[];
  rmSync(report);
  return (suite?.SpecReports ?? []).filter((spec) => spec.LeafNodeType === "It" && spec.State !== "skipped").map(told);
}

function told(spec: Report["SpecReports"][number]): Outcome {
  const name = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(" ");
  const seconds = Math.round(spec.RunTime / 1e9);
  return { name, state: spec.State, seconds, ...(spec.Failure ? { failure: spec.Failure.Message } : {}) };
}
