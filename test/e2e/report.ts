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
    readonly Failure?: { readonly Message?: string };
  }[];
}

/**
 * The outcomes of the specs that ran, of a report in JSON, which is removed; a suite that was ended for its time
 * leaves none. `withSkipped`: with those that began and skipped themselves.
 */
export function outcomesOf(report: string, options: { readonly withSkipped?: boolean } = {}): Outcome[] {
  if (!existsSync(report)) return [];
  const text = readFileSync(report, "utf8");
  rmSync(report);
  const [suite] = suites(text);
  return (suite?.SpecReports ?? [])
    .filter(({ LeafNodeType, State, Failure }) => {
      // Without a message: the command line left it out.
      const ran = State !== "skipped" || (options.withSkipped === true && (Failure?.Message ?? "") !== "");
      return LeafNodeType === "It" && ran;
    })
    .map(outcomeOf);
}

/** None of a report that was cut because the suite was ended while it wrote. */
function suites(text: string): readonly Report[] {
  try {
    return JSON.parse(text) as Report[];
  } catch {
    console.log("the suite's report is cut: what its log says of specs is not counted");
    return [];
  }
}

function outcomeOf(spec: Report["SpecReports"][number]): Outcome {
  const name = [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(" ");
  const seconds = Math.round(spec.RunTime / 1e9);
  return { name, state: spec.State, seconds, ...(spec.Failure ? { failure: spec.Failure.Message ?? "" } : {}) };
}
