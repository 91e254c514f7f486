/** What the ServiceAccount of a chart may do, and what it may not: "verb resource[.group][/subresource]". */
export interface Rights {
  readonly account: string;
  readonly granted: readonly string[];
  readonly refused: readonly string[];
}
export interface Installed {
  /** The chart's folder. */
  readonly folder: string;
  /** Without which nothing is rendered (`--set`). */
  readonly needed: readonly string[];
  /** What an upgrade changes. */
  readonly upgrade: readonly string[];
  readonly rights: readonly Rights[];
}
export interface Stage {
  /** Program files. */
  readonly helm: string;
  readonly kubectl: string;
  readonly kubeconfig: string;
  /** A folder of the test's own. */
  readonly dir: string;
}
/** Every step's problem, in order; none when the chart works. */
export declare function installProblems(stage: Stage, chart: Installed): Promise<readonly string[]>;
/** What a server says against the plain manifests of a folder, which it validates strictly; they are removed again. */
export declare function manifestProblems(stage: Stage, texts: readonly string[]): Promise<readonly string[]>;
