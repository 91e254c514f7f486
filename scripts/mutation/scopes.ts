import { globSync } from "node:fs";
import { dirname, relative } from "node:path";

/** Source files that are changed, and the test files that must notice. */
export interface Scope {
  readonly name: string;
  /** Scopes of one group are loaded by one process, and covered by one pass over the tests. */
  readonly group: string;
  readonly files: readonly string[];
  readonly tests: readonly string[];
  /** Test files whose tests do not depend on each other: only those that reach a mutant are run. */
  readonly independent: readonly string[];
  /** Which part of the mutants must be killed or explained. */
  readonly goal: number;
}

const CONTRACT = "test/contracts/kubernetes/causeway.test.ts";
/** Rules of a folder that others import too. */
const CONTRACTS: Readonly<Record<string, readonly string[]>> = {
  auth: ["attribute-selectors", "attributes", "user"].map((name) => `packages/apiserver/src/contract/${name}.ts`),
};
/** They start processes or take long, and reach nothing that others do not. */
const LEFT_OUT = /\/(kubectl|soak|snapshot|scenario|memory)[^/]*\.test\.ts$/;

export function allScopes(root: string): readonly Scope[] {
  const found = (pattern: string): string[] =>
    globSync(pattern, { cwd: root })
      .map((path) => relative(".", path))
      .filter((path) => !path.includes("node_modules"))
      .sort();
  const sources = (pattern: string): string[] => found(pattern).filter((path) => !path.endsWith(".test.ts"));
  /** In the folders of these files. */
  const testsOf = (files: readonly string[]): string[] =>
    [...new Set(files.map((file) => `${dirname(file)}/**/*.test.ts`))].flatMap((pattern) => found(pattern));
  const apiserver = (name: string, folder: string, goal: number): Scope => ({
    name,
    group: "apiserver",
    files: [
      ...sources(`packages/apiserver/src/${folder}/**/*.ts`),
      ...(CONTRACTS[folder] ?? []).flatMap((f) => sources(f)),
    ],
    tests: [...found(`packages/apiserver/src/{auth,admission,patch}/**/*.test.ts`), CONTRACT],
    independent: [CONTRACT],
    goal,
  });
  const planned = new Map<string, string[]>();
  for (const file of sources("packages/*/src/**/plan*.ts")) {
    if (file.includes("/testing/")) continue;
    const name = file.split("/")[1] ?? "";
    planned.set(name, [...(planned.get(name) ?? []), file]);
  }
  const plans = [...planned].map(([name, files]): Scope => ({
    name: `plans of ${name}`,
    group: name === "apiserver" ? "plans of apiserver" : name,
    files,
    // Tables of several plans may be elsewhere in the package.
    tests: [
      ...new Set([
        ...testsOf(files).filter((t) => !LEFT_OUT.test(t)),
        ...found(`packages/${name}/src/**/*plan*.test.ts`),
      ]),
    ],
    independent: [],
    goal: 0.9,
  }));
  return [
    apiserver("authentication and authorisation", "auth", 1),
    apiserver("admission", "admission", 1),
    apiserver("patches", "patch", 0.9),
    ...plans,
  ];
}
